"""Send constant traffic from real HTTP clients in threads, and record every failed request."""

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

import httpx2

# Seconds between two requests of a client. Without a pause, the clients would keep the machine busy.
PAUSE = 0.02


class _Clients:
    """Runs `ask` in `count` threads, each with its number, while the context is active. `failures` describes failed requests."""

    def __init__(self, count: int, ask: Callable[[int], None]) -> None:
        self.failures: list[str] = []
        self._enough = threading.Event()
        self._threads = [threading.Thread(target=ask, args=(number,), daemon=True) for number in range(count)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._enough.set()
        for thread in self._threads:
            thread.join(60)


class Traffic(_Clients):
    """Clients that send requests with pauses. Half of them keep their connections, the others open a connection for each request.

    A request has failed unless the answer is 200 with one of `names` as its body.
    """

    def __init__(self, url: str, paths: Sequence[str], names: Sequence[str], clients: int = 4, pause: float = PAUSE) -> None:
        self.url, self.paths, self.names, self._pause = url, paths, frozenset(names), pause
        self.answered: Counter[str] = Counter()
        super().__init__(clients, self._ask)

    @property
    def count(self) -> int:
        return sum(self.answered.values())

    def wait_for(self, count: int) -> None:
        """Wait until `count` requests were answered, or a request has failed."""
        while self.count < count and not self.failures and any(thread.is_alive() for thread in self._threads):
            self._enough.wait(0.01)

    def _ask(self, number: int) -> None:
        limits = httpx2.Limits(max_keepalive_connections=1 if number % 2 else 0)
        with httpx2.Client(base_url=self.url, limits=limits, timeout=60, verify=False) as client:
            asked = number
            while not self._enough.wait(self._pause):
                self._one(client, self.paths[asked % len(self.paths)])
                asked += 1

    def _one(self, client: httpx2.Client, path: str) -> None:
        try:
            answer = client.get(path)
        except httpx2.HTTPError as error:
            self.failures.append(f"{path}: {type(error).__name__} {error}")
            return
        if answer.status_code != 200 or answer.text not in self.names:
            self.failures.append(f"{path}: {answer.status_code} {answer.text[:200]}")
        self.answered[answer.text] += 1


class Steady(_Clients):
    """Clients that send `rate` requests a second. Half of them open a connection for each request.

    A request has failed unless the answer is 200 with `body`.
    """

    CLIENTS = 4

    def __init__(self, port: int, body: str, rate: int) -> None:
        self._port, self._end, self._pause = port, f"\r\n\r\n{body}".encode(), self.CLIENTS / rate
        self._counts = [0] * self.CLIENTS
        super().__init__(self.CLIENTS, self._ask)

    @property
    def count(self) -> int:
        return sum(self._counts)

    def _ask(self, number: int) -> None:
        """Send requests at their times. A late request is sent at once."""
        due, connection = time.monotonic() + self._pause * number / self.CLIENTS, None
        while not self._enough.wait(max(0.0, due - time.monotonic())):
            due += self._pause
            try:
                connection = connection or socket.create_connection(("127.0.0.1", self._port), timeout=60)
                self._one(connection)
            except OSError as error:
                self.failures.append(f"{type(error).__name__} {error}")
                if connection:
                    connection.close()
                connection = None
            self._counts[number] += 1
            if connection and number % 2:
                connection.close()
                connection = None
        if connection:
            connection.close()

    def _one(self, connection: socket.socket) -> None:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: steady\r\n\r\n")
        answer = b""
        while not answer.endswith(self._end):
            if not (piece := connection.recv(4096)):
                raise ConnectionError(f"closed after {answer!r}")
            answer += piece
            if not answer.startswith(b"HTTP/1.1 200 "[: len(answer)]):
                raise ConnectionError(f"{answer!r}")
