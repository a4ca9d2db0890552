"""An HTTP server on a port of 127.0.0.1 that forwards each request to another port. Tests and benchmarks act before and after a request."""

import http.client
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

# The path and the body of a request.
Action = Callable[[str, bytes], object]
# These headers belong to a connection.
OWN = {"host", "connection", "content-length", "transfer-encoding"}


class Forwarder:
    """Forwards to `port`. While `is_cut`, it closes each connection without an answer.

    `before` is called before a request is forwarded, and `after` when its answer is complete and not yet passed on, in a thread. If one of
    them raises ConnectionError, the connection is closed instead.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self.before: Action = lambda path, body: None
        self.after: Action = lambda path, body: None
        self.is_cut = False
        # The path of each request, and the bytes of its body and of its answer.
        self.requests: list[tuple[str, int]] = []
        forward = self._forward

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except (OSError, http.client.HTTPException):
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing."""

        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            setattr(Handler, f"do_{method}", lambda handler: forward(handler))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads, self._server.block_on_close = True, False
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def _forward(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        if self.is_cut:
            raise ConnectionError
        self.before(handler.path, body)
        connection = http.client.HTTPConnection("127.0.0.1", self._port)
        try:
            headers = {name: value for name, value in handler.headers.items() if name.lower() not in OWN}
            connection.request(handler.command, handler.path, body, headers)
            response = connection.getresponse()
            kept = [(name, value) for name, value in response.getheaders() if name.lower() not in OWN]
            if handler.path.endswith("/watch"):
                self._stream(handler, response, kept)
                return
            data = response.read()
        finally:
            connection.close()
        self.requests.append((handler.path, len(body) + len(data)))
        self.after(handler.path, body)
        self._answer(handler, response.status, [*kept, ("Content-Length", str(len(data)))])
        handler.wfile.write(data)

    def _stream(self, handler: BaseHTTPRequestHandler, response: http.client.HTTPResponse, headers: Sequence[tuple[str, str]]) -> None:
        self._answer(handler, response.status, [*headers, ("Transfer-Encoding", "chunked")])
        while (data := response.read1()) and not self.is_cut:
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            handler.wfile.flush()
        raise ConnectionError

    def _answer(self, handler: BaseHTTPRequestHandler, status: int, headers: Sequence[tuple[str, str]]) -> None:
        handler.send_response_only(status)
        for header in headers:
            handler.send_header(*header)
        handler.end_headers()

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
