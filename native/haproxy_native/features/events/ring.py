"""Lines that the worker in service writes to a ring, as it writes them (`show events`, HAProxy Management Guide, section 9.3).

The connection is closed at each reload: a former worker lives until those who read its rings have left.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Collection
from contextlib import suppress

from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.socket import parse_address

log = logging.getLogger(__name__)
CONNECTING = 3.0
LONGEST_LINE = 1 << 16


async def lines(runtime: Runtime, name: str) -> AsyncIterator[str]:
    """Yields the lines of a ring, from now on, until the worker closes it. Raises OSError if there is no connection."""
    places = [place for place_ in runtime.stats_places if (place := parse_address(place_)) and place.path]
    if places:
        path, prefix = str(places[0].path), ""
    elif runtime.configured_master and runtime.capabilities.relays:
        path, prefix = runtime.configured_master.path, "@@1 "
    else:
        return
    async with asyncio.timeout(CONNECTING):
        reader, writer = await asyncio.open_unix_connection(path, limit=LONGEST_LINE)
    try:
        writer.write(f"{prefix}show events {argument(name)} -w -n\n".encode())
        await writer.drain()
        while line := await reader.readline():
            yield line.decode(errors="replace").rstrip("\n")
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


_SERVER = re.compile(r"\b[Ss]erver ([\w.:-]+)/[\w.:-]+ ")
_BACKEND = re.compile(r"\b(?:backend|proxy) ([\w.:-]+) ")
_LOSS = re.compile(r"\bevents? dropped\b")


def backends(line: str) -> Collection[str] | None:
    """Returns the backends whose servers a line concerns; None for all, if lines were lost."""
    if _LOSS.search(line):
        return None
    match = _SERVER.search(line) or _BACKEND.search(line)
    return (match[1],) if match else ()
