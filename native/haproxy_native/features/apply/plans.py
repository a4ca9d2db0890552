"""Store plans, so that a client can apply exactly the plan that it has reviewed: once, within an hour, even after a restart.

A plan also has the values that its objects had in the running process: members of servers, and digests of stored files. If the process has
other values when the client applies the plan, the plan is refused.
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
from haproxy_native.runtime.client import MANY
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.shares import Account, surplus
from haproxy_native.storage.store import Store
from haproxy_native.threads import run_in_thread

# How long a plan is valid.
SECONDS = 3600.0
# How many plans are stored, and how many bytes they may take together.
MOST, MOST_BYTES = 100, 1 << 26
# The length of the first part of a token, which identifies the caller that made the plan.
HOLDER_LENGTH = 8
_STATEMENTS = "CREATE TABLE plan (token TEXT PRIMARY KEY, until REAL NOT NULL, data TEXT NOT NULL, body BLOB NOT NULL)"
BACKEND, LISTEN, SERVER = "backend", "listen", "server"
# The store and path of each file, by object.
Files = Mapping[str, tuple[Store, Path]]


@dataclass(frozen=True)
class StoredPlan:
    """A stored plan: the request from which it was made, and the values that must be unchanged when it is carried out."""

    # The media type and the content of the declaration, and its query parameters.
    kind: str
    body: bytes
    options: Mapping[str, Any]
    # The digests of the planned changes.
    moves: Moves
    # The values in the running process; None if HAProxy did not answer.
    values: Values | None
    # The Unix time until which the plan is valid.
    until: float


class Plans:
    """The stored plans of one engine."""

    def __init__(self, database: Database) -> None:
        database.declare(Tables("plans", _STATEMENTS))
        self._database = database

    async def store(self, author: Author, kind: str, body: bytes, options: Mapping[str, Any], moves: Moves, values: Values | None) -> str:
        """Store a plan and return its token. Raises Unusable.

        Deletes expired plans. If there are still too many, deletes the oldest plans of the caller that has the most plans.
        """
        token = Account.from_author(author).holder + secrets.token_urlsafe(18)
        plan = StoredPlan(kind, body, options, moves, values, time.time() + SECONDS)

        def write_row(state: State) -> None:
            data = json.dumps(asdict(plan) | {"body": None})
            with state.transaction():
                state.execute("DELETE FROM plan WHERE until < ?", (time.time(),))
                query = "SELECT substr(token, 1, ?), -until, length(data) + length(body), token FROM plan"
                rows = state.execute(query, (HOLDER_LENGTH,)).fetchall()
                deleted = surplus(rows, MOST, MOST_BYTES, token[:HOLDER_LENGTH])
                state.executemany("DELETE FROM plan WHERE token = ?", [(each,) for each in deleted])
                state.execute("INSERT INTO plan VALUES (?, ?, ?, ?)", (token, plan.until, data, plan.body))

        await self._database.store(write_row)
        return token

    async def pop(self, token: str) -> StoredPlan:
        """Delete a stored plan and return it. Raises Unusable, and NoPlan if the plan does not exist or has expired."""

        def pop_row(state: State) -> StoredPlan:
            plan = _read_plan(token, state)
            with state.transaction():
                state.execute("DELETE FROM plan WHERE token = ?", (token,))
            return plan

        return await self._database.store(pop_row)

    async def get(self, token: str) -> StoredPlan:
        """Return a stored plan. Raises Unusable, and NoPlan if the plan does not exist or has expired."""
        return await self._database.run(partial(_read_plan, token))


def _read_plan(token: str, state: State) -> StoredPlan:
    row = state.execute("SELECT data, body FROM plan WHERE token = ?", (token,)).fetchone()
    if row is None:
        raise NoPlan(f"plan {token[:40]!r} does not exist: it was carried out, or has expired after an hour; request a new one")
    plan = StoredPlan(**json.loads(row[0]) | {"body": row[1]})
    if plan.until < time.time():
        raise NoPlan(f"plan {token} has expired after an hour; request a new one")
    return plan


def servers_of(preview: Preview) -> set[str]:
    """Return the object names of the servers that a plan changes, in the configuration or by runtime commands."""
    names = (parsed(effect.object) for effect in preview.effects if f"/{SERVER}/" in effect.object)
    servers = {spelled(BACKEND, name[1], SERVER, name[3]) for name in names if name[0] in (BACKEND, LISTEN) and name[2] == SERVER}
    return servers | {spelled(BACKEND, backend, SERVER, server) for backend, server in preview.servers}


async def values(context: CommitContext, servers: Collection[str], files: Files) -> Values:
    """Query the running process, and return, by object name, the members of servers and the digests of the files that it has loaded.

    Raises RuntimeFailure.
    """
    values_: dict[str, Any] = {}
    if servers:
        backends = await run_in_thread(lambda: {parsed(server)[1] for server in servers})
        states: list[ServerState] = []
        if len(backends) > MANY:
            states += await context.runtime.servers()
        else:
            for backend in backends:
                # HAProxy refuses a backend that does not exist yet.
                with suppress(RuntimeRefused):
                    states += await context.runtime.servers(backend)
        values_ |= await run_in_thread(_server_values, servers, states)
    for object_, (store, path) in files.items():
        values_[object_] = await store.loaded_digest(context, path)
    return values_


def _server_values(servers: Collection[str], states: Iterable[ServerState]) -> Values:
    """Return the members of servers, by object name. Members that an agent check or a resolver may change are omitted."""
    values_: dict[str, Any] = dict.fromkeys(sorted(servers))
    for state in states:
        if (object_ := spelled(BACKEND, state.backend_name, SERVER, state.name)) in values_:
            members: dict[str, Any] = {} if state.agent_enabled else {"state": state.forced_state, "weight": state.uweight}
            values_[object_] = members if state.fqdn != "-" else members | {"address": state.address, "port": state.port}
    return values_


async def known_values(context: CommitContext, preview: Preview, files: Files) -> Values | None:
    """Return the `values` of the servers that a plan changes, and of `files`. Return None if HAProxy does not answer."""
    with suppress(RuntimeFailure):
        return await values(context, await run_in_thread(servers_of, preview), files)
    return None


def verifier(context: CommitContext, planned: Values | None, files: Files) -> Callable[[], Awaitable[None]] | None:
    """Return a function that raises ChangedSince unless the running process still has the values `planned`.

    Return None if `planned` is None or empty.
    """
    if not planned:
        return None

    async def verify() -> None:
        servers = [object_ for object_ in planned if object_ not in files]
        planned_files = {object_: file for object_, file in files.items() if object_ in planned}
        try:
            present = await values(context, servers, planned_files)
        except RuntimeFailure as error:
            raise ChangedSince(f"HAProxy does not answer, so its state cannot be compared with the plan; {AGAIN}: {error}") from error
        refuse_moved_values(planned, present)

    return verify
