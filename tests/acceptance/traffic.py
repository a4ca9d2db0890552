"""Constant traffic of real HTTP clients: threads that ask on until they are told to stop, and keep what went wrong."""

import threading
from collections import Counter
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import httpx2

# Between two requests of a client: traffic shall be constant, not the machine busy.
PAUSE = 0.02


class Traffic:
    """Half of the clients keep their connections, the others open one for each request. `failures` tells what went wrong, and where.

    A good answer is 200 with one of `names` as its body.
    """

    def __init__(self, url: str, paths: Sequence[str], names: Sequence[str], clients: int = 4) -> None:
        self.url, self.paths, self.names = url, paths, frozenset(names)
        self.answered: Counter[str] = Counter()
        self.failures: list[str] = []
        self._enough = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(number,), daemon=True) for number in range(clients)]

    @property
    def count(self) -> int:
        return sum(self.answered.values())

    def wait_for(self, count: int) -> None:
        """Returns when so many requests were answered, or one failed."""
        while self.count < count and not self.failures and any(thread.is_alive() for thread in self._threads):
            self._enough.wait(0.01)

    def _ask(self, number: int) -> None:
        limits = httpx2.Limits(max_keepalive_connections=1 if number % 2 else 0)
        with httpx2.Client(base_url=self.url, limits=limits, timeout=20) as client:
            asked = number
            while not self._enough.wait(PAUSE):
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

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._enough.set()
        for thread in self._threads:
            thread.join(30)
