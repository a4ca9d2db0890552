"""Run the server as its users do, as a command, for a real HAProxy, on a port of 127.0.0.1, and call it with a small client.

`with HAProxy(tmp_path, CONFIG) as haproxy, Sidecar(haproxy) as sidecar: sidecar.get("backends")`.
"""

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2
from ruamel.yaml import YAML

from demo.children import start, stop
from tests.haproxy.forked import Forked
from tests.haproxy.process import HAProxy, free_port

COMMAND = Path(sys.executable).with_name("dataplaneapi")
CONFIGURATION = "/v3/services/haproxy/configuration"
USER = ("admin", "adminpwd")


class Sidecar:
    """The server and its client. `dataplaneapi`, `settings` (in the section `haproxy`) and `reload` are added to a minimal settings file.

    The paths of calls are relative to `/v3/services/haproxy/configuration/`, or absolute if they begin with `/`.
    """

    def __init__(
        self,
        haproxy: HAProxy,
        *,
        dataplaneapi: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        reload: Mapping[str, Any] | None = None,
        arguments: tuple[str, ...] = (),
    ) -> None:
        self.haproxy = haproxy
        self.directory = haproxy.directory
        self.port = free_port()
        self.file = self.directory / "dataplaneapi.yaml"
        self.log = self.directory / "dataplaneapi.log"
        self._arguments = arguments
        self._write(dataplaneapi or {}, settings or {}, reload or {})

    def _write(self, ours: Mapping[str, Any], below: Mapping[str, Any], reload: Mapping[str, Any]) -> None:
        haproxy = {"config_file": str(self.haproxy.file), "haproxy_bin": self.haproxy.binary, **below}
        if self.haproxy.master:
            haproxy = {"master_runtime": str(self.haproxy.master), "master_worker_mode": True, **haproxy}
        haproxy["reload"] = {"reload_delay": 1, "reload_cmd": "true", "reload_strategy": "custom", **reload}
        directories = {
            name: str(self.directory / name) for name in ("maps_dir", "acl_dir", "ssl_certs_dir", "general_storage_dir", "spoe_dir")
        }
        # Includes the settings that the server would otherwise add at its first start.
        api = {
            "advertised": {"api_address": "", "api_port": 0},
            "userlist": {"userlist": "controller", "userlist_file": ""},
            **({} if "listeners" in ours else {"scheme": ["http"]}),
            "host": "127.0.0.1",
            "port": self.port,
            "user": [{"name": USER[0], "password": USER[1], "insecure": True}],
            "transaction": {"transaction_dir": str(self.directory / "transactions")},
            "resources": {**directories, "dataplane_storage_dir": str(self.directory / "dataplane")},
            **ours,
        }
        with self.file.open("w") as file:
            YAML().dump({"config_version": 2, "name": "test", "dataplaneapi": api, "haproxy": haproxy}, file)

    def start(self) -> Self:
        """Start the command, and wait for its first answer."""
        self.process = self._process("-f", str(self.file), *self._arguments)
        self.client = httpx2.Client(base_url=f"http://127.0.0.1:{self.port}", auth=USER, timeout=60, verify=False)
        deadline = time.monotonic() + 120
        while not self._answers():
            assert self.process.poll() is None, f"the server ended:\n{self.log.read_text()}"
            assert time.monotonic() < deadline, f"the server does not answer:\n{self.log.read_text()}"
            time.sleep(0.01)
        return self

    def _process(self, *words: str) -> subprocess.Popen[bytes] | Forked:
        return start([*self._command(), *words], self.log)

    def _command(self) -> list[str]:
        return [str(COMMAND)]

    def stop(self) -> None:
        """End the server. Its files stay for another `start`."""
        self.client.close()
        stop(self.process, 20)

    def kill(self) -> None:
        """Kill the server, as in a crash."""
        self.client.close()
        self.process.kill()
        self.process.wait()

    def get(self, path: str, **parameters: Any) -> httpx2.Response:
        return self.ask("GET", path, **parameters)

    def post(self, path: str, body: Any = None, **parameters: Any) -> httpx2.Response:
        return self.ask("POST", path, body, **parameters)

    def put(self, path: str, body: Any = None, **parameters: Any) -> httpx2.Response:
        return self.ask("PUT", path, body, **parameters)

    def delete(self, path: str, **parameters: Any) -> httpx2.Response:
        return self.ask("DELETE", path, **parameters)

    def ask(self, method: str, path: str, body: Any = None, **parameters: Any) -> httpx2.Response:
        """Send a request. A text is sent as text/plain, any other body as JSON. `parameters` are the query; True is sent as `true`."""
        url = path if path.startswith("/") else f"{CONFIGURATION}/{path}"
        query = {name: str(value).lower() if isinstance(value, bool) else value for name, value in parameters.items()}
        if isinstance(body, str):
            return self.client.request(method, url, params=query, content=body, headers={"Content-Type": "text/plain"})
        return self.client.request(method, url, params=query, **({} if body is None else {"json": body}))

    def version(self) -> int:
        return int(self.get("version").json())

    def transaction(self) -> str:
        """Create a transaction for the current version, and return its id."""
        answer = self.post("/v3/services/haproxy/transactions", version=self.version())
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def commit(self, transaction: str, **parameters: Any) -> httpx2.Response:
        return self.put(f"/v3/services/haproxy/transactions/{transaction}", **parameters)

    def _answers(self) -> bool:
        try:
            return self.get("version").status_code == 200
        except httpx2.TransportError:
            return False

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            stop(self.process)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
