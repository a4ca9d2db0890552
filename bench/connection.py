"""Send HTTP over plain sockets, so that the server is measured and not the client.

`Connection` asks one thing after the other; `flood` keeps many connections busy with one request.
"""

import json
import selectors
import socket
import time
from base64 import b64encode
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

AUTHORIZATION = b64encode(b"admin:bench").decode()


@dataclass(frozen=True)
class Answer:
    """`seconds` from the first byte sent to the last byte read."""

    status: int
    body: bytes
    seconds: float

    def json(self) -> Any:
        return json.loads(self.body)


class Refused(Exception):
    """An answer that a benchmark cannot go on from."""


class Connection:
    """One kept-alive connection."""

    def __init__(self, port: int, authorization: str = AUTHORIZATION) -> None:
        self._authorization = authorization
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=300)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        """Sends bytes as text, all else as JSON; raises Refused for a status of 400 or more."""
        request = request_bytes(method, path, body, self._authorization)
        begin = time.perf_counter()
        self._socket.sendall(request)
        status, answer = self._read()
        seconds = time.perf_counter() - begin
        if status >= 400:
            raise Refused(f"{method} {path}: {status} {answer[:500].decode(errors='replace')}")
        return Answer(status, answer, seconds)

    def _read(self) -> tuple[int, bytes]:
        data = bytearray()
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._receive()
        head, rest = bytes(data[:end]).lower(), data[end + 4 :]
        status = int(head[9:12])
        if b"transfer-encoding: chunked" in head:
            return status, self._read_chunks(rest)
        length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
        while len(rest) < length:
            rest += self._receive()
        return status, bytes(rest)

    def _read_chunks(self, rest: bytearray) -> bytes:
        while not rest.endswith(b"0\r\n\r\n"):
            rest += self._receive()
        body, at = bytearray(), 0
        while size := int(rest[at : (end := rest.index(b"\r\n", at))], 16):
            body += rest[end + 2 : end + 2 + size]
            at = end + 2 + size + 2
        return bytes(body)

    def _receive(self) -> bytes:
        data = self._socket.recv(1 << 20)
        if not data:
            raise ConnectionError("the server closed the connection")
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._socket.close()


def request_bytes(method: str, path: str, body: Any = None, authorization: str = AUTHORIZATION) -> bytes:
    kind, content = ("text/plain", body) if isinstance(body, bytes) else ("application/json", json.dumps(body).encode())
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Basic {authorization}\r\n"
    if body is None:
        return f"{head}\r\n".encode()
    return f"{head}Content-Type: {kind}\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content


def flood(port: int, path: str, *, clients: int, seconds: float) -> float:
    """Answers a second that many clients get, each asking again as soon as it has its answer.

    The answer is the same each time, so its length is learnt once and afterwards only bytes are counted.
    """
    request = request_bytes("GET", path)
    length = _answer_length(port, request)
    selector = selectors.DefaultSelector()
    for _ in range(clients):
        client = socket.create_connection(("127.0.0.1", port))
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ, [length])
        client.sendall(request)
    answers, begin = 0, time.perf_counter()
    while (now := time.perf_counter()) - begin < seconds:
        for key, _ in selector.select(1.0):
            key.data[0] -= len(key.fileobj.recv(65536))  # type: ignore[union-attr]
            if key.data[0] <= 0:
                answers += 1
                key.data[0] = length
                key.fileobj.send(request)  # type: ignore[union-attr]
    for key in list(selector.get_map().values()):
        key.fileobj.close()  # type: ignore[union-attr]
    return answers / (now - begin)


def _answer_length(port: int, request: bytes) -> int:
    """Bytes of the whole answer, its head included, of a server that keeps the connection."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(request)
        data = bytearray()
        while b"\r\n\r\n" not in data:
            data += client.recv(65536)
        head, _, rest = bytes(data).partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        while len(rest) < length:
            rest += client.recv(65536)
        return len(head) + 4 + length
