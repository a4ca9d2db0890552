"""Subscribe to `/v3/sidecar/events` in a separate thread."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import httpx2

from tests.haproxy.sidecar import USER, Sidecar

PATH = "/v3/sidecar/events"
Event = dict[str, Any]


class Follower:
    """A subscriber. `events` are the received events, each with the time `arrived`; `comments` is the number of received comments.

    `ended` is set when the response has ended.
    """

    def __init__(self, sidecar: Sidecar, last: str | None = None, **query: str) -> None:
        self._url, self._query = f"http://127.0.0.1:{sidecar.port}{PATH}", query
        self._headers = {"Last-Event-ID": last} if last else {}
        self.events: list[Event] = []
        self.comments = 0
        self.begun, self.ended = threading.Event(), threading.Event()
        self._client = httpx2.Client(auth=USER, timeout=60, verify=False)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self.begun.wait(60)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._client.close()

    def _run(self) -> None:
        # Client or server may be closed before the response has ended.
        with (
            suppress(httpx2.HTTPError, httpx2.StreamError, RuntimeError),
            self._client.stream("GET", self._url, params=self._query, headers=self._headers) as answer,
        ):
            assert answer.status_code == 200, answer.read()
            for line in answer.iter_lines():
                if line.startswith(":"):
                    self.comments += 1
                    self.begun.set()
                elif line.startswith("data: "):
                    self.events.append(json.loads(line[6:]) | {"arrived": time.time()})
        self.begun.set()
        self.ended.set()

    def until(self, is_wanted: Callable[[Event], bool], seconds: float = 60) -> Event:
        """Wait for the first event that is wanted, and return it."""
        deadline = time.monotonic() + seconds
        while True:
            for event in list(self.events):
                if is_wanted(event):
                    return event
            assert time.monotonic() < deadline, self.events
            time.sleep(0.002)

    def of(self, type_: str, seconds: float = 60) -> Event:
        return self.until(lambda event: event["type"] == type_, seconds)
