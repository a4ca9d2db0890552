"""Call the server inside a machine through the Unix socket that systemd has opened there."""

import base64
import time
from typing import Any

import httpx2

from tests.e2e.machine import Machine

SOCKET = "run/dataplaneapi.sock"
BASE = "/v3/services/haproxy"


class Api:
    """A client. Paths are relative to /v3/services/haproxy/, or absolute if they begin with `/`."""

    def __init__(self, machine: Machine, user: str = "admin", password: str = "adminpwd") -> None:
        self.authorization = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        transport = httpx2.HTTPTransport(uds=str(machine.root / SOCKET))
        self._client = httpx2.Client(
            transport=transport, base_url="http://machine", headers={"Authorization": self.authorization}, timeout=60
        )

    def ask(self, method: str, path: str, body: Any = None, **parameters: Any) -> httpx2.Response:
        url = path if path.startswith("/") else f"{BASE}/{path}"
        sent: dict[str, Any] = {} if body is None else {"json": body}
        if isinstance(body, str):
            sent = {"content": body, "headers": {"Content-Type": "text/plain"}}
        return self._client.request(method, url, params=parameters, **sent)

    def version(self) -> int:
        return int(self.ask("GET", "configuration/version").json())

    def outcome(self, answer: httpx2.Response) -> str:
        """Wait for the reload that an answer names, and return its outcome."""
        assert answer.status_code == 202, answer.text
        deadline = time.monotonic() + 120
        while (shown := self.ask("GET", f"reloads/{answer.headers['Reload-Id']}").json())["status"] == "in_progress":
            assert time.monotonic() < deadline, shown
            time.sleep(0.1)
        return str(shown["status"])

    def close(self) -> None:
        self._client.close()
