"""Plans that are kept to be carried out later, as they were shown: once, within an hour, also after a restart."""

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.errors import NoPlan
from haproxy_native.features.apply.moves import Moves, Values
from haproxy_native.request_context import Author
from haproxy_native.shares import Caller, surplus

SECONDS = 3600.0
# So many are kept, of so many bytes together.
MOST, MOST_BYTES = 100, 1 << 26
# How many characters of a token say whose it is.
HOLDER = 8
_STATEMENTS = "CREATE TABLE plan (token TEXT PRIMARY KEY, until REAL NOT NULL, data TEXT NOT NULL, body BLOB NOT NULL)"


@dataclass(frozen=True)
class KeptPlan:
    """`body` is a declaration as it was sent, of the media type `kind`; `options` are its parameters. `moves`: what it changes. `values`:
    what the running process had of that, None where it was not known.

    `until`: Unix time.
    """

    kind: str
    body: bytes
    options: Mapping[str, Any]
    moves: Moves
    values: Values | None
    until: float


class Plans:
    """The plans in a database."""

    def __init__(self, database: Database) -> None:
        database.declare(Tables("plans", _STATEMENTS))
        self._database = database

    async def keep(self, author: Author, kind: str, body: bytes, options: Mapping[str, Any], moves: Moves, values: Values | None) -> str:
        """Returns its token. Where there are too many, the oldest of the caller goes that has the most. Raises Unusable."""
        token = Caller.of(author).holder + secrets.token_urlsafe(18)
        await self._database.store(partial(_store, token, KeptPlan(kind, body, options, moves, values, time.time() + SECONDS)))
        return token

    async def take(self, token: str) -> KeptPlan:
        """Return a stored plan and delete it, since it is carried out once. Raises NoPlan and Unusable."""
        return await self._database.store(partial(_take, token))

    async def stored(self, token: str) -> KeptPlan:
        """Return a stored plan. Raises NoPlan and Unusable."""
        return await self._database.run(partial(_stored, token))


def _store(token: str, plan: KeptPlan, state: State) -> None:
    """Writes it, and deletes plans that are too old, or leave no room for it."""
    data = json.dumps(asdict(plan) | {"body": None})
    with state.transaction():
        state.execute("DELETE FROM plan WHERE until < ?", (time.time(),))
        there = state.execute("SELECT substr(token, 1, ?), -until, length(data) + length(body), token FROM plan", (HOLDER,)).fetchall()
        gone = surplus(there, MOST, MOST_BYTES, token[:HOLDER])
        state.executemany("DELETE FROM plan WHERE token = ?", [(each,) for each in gone])
        state.execute("INSERT INTO plan VALUES (?, ?, ?, ?)", (token, plan.until, data, plan.body))


def _stored(token: str, state: State) -> KeptPlan:
    row = state.execute("SELECT data, body FROM plan WHERE token = ?", (token,)).fetchone()
    if row is None:
        raise NoPlan(f"there is no plan {token[:40]!r}: it was carried out, or an hour has passed; ask for a new one")
    plan = KeptPlan(**json.loads(row[0]) | {"body": row[1]})
    if plan.until < time.time():
        raise NoPlan(f"plan {token} is older than an hour; ask for a new one")
    return plan


def _take(token: str, state: State) -> KeptPlan:
    plan = _stored(token, state)
    with state.transaction():
        state.execute("DELETE FROM plan WHERE token = ?", (token,))
    return plan
