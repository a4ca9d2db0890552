"""Do mixed work at a low rate for hours, on every version: no request may fail, file and process must agree, and memory must not grow.

`SOAK_MINUTES` is the time for all versions together (60 without it); the seed is printed, so that a failure can be had again.
"""

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.acceptance.traffic import Traffic
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

MINUTES = float(os.environ.get("SOAK_MINUTES", "60"))
PAUSE = 0.25
CONFIG = (
    PLAIN.replace("timeout connect", "option idle-close-on-response\n    timeout connect")
    + """\
frontend site from plain
    bind 127.0.0.1:{site}
    default_backend app

backend app from plain
    server one 127.0.0.1:{one} weight 10   # stays
    server two 127.0.0.1:{two} weight 10
"""
)


class Work:
    """Makes random changes one after the other. `came` are the added servers."""

    def __init__(self, sidecar: Quick, port: int, seed: int) -> None:
        self.sidecar, self.port, self.random = sidecar, port, random.Random(seed)
        self.came: list[str] = []
        self.number = 0

    def next(self) -> None:
        self.number += 1
        chances: list[Callable[[], httpx2.Response | None]] = [self.weigh, self.come, self.go, self.together, self.by_hand, self.read]
        answer = self.random.choice(chances)()
        assert answer is None or answer.is_success, answer.text

    def weigh(self) -> httpx2.Response:
        return self.sidecar.put_server("two", {"weight": self.random.randint(1, 200)})

    def come(self) -> httpx2.Response:
        name = f"s{self.number}"
        self.came.append(name)
        return self.sidecar.post("backends/app/servers", self.server(name), version=self.sidecar.version())

    def server(self, name: str) -> dict[str, object]:
        return {"name": name, "address": "127.0.0.1", "port": self.port, "weight": self.random.randint(1, 9)}

    def go(self) -> httpx2.Response | None:
        if not self.came:
            return None
        return self.sidecar.delete(f"backends/app/servers/{self.came.pop(0)}", version=self.sidecar.version())

    def together(self) -> httpx2.Response:
        """Commit a transaction that needs a reload."""
        transaction = self.sidecar.transaction()
        body = {"name": "app", "from": "plain", "queue_timeout": 1000 + self.number}
        assert self.sidecar.put("backends/app", body, transaction_id=transaction).status_code == 202
        assert self.sidecar.put_server("two", {"weight": self.random.randint(1, 200)}, transaction_id=transaction).status_code == 202
        return self.sidecar.commit(transaction, force_reload=self.random.random() < 0.5)

    def by_hand(self) -> None:
        """Edit the file as an operator does, in one write."""
        file, version = self.sidecar.haproxy.file, self.sidecar.version()
        new = file.with_name("by-hand")
        new.write_text(self.sidecar.text() + f"# {self.number}\n")
        new.replace(file)
        deadline = time.monotonic() + 120
        while self.sidecar.version() == version:
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def read(self) -> httpx2.Response:
        assert len(self.sidecar.get("backends/app/servers").json()) == 2 + len(self.came)
        return self.sidecar.get(f"{SERVICES}/reloads")


def resident(pid: int) -> int:
    """Return the resident memory of a process in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS")))


def agree(sidecar: Quick) -> None:
    """Wait until nothing is pending, and assert that file and process agree."""
    deadline = time.monotonic() + 120
    while True:
        plan = sidecar.post("/v3/sidecar/plan", sidecar.get("raw").text).json()
        if not plan["commands"] and not plan["reload"]:
            return
        assert time.monotonic() < deadline, plan
        time.sleep(0.2)


@pytest.mark.soak
@pytest.mark.parametrize("binary", binaries.installed(), ids=lambda binary: ".".join(map(str, binaries.version(binary))))
def test_nothing_fails_and_nothing_grows(tmp_path: Path, binary: str) -> None:
    seed, seconds = int(time.time()), MINUTES * 60 / len(binaries.installed())
    print(f"seed {seed}")
    with Web("one", "two") as web:
        config = CONFIG.format(site=(site := free_port()), **web.ports)
        with HAProxy(tmp_path, config, binary=binary) as haproxy, Quick(haproxy, delay=2000) as sidecar:
            work, end, early = Work(sidecar, web.ports["two"], seed), time.monotonic() + seconds, 0
            with Traffic(f"http://127.0.0.1:{site}", ["/"], ["one", "two"], clients=2) as traffic:
                while time.monotonic() < end:
                    work.next()
                    if not early and time.monotonic() > end - seconds / 2:
                        early = resident(sidecar.process.pid)
                    time.sleep(PAUSE)
                agree(sidecar)
            assert traffic.failures == []
            assert traffic.count
            assert "# stays" in sidecar.text()
            assert resident(sidecar.process.pid) < early * 1.2 + 8192
            print(f"{work.number} changes, {traffic.count} requests, {resident(sidecar.process.pid)} KiB")
