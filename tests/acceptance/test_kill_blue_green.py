"""Shift traffic between two backends in steps, and kill the server or HAProxy's worker between and during the steps.

After each kill, and after a reload, the process must agree with the file: backends, servers, publication, shares, and drained servers.
"""

import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.farm import Farm, farm_of
from tests.acceptance.killer import Killer, wait_for_what_is_owed

SPLIT, DRAINS, OPERATIONS = "/v3/sidecar/splits/shop", "/v3/sidecar/drains", "/v3/sidecar/operations"
LINES = """\
    default_backend last

defaults base from plain
    balance roundrobin
    default-server inter 20ms rise 1 fall 1

backend blue from base
    server s 127.0.0.1:{blue} check

backend last from plain
    server s 127.0.0.1:{last}
"""
Step = Callable[[], httpx2.Response | None]
COLOURS = ("blue", "green")


class Stage(Farm):
    """Shifts the traffic again and again. An interrupted step is repeated."""

    def install(self, seed: int) -> None:
        self.random = random.Random(seed)
        directory = self.sidecar.directory
        stored = [directory / "maps_dir", directory / "dataplane/engine"]
        self.killer = Killer(self.sidecar, self.random, [self.sidecar.haproxy.file, *stored])
        self.old, self.new = COLOURS
        installed = self.sidecar.put(SPLIT, {"by": "random", "weights": {"blue": 1}}, frontend="site")
        assert self.sidecar.reloaded(installed)["status"] == "succeeded"

    def steps(self) -> list[Step]:
        shares = [lambda share=share: self.split(share) for share in (5, 50, 100)]
        return [self.add, *shares, self.drain, self.delete]

    def turn(self) -> None:
        self.old, self.new = self.new, self.old

    # Where HAProxy is killed any answer is good, and `check` finds out; no answer: there is nothing left to do.

    def add(self) -> httpx2.Response | None:
        if self.new in self.in_file():
            return None
        server = {"name": "s", "address": "127.0.0.1", "port": self.web.ports[self.new], "check": "enabled"}
        body = {"name": self.new, "from": "base", "servers": {"s": server}}
        return self.sidecar.post("backends", body, version=self.sidecar.version(), full_section=True)

    def split(self, share: int) -> httpx2.Response:
        weights = {self.old: 100 - share, self.new: share} if share < 100 else {self.new: 1}
        return self.sidecar.put(SPLIT, {"by": "random", "weights": weights})

    def drain(self) -> httpx2.Response:
        begun = self.sidecar.post(DRAINS, {"targets": [f"{self.old}/*"], "then": "maint"})
        if begun.is_success:
            self.sidecar.get(begun.headers["Location"], wait="1s")
        return begun

    def delete(self) -> httpx2.Response | None:
        return self.sidecar.delete(f"backends/{self.old}", version=self.sidecar.version()) if self.old in self.in_file() else None

    def in_file(self) -> dict[str, set[str]]:
        sections = re.split(r"^(?=\w)", self.sidecar.text(), flags=re.MULTILINE)
        backends = [each for each in sections if each.startswith("backend ")]
        return {each.split()[1]: set(re.findall(r"^\s+server (\w+)", each, re.MULTILINE)) for each in backends}

    def in_process(self) -> dict[str, set[str]]:
        """Return the name of a backend in the process, which differs for an unpublished backend."""
        rows = [line.split(",") for line in self.sidecar.haproxy.ask("show stat -1 6 -1").splitlines()[1:] if line]
        names = {row[0]: f"{row[0]} unpublished" if "UNPUB" in row[17] else row[0] for row in rows if row[1] == "BACKEND"}
        return {name: {row[1] for row in rows if row[0] == backend and row[1] != "BACKEND"} for backend, name in names.items()}

    def shares(self) -> tuple[list[str], list[str]]:
        """Return the entries of the map in the file, and in the process."""
        path = self.sidecar.get(SPLIT).json()["file"]
        lines = [line for line in Path(path).read_text().splitlines() if line and not line.startswith("#")]
        return lines, [line.partition(" ")[2] for line in self.sidecar.haproxy.ask(f"show map {path}").splitlines() if line]

    def states(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the servers that are not ready: according to overrides, and in the process."""
        kept = {each["object"]: each["value"] for each in self.sidecar.get("/v3/sidecar/overrides").json()}
        rows = [line.split() for line in self.sidecar.haproxy.ask("show servers state").splitlines()[2:] if line]
        admin = {f"backend/{row[1]}/server/{row[3]}": int(row[6]) for row in rows}
        return kept, {name: "maint" if bits & 1 else "drain" for name, bits in admin.items() if bits}

    def check(self) -> None:
        wait_for_what_is_owed(self.sidecar)
        deadline = time.monotonic() + 120
        while not (self.in_file() == self.in_process() and self.is_settled()):
            assert time.monotonic() < deadline, (self.in_file(), self.in_process(), self.shares(), self.states())
            time.sleep(0.05)

    def is_settled(self) -> bool:
        running = any(each["status"] == "running" for each in self.sidecar.get(OPERATIONS).json())
        (written, loaded), (kept, shown) = self.shares(), self.states()
        return not running and written == loaded and kept == shown


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with farm_of(Stage, tmp_path, "3.4", LINES, *COLOURS, "last") as found:
        yield found


@pytest.mark.parametrize(("kills", "seed"), [(3, 2026), *(pytest.param(250, seed, marks=pytest.mark.soak) for seed in range(4))])
@pytest.mark.timeout(7200)
def test_killed_between_and_within_the_steps(stage: Stage, kills: int, seed: int) -> None:
    stage.install(seed)
    stage.check()
    while kills:
        for step in stage.steps():
            if kills and stage.random.random() < 0.5:
                kills -= 1
                worker = stage.random.random() < 0.5
                stage.killer.kill_during(step, worker=worker)
                (stage.sidecar.haproxy if worker else stage.sidecar).start()
                stage.check()
                if stage.random.random() < 0.5:
                    stage.reload()
                    stage.check()
            with stage.killer.timed():
                answer = step()
            assert answer is None or answer.is_success, answer.text
        stage.turn()
        stage.check()
