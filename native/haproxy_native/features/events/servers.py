"""Publish states, weights and addresses of servers, while a client subscribes to them.

`ServerWatch` finds changes in three ways:

* It reads all servers every POLL_SECONDS (`_poll`).
* It reads a backend at once if a runtime command, or a line of a ring, names one of its servers (`_poll_backend`).
* If no ring reports all servers, it also scans the answer to `show servers state` for rows that differ, which is much cheaper than parsing
  the answer. The pauses between scans are so long that scans take at most SCAN_SHARE of the time.

A ring is a buffer in HAProxy that receives log lines (`show events`, HAProxy Management Guide, section 9.3). A former worker cannot end
while somebody reads its rings, so the connection is closed at each reload.
"""

import asyncio
import logging
import re
from collections import deque
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any

from haproxy_native.background import Background
from haproxy_native.commit.events import ChangedLive, Committed, Event
from haproxy_native.editing import state_ring
from haproxy_native.editing.object_names import parsed, spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import NativeError, RuntimeFailure, RuntimeRefused
from haproxy_native.features.events.stream import SERVER, EventStream
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.server_state import CHECKS, OPERATIONAL, admin_state
from haproxy_native.runtime.socket import parse_address
from haproxy_native.text.document import Document
from haproxy_native.threads import lines_in_pieces, run_in_thread_if, with_pauses

log = logging.getLogger(__name__)
CONNECT_SECONDS = 3.0
LONGEST_LINE = 1 << 16
_SERVER = re.compile(r"\b[Ss]erver ([\w.:-]+)/[\w.:-]+ ")
_BACKEND = re.compile(r"\b(?:backend|proxy) ([\w.:-]+) ")
_LOSS = re.compile(r"\bevents? dropped\b")
POLL_SECONDS = 1.0
# The shortest pause between scans in seconds, the share of the time that scans may take, and how many scans are measured for it.
SCAN_SECONDS, SCAN_SHARE, SCANS = 0.25, 0.06, 8
# How many changed backends are read one by one. If there are more, all servers are read at once.
MOST_BACKENDS = 10
# The pause between attempts to read a ring, in seconds.
RING_PAUSE = 0.2
# Answers with more characters are parsed in a thread.
LARGE = 1 << 15
# A row of `show servers state`. The first group is the head of the row: the columns before the first column that changes with time alone.
# The next groups are in the head: backend, name, address, operational state, administrative state and weight. The last two groups are the
# result of the last check, and the port.
_ROW = re.compile(r"^(\d+ (\S+) \d+ (\S+) (\S+) (\d+) (\d+) (\d+)) \d+ \d+ (\d+)(?: \S+){7} (\d+) ", re.MULTILINE)
# The head of a row. Its second word is the backend. A search for heads takes half as long as a search for rows.
_HEAD = re.compile(r"^(\d+ \S+ \d+ \S+ \S+ \d+ \d+ \d+) ", re.MULTILINE)
_COMMAND = re.compile(r"(?:^|\s)(?:server|weight|health|agent)\s+([\w.:-]+)/[\w.:-]+")
Row = tuple[str, ...]
# Backend and name.
Key = tuple[str, str]


async def ring_lines(runtime: Runtime, name: str) -> AsyncIterator[str]:
    """Yield the new lines of a ring until the worker closes the connection; nothing if no socket is configured. Raises OSError."""
    places = [place for place_ in runtime.stats_places if (place := parse_address(place_)) and place.path]
    if places:
        path, prefix = str(places[0].path), ""
    elif runtime.configured_master and runtime.capabilities.relays:
        path, prefix = runtime.configured_master.socket_path, "@@1 "
    else:
        return
    async with asyncio.timeout(CONNECT_SECONDS):
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


def backends_in(line: str) -> Collection[str] | None:
    """Return the backends that a line of a ring names; None, which stands for all backends, if the line reports that lines were lost."""
    if _LOSS.search(line):
        return None
    match = _SERVER.search(line) or _BACKEND.search(line)
    return (match[1],) if match else ()


def rows_of(text: str) -> dict[Key, Row]:
    """Return the rows of an answer to `show servers state`, by backend and name."""
    return {(row[1], row[2]): row for piece in lines_in_pieces(text) for row in _ROW.findall(piece)}


def heads_of(text: str) -> set[str]:
    """Return the heads of the rows of an answer to `show servers state`."""
    return set(chain.from_iterable(map(_HEAD.findall, lines_in_pieces(text))))


