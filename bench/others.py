"""Measure how long other requests wait during each large or hostile one: the 99th percentile for a request that arrives at any moment."""

import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.connection import Connection
from bench.subject import CONFIGURATION
from tests.acceptance.large_requests import CONFIG, LARGE, LOGIN, ask
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import Sidecar

ROW = "others beside the slowest large request"
# Seconds between two small requests, and those for which they are sent at least.
TICK, LEAST = 0.01, 1.0


def others_wait() -> dict[str, float]:
    """Return the wait of the large request that is worst. Raises AssertionError for a wrong answer."""
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        config = CONFIG.format(site=free_port())
        with HAProxy(Path(directory), config, binary=binaries.newest()) as haproxy, Sidecar(haproxy) as sidecar:
            transaction = sidecar.transaction()
            return {ROW: max(waited(sidecar.port, partial(ask, sidecar, large, transaction)) for large in LARGE)}


def waited(port: int, work: Callable[[], object]) -> float:
    """Return the 99th percentile of the others' waits while the work is done."""
    waits, ended, end = list[float](), threading.Event(), time.monotonic() + LEAST

    def read() -> None:
        with Connection(port, LOGIN["Authorization"].removeprefix("Basic ")) as connection:
            while not ended.is_set():
                waits.append(connection.ask("GET", f"{CONFIGURATION}/version").seconds)
                time.sleep(TICK)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        work()
        time.sleep(max(0.0, end - time.monotonic()))
    finally:
        ended.set()
        reader.join()
    # A long wait holds up all who come meanwhile.
    ordered = sorted(each - past * TICK for each in waits for past in range(1 + int(each / TICK)))
    return ordered[len(ordered) * 99 // 100]
