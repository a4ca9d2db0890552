"""Replace the application of a running server. Requests wait during the replacement, so that no request is refused."""

import asyncio
from typing import Any, Protocol

from starlette.types import Receive, Scope, Send


class ReplyingApp(Protocol):
    """An ASGI application that caches replies. The server sends a reply that `reply` returns without calling the application."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    def reply(self, *request: Any) -> bytes | None: ...


class Doorway:
    """An ASGI application that passes requests to the current application. While there is no current application, requests wait."""

    def __init__(self) -> None:
        self._app: ReplyingApp | None = None
        self._opened = asyncio.Event()
        self._running_requests: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        while (app := self._app) is None:
            await self._opened.wait()
        task = asyncio.current_task()
        assert task is not None
        self._running_requests.add(task)
        try:
            await app(scope, receive, send)
        finally:
            self._running_requests.discard(task)

    def reply(self, *request: Any) -> bytes | None:
        """Return the cached reply of the current application, or None if there is no cached reply or no application."""
        return self._app.reply(*request) if self._app is not None else None

    def open(self, app: ReplyingApp) -> None:
        """Make `app` the current application. Requests that wait are passed to it."""
        self._app = app
        self._opened.set()

    async def close(self, patience: float) -> None:
        """Make new requests wait, and block until the requests in progress have ended.

        Cancel those that run longer than `patience` seconds.
        """
        self._app = None
        self._opened.clear()
        late = set(self._running_requests)
        if late:
            _, late = await asyncio.wait(late, timeout=patience)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)
