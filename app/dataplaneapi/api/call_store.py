"""Calls with an `Idempotency-Key`, and what was answered: kept for a day.

Where there are too many, the oldest of the caller goes that has the most: no caller makes another's calls be forgotten.

A call is written before it is made, and again with its answer before that is sent.
"""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial

from haproxy_native import shares
from haproxy_native.disk.database import Database, Result, State, Tables, Work
from haproxy_native.errors import Unusable

log = logging.getLogger(__name__)
SECONDS = 86400.0
# So many calls are kept of one caller, and of all. Longer answers are not kept; all of them together take no more, in bytes.
MOST_OF_ONE, MOST, LARGEST, MOST_BYTES = 1000, 10_000, 1 << 18, 64 << 20
# So many answers with secrets are kept, in memory alone.
MOST_SECRET = 100
_STATEMENTS = """\
CREATE TABLE call (name TEXT PRIMARY KEY, caller TEXT NOT NULL, began REAL NOT NULL, size INTEGER NOT NULL, data TEXT NOT NULL, body BLOB);
CREATE INDEX call_caller ON call (caller, began, size);
"""
_OLDEST_OF_ONE = "SELECT name FROM call WHERE caller = ? ORDER BY began DESC LIMIT -1 OFFSET ?"


@dataclass(frozen=True)
class KeptCall:
    """`began`: Unix time. `id`: that of the request. `request`: digest of its body. Without a `status` it has not ended; a `body` is None
    where it was not kept.

    `headers` are those of the answer, `ignored` those that name what nothing has read. `rights`: a digest of those that its caller had.
    """

    began: float
    request: str = ""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    id: str = ""
    rights: str = ""


class CallStore:
    """The calls in a database. A name is the caller's, a dash, and the call's."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        database.declare(Tables("calls", _STATEMENTS))
        self._database, self._clock = database, clock
        self._in_memory: dict[str, KeptCall] = {}

    async def find(self, name: str) -> KeptCall | None:
        """One of the last day. Raises Unusable where that cannot be known."""
        stored_call = self._in_memory.get(name) or await self._done(partial(_find, name))
        return stored_call if stored_call and stored_call.began > self._clock() - SECONDS else None

    async def begin(self, name: str, id_: str = "") -> KeptCall:
        """Raises Unusable."""
        call = KeptCall(self._clock(), id=id_)
        oldest = call.began - SECONDS
        self._in_memory = {each: kept for each, kept in self._in_memory.items() if kept.began > oldest}
        await self._done(partial(_begin, name, call, oldest))
        return call

    async def end(self, name: str, call: KeptCall, *, is_secret: bool) -> None:
        """Keeps the answer; one that is secret, or that the disk does not take, in memory alone."""
        is_large = len(call.body or b"") > LARGEST
        try:
            await self._database.store(partial(_store, name, replace(call, body=None) if is_secret or is_large else call))
        except Unusable as error:
            log.warning("the answer to a call with an Idempotency-Key is lost at the next start: %s", error)
            self._remember(name, replace(call, body=None) if is_large else call)
            return
        if is_secret and not is_large:
            self._remember(name, call)

    def forget(self, name: str) -> None:
        """A call that has done nothing may be made again."""
        self._database.post(partial(_forget, name))

    async def _done(self, work: Work[Result]) -> Result:
        try:
            return await self._database.run(work)
        except Unusable as error:
            raise Unusable(f"nothing was done: {error}") from error

    def _remember(self, name: str, call: KeptCall) -> None:
        self._in_memory[name] = call
        known = [(_caller(each), -place, 0, each) for place, each in enumerate(self._in_memory)]
        for gone in shares.surplus(known, MOST_SECRET + 1, 0, _caller(name)):
            del self._in_memory[gone]


def _caller(name: str) -> str:
    return name[: name.rindex("-")]


def _find(name: str, state: State) -> KeptCall | None:
    row = state.execute("SELECT data, body FROM call WHERE name = ?", (name,)).fetchone()
    if row is None:
        return None
    stored = json.loads(row[0])
    headers, ignored = (tuple((name, value) for name, value in stored[member]) for member in ("headers", "ignored"))
    return KeptCall(**stored | {"headers": headers, "ignored": ignored, "body": row[1]})


def _begin(name: str, call: KeptCall, oldest: float, state: State) -> None:
    """Writes it, and deletes the calls that are too old, or too many."""
    caller = _caller(name)
    with state.transaction():
        state.execute("DELETE FROM call WHERE began <= ?", (oldest,))
        state.execute(f"DELETE FROM call WHERE name IN ({_OLDEST_OF_ONE})", (caller, MOST_OF_ONE - 1))
        number, size = state.execute("SELECT count(*), coalesce(sum(size), 0) FROM call").fetchone()
        if number >= MOST or size > MOST_BYTES:
            left = state.execute("SELECT caller, -began, size, name FROM call").fetchall()
            state.executemany("DELETE FROM call WHERE name = ?", [(gone,) for gone in shares.surplus(left, MOST, MOST_BYTES, caller)])
        _insert(name, call, state)


def _store(name: str, call: KeptCall, state: State) -> None:
    with state.transaction():
        _insert(name, call, state)


def _insert(name: str, call: KeptCall, state: State) -> None:
    data = json.dumps(asdict(replace(call, body=None)))
    row = (name, _caller(name), call.began, len(data) + len(call.body or b""), data, call.body)
    state.execute("INSERT OR REPLACE INTO call VALUES (?, ?, ?, ?, ?, ?)", row)


def _forget(name: str, state: State) -> None:
    with state.transaction():
        state.execute("DELETE FROM call WHERE name = ?", (name,))
