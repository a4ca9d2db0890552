"""What limited rights add to a change: one engine, changed in turn by an author who may do everything and by one of a role."""

import asyncio
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median

from bench.farm import farm, server_line
from bench.plan import Effort
from haproxy_native.access.rights import Rights, Rule
from haproxy_native.request_context import Author, author
from tests.haproxy import binaries
from tests.native.engines import running_engine, substituting

ROW = "change of one whose rights are limited / of one whose are not"
LIMITED = Rights(("weights",), (Rule("backend/*/server/*", frozenset(("change",)), frozenset(("weight",)), reloads=False),))


def of_rights(work: Effort) -> dict[str, float]:
    free, limited = asyncio.run(measured(work.entries, work.entered))
    return {ROW: median(limited) / median(free)}


async def measured(changes: int, servers: int) -> tuple[list[float], list[float]]:
    """Seconds of each change of a weight, of either author."""
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        async with AsyncExitStack() as stack:
            site = farm(servers, Path(directory), binaries.newest())
            stack.enter_context(site.haproxy)
            engine = await stack.enter_async_context(running_engine(Path(directory), site.haproxy))
            took: dict[bool, list[float]] = {False: [], True: []}
            for number in range(2 * changes):
                is_limited = bool(number % 2)
                author.set(Author("one", rights=LIMITED if is_limited else None))
                began = time.perf_counter()
                await engine.amend(substituting(server_line(number, 100), server_line(number, 99)))
                took[is_limited].append(time.perf_counter() - began)
    return took[False], took[True]
