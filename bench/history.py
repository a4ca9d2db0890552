"""Measure the time that the history adds to a change, by changing an engine with a history and one without in turn."""

import asyncio
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import quantiles

from bench.farm import farm, server_line
from bench.plan import Effort
from haproxy_native.engine import Engine
from haproxy_native.history.history import History
from haproxy_native.request_context import NOBODY
from tests.haproxy import binaries
from tests.native.engines import ByFunction, running_engine, substituting

ROW = "entry in the history, 95th percentile"
# Between two changes, as between two clients.
REST_SECONDS = 0.05


def of_history(work: Effort) -> dict[str, float]:
    plain, entered = asyncio.run(measured(work.entries, work.entered))
    return {ROW: max(0.0, percentile(entered) - percentile(plain))}


def percentile(seconds: list[float]) -> float:
    return quantiles(seconds, n=20)[-1]


async def measured(changes: int, servers: int) -> tuple[list[float], list[float]]:
    """Seconds of each change of a weight, without and with the history."""
    async with AsyncExitStack() as stack:
        engines = [await _engine(stack, servers) for _ in range(2)]
        history = History(engines[1].context, engines[1].database)
        await stack.enter_async_context(history)
        took: tuple[list[float], list[float]] = ([], [])
        for number in range(changes):
            # The one that is changed first may have to wait for the disk longer.
            for engine, seconds in list(zip(engines, took, strict=True))[:: 1 if number % 2 else -1]:
                began = time.perf_counter()
                await engine.amend([ByFunction(substituting(server_line(number, 100), server_line(number, 99)))], author=NOBODY)
                seconds.append(time.perf_counter() - began)
                await asyncio.sleep(REST_SECONDS)
    return took


async def _engine(stack: AsyncExitStack, servers: int) -> Engine:
    directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
    site = farm(servers, directory, binaries.newest())
    stack.enter_context(site.haproxy)
    return await stack.enter_async_context(running_engine(directory, site.haproxy))
