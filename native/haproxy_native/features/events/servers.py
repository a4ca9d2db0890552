"""States, weights and addresses of servers in the worker in service, looked at again and again while they are wanted.

A backend is looked at at once where a line of a ring names a server of it, or a runtime command does.
"""

import asyncio
import logging
import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any

from haproxy_native.background import Background
from haproxy_native.beside import beside_if, lines_in_pieces, unhurried
from haproxy_native.commit.events import ChangedLive, Committed, Event
from haproxy_native.editing import state_ring
from haproxy_native.editing.object_names import parsed, spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import NativeError, RuntimeFailure, RuntimeRefused
from haproxy_native.features.events import ring
from haproxy_native.features.events.stream import SERVER, EventStream
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.server_state import OPERATIONAL, admin_state
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
LOOK_SECONDS = 1.0
# Between glances at states alone where no ring reports all of them, as long as one takes no more than this part of the time.
GLANCE_SECONDS, SHARE, GLANCES = 0.25, 0.06, 8
# Backends that are looked at one by one; with more all are, at once.
MOST_BACKENDS = 10
# Between attempts to read a ring.
PAUSE = 0.2
LARGE = 1 << 15
# Of a row of `show servers state`: what stands before the columns that time changes, and in that backend, name, address, operational and
# administrative state, weight; then the port.
_ROW = re.compile(r"^(\d+ (\S+) \d+ (\S+) (\S+) (\d+) (\d+) (\d+))(?: \S+){10} (\d+) ", re.MULTILINE)
# The first of these alone takes half the work. Its second word is the backend.
_HEAD = re.compile(r"^(\d+ \S+ \d+ \S+ \S+ \d+ \d+ \d+) ", re.MULTILINE)
_COMMAND = re.compile(r"(?:^|\s)(?:server|weight|health|agent)\s+([\w.:-]+)/[\w.:-]+")
Row = tuple[str, ...]
# Backend and name.
Key = tuple[str, str]


def rows_of(text: str) -> dict[Key, Row]:
    """The servers of an answer to `show servers state`."""
    return {(row[1], row[2]): row for piece in lines_in_pieces(text) for row in _ROW.findall(piece)}


def heads_of(text: str) -> set[str]:
    return set(chain.from_iterable(map(_HEAD.findall, lines_in_pieces(text))))


def as_dict(row: Row) -> dict[str, Any]:
    """The members of a server by the names of the runtime API."""
    _, _, _, address, operational, admin, weight, port = row
    return {
        "operational_state": OPERATIONAL.get(int(operational), "unknown"),
        "admin_state": admin_state(int(admin)),
        "weight": int(weight),
        "address": address,
        "port": int(port),
    }


def pause(durations: Collection[float]) -> float:
    """Returns seconds until the next glance. The quickest of the last ones counts: others waited for the socket, or for a processor."""
    return max(GLANCE_SECONDS, min(durations, default=0) / SHARE)


def object_of(row: Row) -> str:
    return spelled("backend", row[1], "server", row[2])


