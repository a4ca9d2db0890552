"""Add many tenants at once (HAProxy 3.4): each a backend with two checked servers, and an entry in the map that selects the backend."""

import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from tests.acceptance.farm import Farm, farm_of
from tests.acceptance.quick import SERVICES, is_live
from tests.acceptance.traffic import Steady
from tests.haproxy.process import private_memory

LINES = """\
    use_backend %[path,field(2,/),map({maps}/tenants.map)] if {{{{ path,field(2,/),map({maps}/tenants.map) -m found }}}}
    default_backend app

defaults tenant from plain
    balance roundrobin
    default-server inter 10s

backend app from plain
    server one 127.0.0.1:{{one}}
"""
STORED = f"{SERVICES}/storage/maps/tenants.map"
ENTRIES = f"{SERVICES}/runtime/maps/tenants.map/entries"


@dataclass(frozen=True)
class Arrival:
    """The cost of added tenants: seconds of commit and map, seconds of `haproxy -c`, and KiB of HAProxy's memory per tenant."""

    seconds: float
    check: float
    memory: float
    requests: int


class Tenants:
    def __init__(self, farm: Farm, count: int) -> None:
        self.farm, self.sidecar, self.names = farm, farm.sidecar, [f"t{number}" for number in range(count)]

    def come_and_go(self, rate: int) -> Arrival:
        """Add and remove the tenants during traffic and one long request. Assert that there is no reload and no failed request."""
        haproxy, port = self.sidecar.haproxy, int(self.farm.url.rpartition(":")[2])
        worker = haproxy.worker_pid()
        with ThreadPoolExecutor(1) as beside, Steady(port, "one", rate) as traffic:
            long = beside.submit(httpx2.get, f"{self.farm.url}/slow", timeout=120)
            assert self.farm.web.held.wait(60)
            try:
                arrival = self._come(worker, traffic)
                assert {httpx2.get(f"{self.farm.url}/{name}/x", timeout=60, verify=False).text for name in self.names[::50]} == {"two"}
                self._go()
            finally:
                self.farm.web.release.set()
            assert long.result().text == "one"
        assert traffic.failures == []
        assert haproxy.worker_pid() == worker
        assert self.sidecar.get(f"{SERVICES}/reloads").json() == []
        return arrival

    def _come(self, worker: int, traffic: Steady) -> Arrival:
        transaction = self.sidecar.transaction()
        server = {"address": "127.0.0.1", "port": self.farm.web.ports["two"], "check": "enabled"}
        servers = {name: {**server, "name": name} for name in ("a", "b")}
        for name in self.names:
            body = {"name": name, "from": "tenant", "servers": servers}
            answer = self.sidecar.post("backends", body, transaction_id=transaction, full_section=True)
            assert answer.status_code == 202, answer.text
        entries = [{"key": name, "value": name} for name in self.names]
        before, asked, began = private_memory(worker), traffic.count, time.monotonic()
        answer = self.sidecar.commit(transaction)
        assert is_live(answer), self.sidecar.why(answer)
        answer = self.sidecar.put(f"{SERVICES}/runtime/maps/tenants.map", entries, force_sync=True)
        assert answer.status_code == 201, answer.text
        seconds, requests = time.monotonic() - began, traffic.count - asked
        memory = private_memory(worker) - before
        return Arrival(seconds, self._check(), memory / len(self.names), requests)

    def _check(self) -> float:
        haproxy = self.sidecar.haproxy
        began = time.monotonic()
        subprocess.run([haproxy.binary, "-c", "-q", "-f", str(haproxy.file)], check=True, cwd=haproxy.directory)
        return time.monotonic() - began

    def _go(self) -> None:
        assert self.sidecar.put(STORED, "nobody app\n", skip_reload=True).is_success
        transaction = self.sidecar.transaction()
        for name in self.names:
            assert self.sidecar.delete(f"backends/{name}", transaction_id=transaction).status_code == 202
        answer = self.sidecar.commit(transaction)
        assert is_live(answer), self.sidecar.why(answer)


@contextmanager
def tenants(directory: Path, count: int) -> Iterator[Tenants]:
    maps = directory / "maps_dir"
    maps.mkdir()
    (maps / "tenants.map").write_text("nobody app\n")
    with farm_of(Farm, directory, "3.4", LINES.format(maps=maps), "one", "two") as farm:
        yield Tenants(farm, count)
