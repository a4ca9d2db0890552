"""The server forked where it can be, with reloads that do not wait for a second, and what acceptance tests ask of it again and again."""

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
# How most configurations of these tests begin.
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
    """`delay` is in milliseconds; without one, reloads wait for as long as the settings say."""

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
        """A read and a PUT of what was read, changed; a member that is None is left out."""
        path = f"backends/{backend}/servers/{name}"
        server = {**self.get(path, **parameters).json(), **change}
        body = {member: value for member, value in server.items() if value is not None}
        return self.put(path, body, **(parameters or {"version": self.version()}))

    def server(self, name: str, backend: str = "app") -> ServerState | None:
        """As the worker in service sees it."""
        rows = server_states(self.haproxy.ask(f"show servers state {backend}"))
        return next((row for row in rows if row.name == name), None)

    def stat(self, name: str, proxy: str = "app") -> dict[str, str]:
        rows = answers.table(self.haproxy.ask("show stat"))
        return next((row for row in rows if row["pxname"] == proxy and row["svname"] == name), {})

    def reloaded(self, answer: httpx2.Response) -> dict[str, Any]:
        """The outcome of the reload that an answer promises, as soon as it is known."""
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
        """What a failed assertion should say: the answer, and why there is a reload."""
        reload = answer.headers.get("Reload-Id")
        return f"{answer.status_code} {answer.text}" + (self.get(f"/v3/sidecar/reloads/{reload}").text if reload else "")

    def text(self) -> str:
        return self.haproxy.file.read_text()

    def line(self, beginning: str) -> str:
        """The first line of the file that begins so, its indent aside."""
        return next((line.strip() for line in self.text().splitlines() if line.strip().startswith(beginning)), "")


def is_live(answer: httpx2.Response) -> bool:
    return answer.status_code in (200, 201, 204) and "Reload-Id" not in answer.headers
