"""Kill the server while it applies text, a map and a certificate together, and send the call again.

After the restart all three must be old, or all must be new, with the same owner. The answer to the repeated call must be right.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.killer import Killer, wait_for_what_is_owed
from tests.acceptance.quick import PLAIN, Quick
from tests.databases import former_contents
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.tls.pems import made

# What is declared, and what a batch changes: a declaration takes that for the change of others.
DECLARED, BATCHED = "one", "two"
BOTH = (DECLARED, BATCHED)
CONFIG = (
    PLAIN
    + """\
frontend web from plain
    bind 127.0.0.1:{port} ssl crt {directory}/ssl_certs_dir/one.pem crt {directory}/ssl_certs_dir/two.pem
    http-request set-var(txn.a) path,map({directory}/maps_dir/one.map)
    http-request set-var(txn.b) path,map({directory}/maps_dir/two.map)
    default_backend app

backend app from plain
    server one 127.0.0.1:1 weight 1
    server two 127.0.0.1:2 weight 1
"""
)
SERIALS = (17, 18)
PEMS = {name: {serial: made(f"{name}.example", serial).pem for serial in SERIALS} for name in BOTH}
SERIAL = re.compile(r"^Serial: (\w+)$", re.MULTILINE)
STORAGE, SERVERS = "/v3/services/haproxy/storage", "/v3/services/haproxy/configuration/backends/app/servers"
MADE = re.compile(r"made entry (\d+) of /v3/sidecar/history")
MAY_BE = "may or may not have been made"
Call = Callable[[], httpx2.Response]


@dataclass(frozen=True)
class State:
    """A state of text, map and certificate. `more` is whether there is another backend, which needs a reload."""

    weight: int = 1
    key: str = "k0"
    serial: int = SERIALS[0]
    more: bool = False


class Changes:
    """One after the other; `stands` is what was seen last, `asked` what the one under way wants, by what it changes."""

    def __init__(self, sidecar: Quick, seed: int) -> None:
        self.sidecar, self.random, self.number = sidecar, random.Random(seed), 0
        self.maps, self.certificates = (sidecar.directory / name for name in ("maps_dir", "ssl_certs_dir"))
        self.stands: Mapping[str, State] = {name: State() for name in BOTH}
        self.asked = self.stands
        files = [each / f"{name}.{kind}" for each, kind in ((self.maps, "map"), (self.certificates, "pem")) for name in BOTH]
        self.killer, self.found, self.said = Killer(sidecar, self.random, [sidecar.haproxy.file, *files]), set[bool](), set[str]()

    def next(self) -> tuple[Call, bool]:
        """The call of another state, and whether it is a batch with a key."""
        self.number += 1
        is_batch = self.random.random() < 0.4
        name = BATCHED if is_batch else DECLARED
        now = self.stands[name]
        wanted = replace(now, weight=now.weight % 250 + 1, key=f"k{self.number}", serial=self.random.choice(SERIALS))
        if not is_batch:
            wanted = replace(wanted, more=self.random.random() < 0.2)
        self.asked = {**self.stands, name: wanted}
        return (self.batch() if is_batch else self.apply()), is_batch

    def apply(self) -> Call:
        asked = self.asked[DECLARED]
        server = {"name": DECLARED, "address": "127.0.0.1", "port": 1, "weight": asked.weight}
        backends: list[dict[str, Any]] = [{"name": "app", "from": "plain", "servers": {DECLARED: server}}]
        backends += [{"name": "more", "from": "plain", "balance": {"algorithm": "source"}}] if asked.more else []
        declared = {
            "backends": backends,
            "maps": [{"name": f"{DECLARED}.map", "entries": [{"key": asked.key, "value": "x"}]}],
            "certificates": [{"name": f"{DECLARED}.pem", "content": PEMS[DECLARED][asked.serial]}],
        }
        return lambda: self.sidecar.put("/v3/sidecar/apply", declared, owner="a")

    def batch(self) -> Call:
        asked, text, key = self.asked[BATCHED], "text/plain", f"batch {self.number}"
        server = {"name": BATCHED, "address": "127.0.0.1", "port": 2, "weight": asked.weight}
        calls = [
            {"method": "PUT", "path": f"{SERVERS}/{BATCHED}", "body": server},
            {"method": "PUT", "path": f"{STORAGE}/maps/{BATCHED}.map", "content_type": text, "body": f"{asked.key} x\n"},
            {
                "method": "PUT",
                "path": f"{STORAGE}/ssl_certificates/{BATCHED}.pem",
                "content_type": text,
                "body": PEMS[BATCHED][asked.serial],
            },
        ]
        url = "http://127.0.0.1:{}/v3/sidecar/batch"
        return lambda: self.sidecar.client.post(url.format(self.sidecar.port), json=calls, headers={"Idempotency-Key": key})

    def seen(self) -> Mapping[str, State]:
        """What the files say."""
        return {name: self._seen(name) for name in BOTH}

    def _seen(self, name: str) -> State:
        text = self.sidecar.haproxy.file.read_text()
        weight = re.search(rf"server {name} .*weight (\d+)", text)
        pem = (self.certificates / f"{name}.pem").read_text()
        serial = next(each for each in SERIALS if PEMS[name][each] == pem)
        assert weight
        return State(
            int(weight[1]), (self.maps / f"{name}.map").read_text().split()[0], serial, name == DECLARED and "\nbackend more" in text
        )

    def in_process(self, name: str) -> State:
        server = self.sidecar.server(name)
        shown = self.sidecar.haproxy.ask(f"show map {self.maps}/{name}.map").split()
        serial = SERIAL.search(self.sidecar.haproxy.ask(f"show ssl cert {self.certificates}/{name}.pem"))
        assert server and serial
        backends = self.sidecar.haproxy.ask("show backend").split()
        return State(server.uweight, shown[1], int(serial[1], 16), name == DECLARED and "more" in backends)

    def carry_out(self) -> None:
        send, _ = self.next()
        with self.killer.timed():
            answer = send()
        self.came(answer)

    def came(self, answer: httpx2.Response) -> None:
        assert answer.is_success, answer.text
        if reload_id := answer.headers.get("Reload-Id"):
            assert self.sidecar.outcome(reload_id)["status"] == "succeeded"
        self.stands = self.asked
        assert self.seen() == self.stands

    def kill(self) -> None:
        send, is_batch = self.next()
        self.killer.kill_during(send)
        self.sidecar.start()
        wait_for_what_is_owed(self.sidecar)
        found = self.seen()
        assert found in (self.stands, self.asked), (found, self.stands, self.asked)
        assert {name: self.in_process(name) for name in BOTH} == found
        self.nothing_is_left_over()
        is_new, self.stands = found == self.asked, found
        self.found.add(is_new)
        (self.again_with_a_key if is_batch else self.again)(send, is_new=is_new)

    def again(self, send: Call, *, is_new: bool) -> None:
        """Send the call again. Without an idempotency key it is a new call; the changes of the killed call belong to the owner."""
        answer = send()
        changes = [answer.json().get(each) for each in ("created", "changed", "deleted")]
        assert (changes == [[], [], []]) == is_new, (answer.text, is_new)
        self.came(answer)

    def again_with_a_key(self, send: Call, *, is_new: bool) -> None:
        answer = send()
        if answer.is_success:
            # The answer was stored, or the call had not begun.
            assert ("Idempotent-Replayed" in answer.headers) == is_new, (answer.headers, is_new)
            return self.came(answer)
        assert answer.status_code == 409, answer.text
        if made := MADE.search(answer.text):
            entry = self.sidecar.get(f"/v3/sidecar/history/{made[1]}").json()
            assert is_new and f"map/{BATCHED}.map" in str(entry), (answer.text, entry)
        else:
            assert MAY_BE in answer.text, answer.text
        self.said.add("made" if made else "perhaps")
        assert self.seen() == self.stands
        return None

    def nothing_is_left_over(self) -> None:
        state = self.sidecar.directory / "dataplane" / "engine"
        assert former_contents(state / "state") == 0 and [*state.glob("journals/*/*"), *state.glob("*.manifest")] == []
        there = [path.name for each in (self.maps, self.certificates) for path in each.iterdir()]
        assert sorted(there) == ["one.map", "one.pem", "two.map", "two.pem"]


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Quick]:
    for directory, kind in (("maps_dir", "map"), ("ssl_certs_dir", "pem")):
        (tmp_path / directory).mkdir()
        for name in BOTH:
            (tmp_path / directory / f"{name}.{kind}").write_text("k0 x\n" if kind == "map" else PEMS[name][SERIALS[0]])
    config = CONFIG.format(port=free_port(), directory=tmp_path)
    with HAProxy(tmp_path, config, binary=binaries.exactly("3.4")) as haproxy, Quick(haproxy) as running:
        yield running


@pytest.mark.parametrize(
    ("changes", "kills", "seed"), [(6, 3, 2026), *(pytest.param(400, 200, seed, marks=pytest.mark.soak) for seed in range(3))]
)
def test_all_or_nothing_and_a_right_answer_the_second_time(sidecar: Quick, changes: int, kills: int, seed: int) -> None:
    run = Changes(sidecar, seed)
    run.came(run.apply()())
    fatal = set(run.random.sample(range(changes), kills))
    for number in range(changes):
        (run.kill if number in fatal else run.carry_out)()
    if kills >= 100:
        assert (run.found, run.said) == ({False, True}, {"made", "perhaps"}), "some kills come too early, some too late"
