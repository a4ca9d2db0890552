"""Run a real Consul server, whose state survives a stop. Tests register services of other nodes."""

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

from demo.children import start, stop
from tests.haproxy import binaries
from tests.haproxy.process import free_port


class Agent:
    """A Consul server: `with Agent(tmp_path) as agent: agent.register("web", 8080)`. It can be stopped and started again."""

    def __init__(self, directory: Path) -> None:
        self.binary = binaries.program("consul")
        self.directory = directory / "consul"
        self.directory.mkdir()
        self.port = free_port()
        self._others = {name: free_port() for name in ("server", "serf-lan")}

    def start(self) -> Self:
        self.process = start([*self._command(), "-hcl", "performance { raft_multiplier = 1 }"], self.directory / "log")
        self.client = httpx2.Client(base_url=f"http://127.0.0.1:{self.port}/v1/", timeout=60)
        deadline = time.monotonic() + 120
        while not self._leads():
            assert self.process.poll() is None, (self.directory / "log").read_text()
            assert time.monotonic() < deadline, (self.directory / "log").read_text()
            time.sleep(0.05)
        return self

    def _command(self) -> list[str]:
        ports = [f"-{name}-port={port}" for name, port in self._others.items()]
        unused = [f"-{name}-port=-1" for name in ("dns", "grpc", "serf-wan", "https")]
        server = ["-server", "-bootstrap", "-bind=127.0.0.1", f"-data-dir={self.directory}", "-disable-host-node-id", "-node=agent"]
        return [self.binary, "agent", *server, f"-http-port={self.port}", *ports, *unused]

    def _leads(self) -> bool:
        try:
            return bool(self.client.get("status/leader").json()) and self.client.get("catalog/services").status_code == 200
        except (httpx2.TransportError, ValueError):
            return False

    def stop(self) -> None:
        """Kill the server."""
        self.client.close()
        self.process.kill()
        stop(self.process)

    def register(self, service: str, port: int, *, node: str = "web", checks: Sequence[str] = ("passing",), address: str = "") -> None:
        """Register the instance `SERVICE-NODE` on a node with the address 127.0.0.1."""
        instance = f"{service}-{node}"
        body: dict[str, Any] = {"Node": node, "Address": "127.0.0.1", "SkipNodeUpdate": False}
        body["Service"] = {"ID": instance, "Service": service, "Port": port, "Address": address}
        body["Checks"] = [{"CheckID": f"{instance}-{n}", "ServiceID": instance, "Name": "c", "Status": s} for n, s in enumerate(checks)]
        self._put("catalog/register", body)

    def deregister(self, service: str, *, node: str = "web") -> None:
        self._put("catalog/deregister", {"Node": node, "ServiceID": f"{service}-{node}"})

    def _put(self, path: str, body: Any) -> None:
        answer = self.client.put(path, json=body)
        assert answer.status_code == 200, answer.text

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
