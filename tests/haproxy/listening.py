"""What a test puts in HAProxy's place behind a Unix socket."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(handler: Handler, path: str) -> AsyncIterator[None]:
    """A handler may be left waiting at the end: `async with server` waits for it from Python 3.12 on."""
    server = await asyncio.start_unix_server(handler, path)
    try:
        yield
    finally:
        server.close()
