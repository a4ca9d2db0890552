"""Store overrides, in memory and in the database, and find those that a change of the configuration ends.

Both hold the same rows, except for changes that are still queued for the disk. A crash of this process loses none that was written; a loss
of power may lose the last ones.
"""

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from haproxy_native.commit.servers_in_process import ADDRESS, PORT, STATE, WEIGHT
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.editing import object_names
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import Missing, NoParent, Unusable
from haproxy_native.planning.effects import Effect
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
_STATEMENTS = """\
CREATE TABLE override (object TEXT NOT NULL, member TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (object, member));
CREATE TABLE override_worker (id INTEGER PRIMARY KEY, worker TEXT NOT NULL);
"""
# An object and a member.
Key = tuple[str, str]
READY, MAINTENANCE = "ready", "maint"
# The names that the configuration has for the members of overrides.
CONFIGURED = {STATE: "maintenance", WEIGHT: "weight", ADDRESS: "address", PORT: "port"}
# Stands for the configured value of a server that the configuration does not contain.
ABSENT = ""


@dataclass(frozen=True)
class Override:
    """A member of a server that was changed in the process alone."""

    object: str
    member: str
    value: Any
    # The value before the first change, which is restored when the override is deleted.
    former: Any
    # The Unix time of the last change.
    since: float
    author: str = ""
    # The configured value when it was first looked up, as text; None before. If it changes, the override ends.
    configured: str | None = None


class OverrideLedger:
    """The overrides of one engine. Calls `changed` after each change in memory, and queues its write.

    `worker` is the name of the worker that has all overrides, as `PID@START`. `changes` counts the changes in memory.
    """

    def __init__(self, database: Database, changed: Callable[[], None] = lambda: None) -> None:
        database.declare(Tables("overrides", _STATEMENTS))
        self._database, self._changed = database, changed
        self.worker, self.changes = "", 0
        self._overrides: dict[Key, Override] = {}
        self.is_read = False
        try:
            self._add_stored(*database.read(_read))
        except Unusable as error:
            log.warning("reading the overrides failed: %s", error)

    async def read(self) -> None:
        """Read the overrides from the database if that failed at the start. Raises Unusable."""
        if not self.is_read:
            self._add_stored(*await self._database.run(_read))

    def _add_stored(self, worker: str, stored: Iterable[Override]) -> None:
        """Add what was read from the database. Overrides that were made in the meantime stay."""
        self._overrides = {_key(override): override for override in stored} | self._overrides
        self.worker, self.is_read = self.worker or worker, True

    def all(self) -> list[Override]:
        """Return the overrides, the newest first."""
        return sorted(self._overrides.values(), key=lambda override: -override.since)

    def overrides_of(self, object_: str) -> list[Override]:
        """Return the overrides of a server."""
        return [override for override in self._overrides.values() if override.object == object_]

    def get(self, object_: str, member: str) -> Override | None:
        return self._overrides.get((object_, member))

    def store(self, overrides: Sequence[Override]) -> None:
        """Store overrides. One whose value equals its former value again is deleted instead."""
        self._change({_key(override): None if override.value == override.former else override for override in overrides})

    def delete(self, overrides: Iterable[Override]) -> None:
        self._change({key: None for override in overrides if (key := _key(override)) in self._overrides})

    def _change(self, changed: Mapping[Key, Override | None]) -> None:
        if not changed:
            return
        self._overrides = {key: each for key, each in {**self._overrides, **changed}.items() if each is not None}
        self.changes += 1
        self._changed()
        self._database.post(partial(_store, changed))

    def set_worker(self, worker: str) -> None:
        """Record that a worker has all overrides."""
        if worker != self.worker:
            self.worker = worker
            self._database.post(partial(_store_worker, worker))


def _key(override: Override) -> Key:
    return override.object, override.member


def _read(state: State) -> tuple[str, list[Override]]:
    """Return the name of the worker that has all overrides, and the overrides."""
    rows = state.execute("SELECT data FROM override ORDER BY rowid").fetchall()
    worker = state.execute("SELECT worker FROM override_worker").fetchone()
    return worker[0] if worker else "", [Override(**json.loads(data)) for (data,) in rows]


def _store(changed: Mapping[Key, Override | None], state: State) -> None:
    """Replace the rows of these overrides; None deletes one."""
    with state.transaction(is_synced=False):
        for key, override in changed.items():
            state.execute("DELETE FROM override WHERE object = ? AND member = ?", key)
            if override:
                state.execute("INSERT INTO override VALUES (?, ?, ?)", (*key, json.dumps(vars(override))))


def _store_worker(worker: str, state: State) -> None:
    with state.transaction(is_synced=False):
        state.execute("INSERT OR REPLACE INTO override_worker VALUES (1, ?)", (worker,))


def ended(overrides: Iterable[Override], effects: Sequence[Effect]) -> list[Override]:
    """Return the overrides that these effects of a change end: it has changed their member or deleted their server."""
    return [override for override in overrides if any(_ends(effect, override) for effect in effects)]


def in_process(object_: str) -> str:
    """Return the name that an object of the configuration has in the process, where a listen section is a backend."""
    kind, slash, rest = object_.partition("/")
    return f"backend{slash}{rest}" if kind == "listen" else object_


def _ends(effect: Effect, override: Override) -> bool:
    object_ = in_process(effect.object)
    if effect.member:
        return object_ == override.object and CONFIGURED.get(override.member) == effect.member
    return effect.new is None and f"{override.object}/".startswith(f"{object_}/")


def configured(editor: Editor, document: Document, overrides: Iterable[Override]) -> dict[tuple[str, str], str]:
    """Return the configured values of overridden members as texts, by object and member; ABSENT if the server is not configured."""
    by_backend: dict[str, list[Override]] = defaultdict(list)
    for override in overrides:
        by_backend[object_names.parsed(override.object)[1]].append(override)
    values = {}
    for backend, rows in by_backend.items():
        servers = _servers(editor, document, backend)
        values.update({(row.object, row.member): _value(servers.get(object_names.parsed(row.object)[3]), row.member) for row in rows})
    return values


def _servers(editor: Editor, document: Document, backend: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the configured servers of a backend or listen section, by name."""
    table = editor.resources
    for kind in table["servers"].parents:
        with suppress(Missing, NoParent):
            if servers := editor.list_objects(document, table["servers"], (table[kind], backend)):
                return {server["name"]: server for server in servers}
    return {}


def _value(server: Mapping[str, Any] | None, member: str) -> str:
    """Return the configured value of a server for a member of overrides, as text."""
    if server is None:
        return ABSENT
    if member == STATE:
        return MAINTENANCE if server.get("maintenance") == "enabled" else READY
    return str(server.get(member))