def as_dict(row: Row) -> dict[str, Any]:
    """Return a server as JSON, with the names that the runtime API has for its members."""
    _, _, _, address, operational, admin, weight, _, port = row
    return {
        "operational_state": OPERATIONAL.get(int(operational), "unknown"),
        "admin_state": admin_state(int(admin)),
        "weight": int(weight),
        "address": address,
        "port": int(port),
    }


def scan_pause(durations: Collection[float]) -> float:
    """Return the seconds until the next scan, from the durations of the last scans.

    Only the shortest duration counts, since longer ones include waiting for the socket or the processor.
    """
    return max(SCAN_SECONDS, min(durations, default=0) / SCAN_SHARE)


def check_of(row: Row) -> str | None:
    """Return the result of a server's last check, such as L4CON; None if no check has ended."""
    return CHECKS.get(int(row[7]))


def object_of(row: Row) -> str:
    """Return the object name of a server, such as `backend/shop/server/web1`."""
    return spelled("backend", row[1], "server", row[2])


class ServerWatch:
    """Watches the servers of one engine. `known` has their last rows, and is empty while nobody subscribes to servers."""

    def __init__(self, engine: Engine, stream: EventStream) -> None:
        self._engine, self._stream = engine, stream
        self.known: dict[Key, Row] = {}
        self._has_polled = False
        # The heads of the known rows.
        self._heads: set[str] = set()
        # The durations of the last scans, in seconds.
        self._durations: deque[float] = deque(maxlen=SCANS)
        # A cache for `_ring`: a configuration, the name of its ring, and whether the ring reports all servers.
        self._rings: tuple[Document | None, str, bool] = (None, "", False)
        # The backends to read at once. None stands for all.
        self._due_backends: set[str | None] = set()
        self._changed = asyncio.Event()
        self._polling = asyncio.Lock()
        self._reader: asyncio.Task[None] | None = None

    def on_event(self, event: Event) -> None:
        """After a commit or a runtime command, wake the watch to read the backends whose servers may have changed."""
        if not self._has_polled:
            return
        if isinstance(event, ChangedLive):
            self.poll_soon(*{match[1] for command in event.commands if (match := _COMMAND.search(command))})
        elif isinstance(event, Committed) and event.result:
            self.poll_soon(*{parsed(member.object)[1] for member in event.result.members})

    def poll_soon(self, *backends: str | None) -> None:
        """Wake up the watch to read these backends. None stands for all backends."""
        self._due_backends.update(backends)
        if backends:
            self._changed.set()

    def worker_changed(self) -> None:
        """Stop reading the ring of the former worker, so that it can end, and read all servers soon."""
        if self._reader:
            self._reader.cancel()
        self.poll_soon(None)

    async def run(self) -> None:
        """Watch servers while somebody subscribes to them, until cancelled."""
        while True:
            await self._stream.until_wanted(SERVER)
            reading = Background("reading a ring")
            try:
                with self._stream.recorded(SERVER):
                    reading.begin(self._read_ring())
                    await self._watch()
            finally:
                await reading.stop()
                self.known, self._has_polled, self._heads = {}, False, set()

    async def read_servers(self) -> list[dict[str, Any]]:
        """Read all servers, publish their changes, and return them as JSON. Raises RuntimeFailure."""
        async with self._polling:
            text = await self._engine.runtime.read_dump("show servers state", r"1\n")
            rows = await run_in_thread_if(len(text) > LARGE, rows_of, text)
            self._compare(rows, self.known.keys() - rows.keys())
            self._has_polled = True
        return [{"object": object_of(row), **as_dict(row)} for row in self.known.values()]

    async def _watch(self) -> None:
        """Poll and scan servers whenever that is due, until nobody subscribes to them."""
        loop, runtime, poll_due, scan_due = asyncio.get_running_loop(), self._engine.runtime, 0.0, 0.0
        while self._stream.is_wanted(SERVER):
            backends, self._due_backends = self._due_backends, set()
            self._changed.clear()
            began = loop.time()
            try:
                if began >= scan_due and began < poll_due and None not in backends:
                    text = await runtime.read_dump("show servers state", r"1\n")
                    heads = await run_in_thread_if(len(text) > LARGE, heads_of, text)
                    differing = {head.split(" ", 2)[1] for head in heads ^ self._heads}
                    backends |= differing if len(differing) <= MOST_BACKENDS else {None}
                    self._durations.append(loop.time() - began)
                    scan_due = loop.time() + self._scan_pause()
                if began >= poll_due or None in backends:
                    await self._poll()
                    poll_due, scan_due = loop.time() + POLL_SECONDS, loop.time() + self._scan_pause()
                else:
                    async with self._polling:
                        for backend in backends:
                            await self._poll_backend(backend or "")
            except RuntimeFailure as error:
                log.debug("no states of servers: %s", error)
                poll_due = scan_due = loop.time() + POLL_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout_at(min(poll_due, scan_due)):
                    await self._changed.wait()

    def _scan_pause(self) -> float:
        """Return the seconds until the next scan. If a ring reports all servers, the next poll comes first."""
        return POLL_SECONDS if self._ring[1] else scan_pause(self._durations)

    async def _poll(self) -> None:
        """Read all servers, and compare their rows in small pieces.

        Between the pieces, read the backends that have become due. The rows of such a backend in later pieces are older, and are skipped.
        """
        async with self._polling:
            text = await self._engine.runtime.read_dump("show servers state", r"1\n")
            unseen, newer = set(self.known), set[str]()
            async for rows in with_pauses(map(rows_of, lines_in_pieces(text))):
                self._compare({key: row for key, row in rows.items() if key[0] not in newer}, ())
                unseen.difference_update(rows)
                due = [backend for backend in self._due_backends if backend is not None]
                self._due_backends.difference_update(due)
                for backend in due:
                    newer.add(backend)
                    await self._poll_backend(backend)
            self._compare({}, [key for key in unseen if key[0] not in newer and key in self.known])
            self._has_polled = True

    async def _poll_backend(self, backend: str) -> None:
        """Read the servers of a backend and compare them. The caller holds `_polling`."""
        try:
            text = await self._engine.runtime.read_dump(f"show servers state {argument(backend)}", r"1\n")
        except RuntimeRefused:
            text = ""
        rows = await run_in_thread_if(len(text) > LARGE, rows_of, text)
        self._compare(rows, [key for key in self.known if key[0] == backend and key not in rows])

    def _compare(self, rows: Mapping[Key, Row], gone: Iterable[Key]) -> None:
        """Replace known rows with `rows`, drop the rows in `gone`, and publish the differences unless this is the first poll."""
        differing = [key for key, row in rows.items() if self.known.get(key) != row]
        for key in (*differing, *gone):
            before, after = self.known.pop(key, None), rows.get(key)
            if before:
                self._heads.discard(before[0])
            if after:
                self.known[key] = after
                self._heads.add(after[0])
            if self._has_polled:
                self._publish_change(before, after)

    def _publish_change(self, before: Row | None, after: Row | None) -> None:
        """Publish the change of a server if any of its members differs. None stands for a server that does not exist."""
        row = after or before
        assert row
        members, former = as_dict(row), as_dict(before) if before and after else {}
        differing = {name: value for name, value in former.items() if value != members[name]}
        if before and after and not differing:
            return
        change = "changed" if before and after else "added" if after else "deleted"
        data: dict[str, Any] = {"change": change, **members}
        if "operational_state" in differing and (check := check_of(row)):
            data["check"] = check
        self._stream.publish(SERVER, object_of(row), data | {"former": differing} if differing else data)

    async def _read_ring(self) -> None:
        """Read the ring until cancelled, and connect again whenever the connection ends. Polls find the changes in between."""

        async def read_lines() -> None:
            if name := self._ring[0]:
                with suppress(OSError, ValueError, NativeError):
                    async for line in ring_lines(self._engine.runtime, name):
                        backends = backends_in(line)
                        self.poll_soon(*([None] if backends is None else backends))

        while True:
            self._reader = asyncio.create_task(read_lines())
            try:
                await asyncio.wait([self._reader])
            finally:
                self._reader.cancel()
            await asyncio.sleep(RING_PAUSE if self._ring[0] else POLL_SECONDS)

    @property
    def _ring(self) -> tuple[str, bool]:
        """Return the name of the ring with states of servers, and whether it reports all servers; ('', False) if there is no ring."""
        document = self._engine.running or self._engine.document
        if self._rings[0] is not document:
            self._rings = document, state_ring.ring(document), not state_ring.lines_to_add(document)
        return self._rings[1:]
