"""Add and delete backends, and kill the server or HAProxy at any moment. The process must then have the configuration of the file."""

import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.killer import Killer, wait_for_what_is_owed
from tests.acceptance.quick import PLAIN, Quick, is_live
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, private_memory

CONFIG = PLAIN.replace("mode http", "mode http\n    balance roundrobin").format() + "backend app from plain\n    server one 127.0.0.1:1\n"
MOST = 4


class Coming:
    """Makes changes, each of which adds or deletes a backend."""

    def __init__(self, sidecar: Quick, web: Web, seed: int) -> None:
        self.sidecar, self.web, self.random = sidecar, web, random.Random(seed)
        self.killer = Killer(sidecar, self.random, [sidecar.haproxy.file])
        self.count, self.live = 0, 0

    def names(self) -> list[str]:
        return re.findall(r"^backend (n\d+)", self.sidecar.haproxy.file.read_text(), re.MULTILINE)

    def next(self) -> None:
        names = self.names()
        with self.killer.timed():
            if len(names) >= MOST or (names and self.random.random() < 0.4):
                answer = self.sidecar.delete(f"backends/{self.random.choice(names)}", version=self.sidecar.version())
            else:
                answer = self._add()
        assert answer.is_success, answer.text
        self.live += is_live(answer)

    def _add(self) -> httpx2.Response:
        self.count += 1
        server = {"name": "s", "address": "127.0.0.1", "port": self.web.ports["one"], "check": "enabled", "inter": 50, "rise": 1}
        servers = {"s": server, "t": {**server, "name": "t", "check": "disabled"}} if self.random.random() < 0.5 else {"s": server}
        body = {"name": f"n{self.count}", "from": "plain", "servers": servers}
        return self.sidecar.post("backends", body, version=self.sidecar.version(), full_section=True)

    def check(self) -> None:
        """Assert that the process has exactly the backends of the file, published and with their servers."""
        wait_for_what_is_owed(self.sidecar)
        deadline = time.monotonic() + 120
        while (found := self._running()) != (wanted := {"app": {"one"}} | {name: self._servers(name) for name in self.names()}):
            assert time.monotonic() < deadline, (found, wanted)
            time.sleep(0.05)

    def _servers(self, name: str) -> set[str]:
        section = self.sidecar.haproxy.file.read_text().partition(f"backend {name} ")[2].partition("\nbackend ")[0]
        return set(re.findall(r"^\s+server (\w)", section, re.MULTILINE))

    def _running(self) -> dict[str, set[str]]:
        rows = [line.split(",") for line in self.sidecar.haproxy.ask("show stat -1 6 -1").splitlines()[1:] if line]
        found: dict[str, set[str]] = {row[0]: set() for row in rows if row[1] == "BACKEND" and "UNPUB" not in row[17]}
        for row in rows:
            if row[1] != "BACKEND":
                found.setdefault(f"{row[0]} unpublished" if row[0] not in found else row[0], set()).add(row[1])
        return found


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Quick]:
    with HAProxy(tmp_path, CONFIG, binary=binaries.exactly("3.4")) as haproxy, Quick(haproxy) as running:
        yield running


@pytest.mark.parametrize(("kills", "seed"), [(3, 2026), *(pytest.param(250, seed, marks=pytest.mark.soak) for seed in range(4))])
@pytest.mark.timeout(3600)
def test_after_a_kill_the_process_is_what_the_file_says(sidecar: Quick, kills: int, seed: int) -> None:
    with Web("one") as web:
        coming = Coming(sidecar, web, seed)
        for _ in range(kills):
            for _ in range(2):
                coming.next()
            coming.killer.kill_during(coming.next)
            if coming.random.random() < 0.3:
                sidecar.haproxy.kill()
                sidecar.haproxy.start()
            sidecar.start()
            coming.check()
        assert coming.live > kills


@pytest.mark.parametrize(("rounds", "together"), [(6, 8), pytest.param(10_000, 1, marks=pytest.mark.soak)])
@pytest.mark.timeout(7200)
def test_nothing_grows(sidecar: Quick, rounds: int, together: int) -> None:
    """The memory of HAProxy and of the server must not grow. It varies by a megabyte, so the highest values are compared."""
    worker, former = sidecar.haproxy.worker_pid(), max(rounds // 10, 5)

    def highest(count: int) -> tuple[int, int]:
        """Return the highest memory of HAProxy and of the server in `count` rounds, in KiB."""
        seen = []
        for _ in range(count):
            come_and_go(sidecar, together)
            seen.append((private_memory(worker), private_memory(sidecar.process.pid)))
        return max(haproxy for haproxy, _ in seen), max(server for _, server in seen)

    highest(former)
    before = highest(former)
    highest(rounds - former)
    after = highest(former)
    print(f"{rounds} rounds of {together}: HAProxy {before[0]} to {after[0]} KiB, the server {before[1]} to {after[1]} KiB")
    assert sidecar.haproxy.worker_pid() == worker
    assert after[0] - before[0] < 1500
    assert after[1] - before[1] < 6000


def come_and_go(sidecar: Quick, count: int) -> None:
    """Add backends with one server each in a transaction, and delete them in another."""
    names = [f"brief{number}" for number in range(count)]
    transaction = sidecar.transaction()
    for name in names:
        body = {"name": name, "from": "plain", "servers": {"s": {"name": "s", "address": "127.0.0.1", "port": 9}}}
        assert sidecar.post("backends", body, transaction_id=transaction, full_section=True).status_code == 202
    answer = sidecar.commit(transaction)
    assert is_live(answer), sidecar.why(answer)
    transaction = sidecar.transaction()
    for name in names:
        assert sidecar.delete(f"backends/{name}", transaction_id=transaction).status_code == 202
    answer = sidecar.commit(transaction)
    assert is_live(answer), sidecar.why(answer)
