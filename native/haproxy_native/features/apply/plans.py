"""Store plans, so that a client can apply exactly what it was shown: once, within an hour, even after a restart.

A plan also has the values that its objects had in the running process: members of servers, and digests of stored files. If the process has
other values later, the plan is not carried out.
"""

import json
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.preview import Preview
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.editing.object_names import parsed, spelled
from haproxy_native.errors import ChangedSince, NoPlan, RuntimeFailure, RuntimeRefused
from haproxy_native.features.apply.planner import AGAIN, Moves, Values, refuse_moved_values
from haproxy_native.request_context import Author
from haproxy_native.runtime.client import MANY, Runtime
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.shares import Account, surplus
from haproxy_native.storage.store import Store
from haproxy_native.threads import run_in_thread

# How long a plan is valid.
SECONDS = 3600.0
# How many plans are stored, and how many bytes they may take together.
MOST, MOST_BYTES = 100, 1 << 26
# The length of the first part of a token, which identifies the caller who made the plan.
HOLDER_LENGTH = 8
_STATEMENTS = "CREATE TABLE plan (token TEXT PRIMARY KEY, until REAL NOT NULL, data TEXT NOT NULL, body BLOB NOT NULL)"
BACKEND, LISTEN, SERVER = "backend", "listen", "server"
# The store and path of each file, by object.
Files = Mapping[str, tuple[Store, Path]]


@dataclass(frozen=True)
class StoredPlan:
    """A stored plan: the request that it was made from, and what must be the same when it is carried out."""

    # The media type and the content of the declaration, and its query parameters.
    kind: str
    body: bytes
    options: Mapping[str, Any]
    # The digests of the planned changes.
    moves: Moves
    # The values in the running process; None if HAProxy did not answer.
    values: Values | None
    # The Unix time until which it is valid.
    until: float


class Plans:
    """The stored plans of one engine."""

    def __init__(self, database: Database) -> None:
        database.declare(Tables("plans", _STATEMENTS))
        self._database = database

    async def store(self, author: Author, kind: str, body: bytes, options: Mapping[str, Any], moves: Moves, values: Values | None) -> str:
        """Store a plan and return its token. If there are too many, delete the oldest of the caller with most plans. Raises Unusable."""
        token = Account.from_author(author).holder + secrets.token_urlsafe(18)
        await self._database.store(partial(_store, token, StoredPlan(kind, body, options, moves, values, time.time() + SECONDS)))
        return token

    async def pop(self, token: str) -> StoredPlan:
        """Delete a stored plan and return it, to carry it out. Raises NoPlan and Unusable."""
        return await self._database.store(partial(_pop, token))

    async def get(self, token: str) -> StoredPlan:
        """Return a stored plan. Raises NoPlan and Unusable."""
        return await self._database.run(partial(_get, token))


def _store(token: str, plan: StoredPlan, state: State) -> None:
    """Write a plan. Deletes expired plans, and others as far as there is no room."""
    data = json.dumps(asdict(plan) | {"body": None})
    with state.transaction():
        state.execute("DELETE FROM plan WHERE until < ?", (time.time(),))
        there = state.execute(
            "SELECT substr(token, 1, ?), -until, length(data) + length(body), token FROM plan", (HOLDER_LENGTH,)
        ).fetchall()
        gone = surplus(there, MOST, MOST_BYTES, token[:HOLDER_LENGTH])
        state.executemany("DELETE FROM plan WHERE token = ?", [(each,) for each in gone])
        state.execute("INSERT INTO plan VALUES (?, ?, ?, ?)", (token, plan.until, data, plan.body))


def _get(token: str, state: State) -> StoredPlan:
    row = state.execute("SELECT data, body FROM plan WHERE token = ?", (token,)).fetchone()
    if row is None:
        raise NoPlan(f"plan {token[:40]!r} does not exist: it was carried out, or has expired after an hour; request a new one")
    plan = StoredPlan(**json.loads(row[0]) | {"body": row[1]})
    if plan.until < time.time():
        raise NoPlan(f"plan {token} has expired after an hour; request a new one")
    return plan


def _pop(token: str, state: State) -> StoredPlan:
    plan = _get(token, state)
    with state.transaction():
        state.execute("DELETE FROM plan WHERE token = ?", (token,))
    return plan


def servers_of(preview: Preview) -> set[str]:
    """Return the object names of the servers that a plan changes, in the configuration or by runtime commands."""
    named = (parsed(effect.object) for effect in preview.effects if f"/{SERVER}/" in effect.object)
    servers = {spelled(BACKEND, name[1], SERVER, name[3]) for name in named if name[0] in (BACKEND, LISTEN) and name[2] == SERVER}
    return servers | {spelled(BACKEND, backend, SERVER, server) for backend, server in preview.servers}


async def values(context: CommitContext, servers: Collection[str], files: Files) -> Values:
    """Query the members of servers in the process, and the digests of the files that it has loaded, by object. Raises RuntimeFailure."""
    values_: dict[str, Any] = {}
    if servers:
        states = await _server_states(context.runtime, await run_in_thread(lambda: {parsed(server)[1] for server in servers}))
        values_ |= await run_in_thread(_server_values, servers, states)
    for object_, (store, path) in files.items():
        values_[object_] = await store.loaded_digest(context, path)
    return values_


def _server_values(servers: Collection[str], states: Iterable[ServerState]) -> Values:
    shown = {spelled(BACKEND, server.backend_name, SERVER, server.name): server for server in states}
    return {server: _server_members(shown[server]) if server in shown else None for server in sorted(servers)}


async def known_values(context: CommitContext, preview: Preview, files: Files) -> Values | None:
    """Return the `values` of the servers that a plan changes, and of `files`; None if HAProxy does not answer."""
    with suppress(RuntimeFailure):
        return await values(context, await run_in_thread(servers_of, preview), files)
    return None


def verifying(context: CommitContext, planned: Values | None, files: Files) -> Callable[[], Awaitable[None]] | None:
    """Return a function that raises ChangedSince unless the process still has the `planned` values. None if no values are planned."""
    if not planned:
        return None

    async def verify() -> None:
        try:
            now = await values(
                context, [object_ for object_ in planned if object_ not in files], {name: files[name] for name in files if name in planned}
            )
        except RuntimeFailure as error:
            raise ChangedSince(f"HAProxy does not answer, so its state cannot be compared with the plan; {AGAIN}: {error}") from error
        refuse_moved_values(planned, now)

    return verify


async def _server_states(runtime: Runtime, backends: Collection[str]) -> Iterable[ServerState]:
    if len(backends) > MANY:
        return await runtime.servers()
    states: list[ServerState] = []
    for backend in backends:
        try:
            states += await runtime.servers(backend)
        except RuntimeRefused:
            # The backend does not exist yet.
            continue
    return states


def _server_members(state: ServerState) -> dict[str, Any]:
    """Return the members of a server to compare, without those that an agent check or a resolver may change at any time."""
    members: dict[str, Any] = {} if state.agent_enabled else {"state": state.forced_state, "weight": state.uweight}
    return members if state.fqdn != "-" else members | {"address": state.address, "port": state.port}
