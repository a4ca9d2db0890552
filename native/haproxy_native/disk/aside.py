"""Drafts that are only looked at, and never become files: they are written in a temporary directory, and nothing beside the files."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path

from haproxy_native.scratch import Scratch

place: ContextVar[Path | None] = ContextVar("place", default=None)


@asynccontextmanager
async def drafts_aside(*, wanted: bool = True) -> AsyncIterator[None]:
    """Within it drafts are written elsewhere, and cannot be installed. Raises Unusable where nothing temporary can be written."""
    if not wanted or place.get():
        yield
        return
    scratch = await asyncio.to_thread(Scratch, "check")
    token = place.set(scratch.path)
    try:
        yield
    finally:
        place.reset(token)
        await asyncio.to_thread(scratch.remove)
