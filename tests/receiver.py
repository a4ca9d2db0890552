"""An HTTP server on 127.0.0.1 that receives posted events, and answers as the test specifies."""

import json
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Answering = int | Callable[["Handler"], None]


@dataclass(frozen=True)
class Request:
    headers: Mapping[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        return dict(json.loads(self.body))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.receiver.take(Request(dict(self.headers), body), self)  # type: ignore[attr-defined]

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, *_: Any) -> None:
        pass

    def say(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Ignore errors: a client that closes its connection is none."""


class Receiver:
    """Answers each request with the next of `answers`, and with `otherwise` when none are left.

    An answer is a status, or a function that writes the response. `taken` are the requests with a status below 300.
    """

    def __init__(self, *answers: Answering, otherwise: Answering = 204, port: int = 0, context: ssl.SSLContext | None = None) -> None:
        self.answers, self.otherwise = list(answers), otherwise
        self.requests: list[Request] = []
        self.taken: list[Request] = []
        self._changed = threading.Condition()
        self._server = Server(("127.0.0.1", port), Handler)
        self._server.receiver = self  # type: ignore[attr-defined]
        self.port = int(self._server.server_address[1])
        if context:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.port}/hook"

    def take(self, request: Request, handler: Handler) -> None:
        with self._changed:
            self.requests.append(request)
            answer = self.answers.pop(0) if self.answers else self.otherwise
            if isinstance(answer, int) and answer < 300:
                self.taken.append(request)
            self._changed.notify_all()
        if isinstance(answer, int):
            handler.say(answer)
        else:
            answer(handler)

    def until(self, holds: Callable[["Receiver"], bool], seconds: float = 20) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: holds(self), seconds), [each.body for each in self.requests]

    def objects(self) -> list[str]:
        """Return the objects of the accepted events."""
        return [each.event["object"] for each in self.taken]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
