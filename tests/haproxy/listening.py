"""What a test puts in HAProxy's place behind a Unix socket."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(handler: Handler, path: str) -> AsyncIterator[None]:
    """A handler that still waits at the end is cancelled, and its connection closed, before the server is."""
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
