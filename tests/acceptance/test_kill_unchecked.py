"""Make changes that HAProxy gets before the file is replaced, without a check, and kill the server or HAProxy at any moment.

Afterwards the file must be the old or the new one, and the process must have the configuration of the file.
"""

import os
import random
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.killer import Killer, wait_for_what_is_owed
from tests.acceptance.quick import PLAIN, Quick, is_live
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy

NAMES = ("one", "two", "three")
CONFIG = PLAIN.format() + "backend app from plain\n" + "".join(f"    server {name} 127.0.0.1:1 weight 1 maxconn 1\n" for name in NAMES)
Said = dict[str, dict[str, Any]]
CHECKS = re.compile(r"^dataplane_validation_duration_seconds_count\{.*\} (\S+)", re.MULTILINE)


class Changes:
    """Makes changes of one server, or of all servers in a transaction. `asked` are the values of the last change."""

    def __init__(self, sidecar: Quick, seed: int) -> None:
        self.sidecar, self.random = sidecar, random.Random(seed)
        self.killer = Killer(sidecar, self.random, [sidecar.haproxy.file])
        self.stands = self.asked = {name: {"address": "127.0.0.1", "port": 1, "weight": 1, "maxconn": 1} for name in NAMES}

    def next(self) -> None:
        with self.killer.timed():
            answer = self.make_another()
            assert answer.is_success, answer.text
        self.stands = self.asked

    def make_another(self) -> httpx2.Response:
        self._choose()
        return self._make()

    def _choose(self) -> None:
        names = NAMES if self.random.random() < 0.3 else [self.random.choice(NAMES)]
        self.asked = {name: {**said, **(self._other(said) if name in names else {})} for name, said in self.stands.items()}

    def _other(self, said: dict[str, Any]) -> dict[str, Any]:
        """Return other values of the weight and of some more members."""
        others = {
            "maxconn": said["maxconn"] % 900 + 1,
            "address": f"127.0.0.{self.random.randrange(1, 250)}",
            "port": said["port"] % 900 + 1,
        }
        some = self.random.sample(list(others.items()), self.random.randrange(3))
        state = "disabled" if said.get("maintenance") == "enabled" else "enabled"
        return {"weight": said["weight"] % 250 + 1, **dict(some), **({"maintenance": state} if self.random.random() < 0.2 else {})}

    def _make(self) -> httpx2.Response:
        changed = [name for name in NAMES if self.asked[name] != self.stands[name]]
        if len(changed) == 1:
            return self._put(changed[0], version=self.sidecar.version())
        transaction = self.sidecar.transaction()
        for name in changed:
            assert self._put(name, transaction_id=transaction).status_code == 202
        return self.sidecar.commit(transaction)

    def _put(self, name: str, **where: Any) -> httpx2.Response:
        return self.sidecar.put(f"backends/app/servers/{name}", {"name": name, **self.asked[name]}, **where)

    def kill(self) -> None:
        self.killer.kill_during(self.next)

    def kill_between(self) -> None:
        """Kill the server as soon as HAProxy has the change."""
        self._choose()
        before = self.running()
        with self._making() as making:
            while making.is_alive() and self.running() == before:
                pass
            self.sidecar.process.kill()
        self.sidecar.kill()

    def end_worker(self) -> None:
        """Kill and start HAProxy during a change, which may fail."""
        self._choose()
        with self._making():
            time.sleep(self.random.uniform(0, 0.06))
            self.sidecar.haproxy.kill()
            self.sidecar.haproxy.start()

    @contextmanager
    def _making(self) -> Iterator[threading.Thread]:
        """Make the change in a thread while the body runs. The change may fail."""

        def make() -> None:
            with suppress(httpx2.TransportError):
                self._make()

        making = threading.Thread(target=make)
        making.start()
        yield making
        making.join()

    def file(self) -> Said:
        return {name: self._said(name) for name in NAMES}

    def _said(self, name: str) -> dict[str, Any]:
        words = self.sidecar.line(f"server {name} ").split()
        address, port = words[2].split(":")
        numbers = {member: int(words[words.index(member) + 1]) for member in ("weight", "maxconn")}
        return {"address": address, "port": int(port), **numbers, "maint": "disabled" in words}

    def running(self) -> Said:
        return {name: self._shown(name) for name in NAMES}

    def _shown(self, name: str) -> dict[str, Any]:
        row = self.sidecar.server(name)
        assert row
        shown = {"address": row.address, "port": row.port, "weight": row.uweight, "maxconn": int(self.sidecar.stat(name)["slim"])}
        return {**shown, "maint": row.forced_state == "maint"}

    def _reload(self) -> None:
        """Reload HAProxy without the server."""
        haproxy = self.sidecar.haproxy
        before, deadline = haproxy.worker_pid(), time.monotonic() + 120
        os.kill(haproxy.pid, signal.SIGUSR2)
        while not self._answers_other_than(before):
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def _answers_other_than(self, pid: int) -> bool:
        with suppress(OSError):
            return self.sidecar.haproxy.worker_pid() != pid
        return False

    def check(self, *, reloaded: bool) -> None:
        """Assert that the file is completely the old or the new one. With `reloaded`, HAProxy agrees only after the next reload."""
        found = self.file()
        known = [_as_shown(self.stands), _as_shown(self.asked)]
        assert found in known
        self.stands = self.asked = [self.stands, self.asked][known.index(found)]
        if reloaded:
            self._reload()
        wait_for_what_is_owed(self.sidecar)
        assert self.running() == found


def _as_shown(state: Said) -> Said:
    """Return a state in the form in which HAProxy reports it."""
    return {name: {**_without_state(said), "maint": said.get("maintenance") == "enabled"} for name, said in state.items()}


def _without_state(said: dict[str, Any]) -> dict[str, Any]:
    return {member: value for member, value in said.items() if member != "maintenance"}


@pytest.fixture(params=[pytest.param("3.2", marks=pytest.mark.soak), "3.4"])
def changes(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Changes]:
    with HAProxy(tmp_path, CONFIG, binary=binaries.exactly(request.param)) as haproxy, Quick(haproxy) as running:
        yield Changes(running, 2026)


@pytest.mark.parametrize("rounds", [1, pytest.param(85, marks=pytest.mark.soak)])
@pytest.mark.timeout(3600)
def test_file_and_process_agree_after_a_kill(changes: Changes, rounds: int) -> None:
    changes.random.seed(rounds)
    for _ in range(rounds):
        for _ in range(2):
            changes.next()
        assert changes.file() == changes.running()
        changes.kill()
        changes.sidecar.start()
        changes.check(reloaded=False)
        changes.kill_between()
        changes.sidecar.start()
        changes.check(reloaded=False)
        changes.end_worker()
        changes.check(reloaded=True)


def checks(sidecar: Quick) -> int:
    return sum(int(float(count)) for count in CHECKS.findall(sidecar.get("/metrics").text))


def test_nothing_of_it_is_checked(changes: Changes) -> None:
    sidecar, deadline = changes.sidecar, time.monotonic() + 120
    # The first check at the start, of the unchanged file.
    while checks(sidecar) == 0:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    for _ in range(20):
        answer = changes.make_another()
        assert is_live(answer), sidecar.why(answer)
        changes.stands = changes.asked
    assert changes.file() == changes.running()
    assert checks(sidecar) == 1