class ServerWatch:
    """`known`: what was seen last; empty while nobody wants it."""

    def __init__(self, engine: Engine, stream: EventStream) -> None:
        self._engine, self._stream = engine, stream
        self.known: dict[Key, Row] = {}
        self._has_looked = False
        # Of what is known; and how many seconds the last glances took.
        self._heads: set[str] = set()
        self._durations: deque[float] = deque(maxlen=GLANCES)
        # A configuration, its ring, and whether the states of all servers reach that: found once for each.
        self._rings: tuple[Document | None, str, bool] = (None, "", False)
        # The backends to look at at once; None for all.
        self._named: set[str | None] = set()
        self._changed = asyncio.Event()
        self._looking = asyncio.Lock()
        self._reader: asyncio.Task[None] | None = None

    def heard(self, event: Event) -> None:
        """Looks at once at what a change of the process may have changed."""
        if not self._has_looked:
            return
        if isinstance(event, ChangedLive):
            self.look_at(*{match[1] for command in event.commands if (match := _COMMAND.search(command))})
        elif isinstance(event, Committed) and event.result:
            self.look_at(*{parsed(member.object)[1] for member in event.result.members})

    def look_at(self, *backends: str | None) -> None:
        self._named.update(backends)
        if backends:
            self._changed.set()

    def worker_changed(self) -> None:
        """Leaves the ring of the former worker, which would live on for its reader."""
        if self._reader:
            self._reader.cancel()
        self.look_at(None)

    async def run(self) -> None:
        """Watches until it is cancelled."""
        while True:
            await self._stream.until_wanted(SERVER)
            reading = Background("reading a ring")
            try:
                with self._stream.recorded(SERVER):
                    reading.begin(self._read_ring())
                    await self._watch()
            finally:
                await reading.stop()
                self.known, self._has_looked, self._heads = {}, False, set()

    async def now(self) -> list[dict[str, Any]]:
        """All servers. Raises RuntimeFailure."""
        async with self._looking:
            text = await self._engine.runtime.read_dump("show servers state", r"1\n")
            rows = await beside_if(len(text) > LARGE, rows_of, text)
            self._compare(rows, self.known.keys() - rows.keys())
            self._has_looked = True
        return [{"object": object_of(row), **as_dict(row)} for row in self.known.values()]

    async def _watch(self) -> None:
        loop, due, glance = asyncio.get_running_loop(), 0.0, 0.0
        while self._stream.is_wanted(SERVER):
            named, self._named = self._named, set()
            self._changed.clear()
            began = loop.time()
            try:
                if began >= due or None in named:
                    await self._look()
                    due, glance = loop.time() + LOOK_SECONDS, loop.time() + self._pause()
                elif began >= glance:
                    seen = await self._glance()
                    self._durations.append(loop.time() - began)
                    glance = loop.time() + self._pause()
                    await self._look_at(named | seen)
                else:
                    await self._look_at(named)
            except RuntimeFailure as error:
                log.debug("no states of servers: %s", error)
                due = glance = loop.time() + LOOK_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout_at(min(due, glance)):
                    await self._changed.wait()

    def _pause(self) -> float:
        return LOOK_SECONDS if self._ring[1] else pause(self._durations)

    async def _glance(self) -> set[str | None]:
        """The backends with servers that are not as they are known; `{None}` where they are many."""
        text = await self._engine.runtime.read_dump("show servers state", r"1\n")
        heads = await beside_if(len(text) > LARGE, heads_of, text)
        backends: set[str | None] = {head.split(" ", 2)[1] for head in heads ^ self._heads}
        return backends if len(backends) <= MOST_BACKENDS else {None}

    async def _look(self) -> None:
        """Looks at all servers, without haste; meanwhile at backends that are named."""
        async with self._looking:
            text = await self._engine.runtime.read_dump("show servers state", r"1\n")
            unseen, newer = set(self.known), set[str]()
            async for rows in unhurried(map(rows_of, lines_in_pieces(text))):
                self._compare({key: row for key, row in rows.items() if key[0] not in newer}, ())
                unseen.difference_update(rows)
                for backend in self._take_named():
                    newer.add(backend)
                    await self._look_at_one(backend)
            self._compare({}, [key for key in unseen if key[0] not in newer and key in self.known])
            self._has_looked = True

    def _take_named(self) -> list[str]:
        """The backends to look at at once, once each; leaves word that all are."""
        named = [backend for backend in self._named if backend is not None]
        self._named.difference_update(named)
        return named

    async def _look_at(self, backends: Collection[str | None]) -> None:
        if None in backends:
            return await self._look()
        async with self._looking:
            for backend in backends:
                await self._look_at_one(backend or "")

    async def _look_at_one(self, backend: str) -> None:
        try:
            text = await self._engine.runtime.read_dump(f"show servers state {argument(backend)}", r"1\n")
        except RuntimeRefused:
            text = ""
        rows = await beside_if(len(text) > LARGE, rows_of, text)
        self._compare(rows, [key for key in self.known if key[0] == backend and key not in rows])

    def _compare(self, rows: Mapping[Key, Row], gone: Iterable[Key]) -> None:
        """Publishes what differs from what is known, unless this is the first look."""
        differing = [key for key, row in rows.items() if self.known.get(key) != row]
        for key in (*differing, *gone):
            was, now = self.known.pop(key, None), rows.get(key)
            if was:
                self._heads.discard(was[0])
            if now:
                self.known[key] = now
                self._heads.add(now[0])
            if self._has_looked:
                self._publish(was, now)

    def _publish(self, was: Row | None, now: Row | None) -> None:
        row = now or was
        assert row
        members, former = as_dict(row), as_dict(was) if was and now else {}
        differing = {name: value for name, value in former.items() if value != members[name]}
        if was and now and not differing:
            return
        change = "changed" if was and now else "added" if now else "deleted"
        data: dict[str, Any] = {"change": change, **members}
        self._stream.publish(SERVER, object_of(row), data | {"former": differing} if differing else data)

    async def _read_ring(self) -> None:
        """What a ring does not report is seen a second later."""
        while True:
            self._reader = asyncio.create_task(self._read_lines())
            try:
                await asyncio.wait([self._reader])
            finally:
                self._reader.cancel()
            await asyncio.sleep(PAUSE if self._ring[0] else LOOK_SECONDS)

    async def _read_lines(self) -> None:
        """Reads lines until the worker closes the connection, or is replaced."""
        if not (name := self._ring[0]):
            return
        with suppress(OSError, ValueError, NativeError):
            async for line in ring.lines(self._engine.runtime, name):
                backends = ring.backends(line)
                self.look_at(*([None] if backends is None else backends))

    @property
    def _ring(self) -> tuple[str, bool]:
        """The ring that states reach, if any, and whether those of all servers do."""
        document = self._engine.running or self._engine.document
        if self._rings[0] is not document:
            self._rings = document, state_ring.ring(document), not state_ring.lines_to_add(document)
        return self._rings[1:]
