"""Serve a Unix socket in a test in place of HAProxy."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(handler: Handler, path: str) -> AsyncIterator[None]:
    """Serve a Unix socket while the context is active. At its end, cancel running handlers and close their connections."""
    works = set[asyncio.Task[None]]()

    async def handled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            works.add(task)
        try:
            await handler(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    server = await asyncio.start_unix_server(handled, path)
    try:
        yield
    finally:
        for task in works:
            task.cancel()
        await asyncio.gather(*works, return_exceptions=True)
        server.close()
