"""Run the server for acceptance tests: forked if possible, with a short reload delay, and with calls that many tests need."""

import subprocess
from typing import Any, Self

import httpx2
import pytest

from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.server_state import ServerState, server_states
from tests.haproxy.forked import Forked, nursery
from tests.haproxy.process import HAProxy
from tests.haproxy.sidecar import Sidecar
from tests.until import polls

SERVICES = "/v3/services/haproxy"
# The beginning of the configuration in most of these tests.
PLAIN = """\
global
    stats socket {{stats}} level admin expose-fd listeners

defaults plain
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s

"""


class Quick(Sidecar):
    """The server. `delay` is the reload delay in milliseconds; None for the delay of the settings."""

    def __init__(self, haproxy: HAProxy, *, delay: int | None = 50, **more: Any) -> None:
        super().__init__(haproxy, **more)
        self.delay = delay

    def start(self) -> Self:
        with pytest.MonkeyPatch.context() as environment:
            if self.delay is not None:
                environment.setenv("CI_DATAPLANE_RELOAD_DELAY_OVERRIDE", str(self.delay))
            return super().start()

    def _process(self, *words: str) -> subprocess.Popen[bytes] | Forked:
        is_plain = type(self)._command is Sidecar._command
        return nursery().start(words, self.log) if is_plain else super()._process(*words)

    def put_server(self, name: str, change: dict[str, Any], backend: str = "app", **parameters: Any) -> httpx2.Response:
        """Read a server, and PUT it with the members in `change`. A member that is None is removed."""
        path = f"backends/{backend}/servers/{name}"
        server = {**self.get(path, **parameters).json(), **change}
        body = {member: value for member, value in server.items() if value is not None}
        return self.put(path, body, **(parameters or {"version": self.version()}))

    def server(self, name: str, backend: str = "app") -> ServerState | None:
        """Return the state of a server in the worker in service; None if the worker does not have it."""
        rows = server_states(self.haproxy.ask(f"show servers state {backend}"))
        return next((row for row in rows if row.name == name), None)

    def stat(self, name: str, proxy: str = "app") -> dict[str, str]:
        rows = answers.table(self.haproxy.ask("show stat"))
        return next((row for row in rows if row["pxname"] == proxy and row["svname"] == name), {})

    def reloaded(self, answer: httpx2.Response) -> dict[str, Any]:
        """Wait for the outcome of the reload that a 202 answer names, and return it."""
        assert answer.status_code == 202, answer.text
        return self.outcome(answer.headers["Reload-Id"])

    def outcome(self, reload_id: str) -> dict[str, Any]:
        for _ in polls(f"reload {reload_id} does not end", seconds=600, shortest=0.01):
            found = self.get(f"{SERVICES}/reloads/{reload_id}")
            assert found.status_code == 200, found.text
            if found.json()["status"] != "in_progress":
                break
        return dict(found.json())

    def why(self, answer: httpx2.Response) -> str:
        """Return the answer, and the reasons for its reload, as the message of a failed assertion."""
        reload = answer.headers.get("Reload-Id")
        return f"{answer.status_code} {answer.text}" + (self.get(f"/v3/sidecar/reloads/{reload}").text if reload else "")

    def text(self) -> str:
        return self.haproxy.file.read_text()

    def line(self, beginning: str) -> str:
        """Return the first line of the file with this beginning, without its indentation; '' if there is none."""
        return next((line.strip() for line in self.text().splitlines() if line.strip().startswith(beginning)), "")


def is_live(answer: httpx2.Response) -> bool:
    return answer.status_code in (200, 201, 204) and "Reload-Id" not in answer.headers
