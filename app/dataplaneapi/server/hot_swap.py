"""Replaces the application while requests wait, so that no client is refused."""

import asyncio
from typing import Any, Protocol

from starlette.types import Receive, Scope, Send


class ReplyingApp(Protocol):
    """An ASGI application that may answer requests without being called."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    def reply(self, *asked: Any) -> bytes | None: ...


class Doorway:
    """An ASGI application that is the one of the moment."""

    def __init__(self) -> None:
        self._app: ReplyingApp | None = None
        self._opened = asyncio.Event()
        self._inside: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        while (app := self._app) is None:
            await self._opened.wait()
        task = asyncio.current_task()
        assert task is not None
        self._inside.add(task)
        try:
            await app(scope, receive, send)
        finally:
            self._inside.discard(task)

    def reply(self, *asked: Any) -> bytes | None:
        """What the application of the moment has kept for a request; None while there is none."""
        return self._app.reply(*asked) if self._app is not None else None

    def open(self, app: ReplyingApp) -> None:
        self._app = app
        self._opened.set()

    async def close(self, patience: float) -> None:
        """Admits no further request; those inside have `patience` seconds, then are cut off."""
        self._app = None
        self._opened.clear()
        late = set(self._inside)
        if late:
            _, late = await asyncio.wait(late, timeout=patience)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)
