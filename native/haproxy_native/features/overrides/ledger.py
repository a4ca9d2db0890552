"""Store overrides, in memory and in the database, and find those that a change of the configuration ends.

Changes in memory are queued for the database. A crash of this process loses the queued changes. A power failure may also lose changes that
were written shortly before.
"""

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
# The object name of a server, and the name of a member.
Key = tuple[str, str]
READY, MAINTENANCE = "ready", "maint"
# The names that the configuration has for the members of overrides.
CONFIGURED = {STATE: "maintenance", WEIGHT: "weight", ADDRESS: "address", PORT: "port"}
# Stands for the configured value of a server that the configuration does not contain.
ABSENT = ""


@dataclass(frozen=True)
class Override:
    """A member of a server that was changed in the running process but not in the configuration."""

    object: str
    member: str
    value: Any
    # The value before the first change, which is restored when the override is deleted.
    former: Any
    # The Unix time of the last change.
    since: float
    author: str = ""
    # The configured value as text; None until it was looked up. The override ends if the configured value changes afterwards.
    configured: str | None = None


class OverrideLedger:
    """The overrides of one engine.

    Each change in memory calls `changed`, and is queued for the database. `worker` is the name of the worker that has all overrides, as
    `PID@START`. `changes` is the number of changes in memory.
    """

    def __init__(self, database: Database, changed: Callable[[], None] = lambda: None) -> None:
        database.declare(Tables("overrides", _STATEMENTS))
        self._database, self._changed = database, changed
        self.worker, self.changes = "", 0
        self._overrides: dict[Key, Override] = {}
        self.is_read = False
        try:
            self._add_stored(*database.read(_read_rows))
        except Unusable as error:
            log.warning("reading the overrides failed: %s", error)

    async def read(self) -> None:
        """Read the overrides from the database if that failed at the start. Raises Unusable."""
        if not self.is_read:
            self._add_stored(*await self._database.run(_read_rows))

    def _add_stored(self, worker: str, stored: Iterable[Override]) -> None:
        """Add overrides from the database. An override of the same member in memory is newer, and stays."""
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
        """Store overrides. An override whose value equals its former value is deleted instead."""
        self._change({_key(override): None if override.value == override.former else override for override in overrides})

    def delete(self, overrides: Iterable[Override]) -> None:
        self._change({key: None for override in overrides if (key := _key(override)) in self._overrides})

    def _change(self, rows: Mapping[Key, Override | None]) -> None:
        """Replace these overrides; None deletes one."""
        if not rows:
            return
        self._overrides = {key: override for key, override in {**self._overrides, **rows}.items() if override is not None}
        self.changes += 1
        self._changed()

        def write(state: State) -> None:
            with state.transaction(is_synced=False):
                for key, override in rows.items():
                    state.execute("DELETE FROM override WHERE object = ? AND member = ?", key)
                    if override:
                        state.execute("INSERT INTO override VALUES (?, ?, ?)", (*key, json.dumps(vars(override))))

        self._database.post(write)

    def set_worker(self, worker: str) -> None:
        """Record that a worker has all overrides."""
        if worker == self.worker:
            return
        self.worker = worker

        def write(state: State) -> None:
            with state.transaction(is_synced=False):
                state.execute("INSERT OR REPLACE INTO override_worker VALUES (1, ?)", (worker,))

        self._database.post(write)


def _key(override: Override) -> Key:
    return override.object, override.member


def _read_rows(state: State) -> tuple[str, list[Override]]:
    """Return the name of the worker that has all overrides, and the overrides."""
    rows = state.execute("SELECT data FROM override ORDER BY rowid").fetchall()
    worker = state.execute("SELECT worker FROM override_worker").fetchone()
    return worker[0] if worker else "", [Override(**json.loads(data)) for (data,) in rows]


def name_in_process(object_: str) -> str:
    """Return the name that an object of the configuration has in the process, where a listen section is a backend."""
    kind, slash, rest = object_.partition("/")
    return f"backend{slash}{rest}" if kind == "listen" else object_


def ended_overrides(overrides: Iterable[Override], effects: Sequence[Effect]) -> list[Override]:
    """Return the overrides that a change of the configuration ends, because it changes their member or deletes their server."""
    ended = []
    for override in overrides:
        for effect in effects:
            object_ = name_in_process(effect.object)
            is_changed = object_ == override.object and effect.member != "" and effect.member == CONFIGURED.get(override.member)
            is_deleted = effect.new is None and not effect.member and f"{override.object}/".startswith(f"{object_}/")
            if is_changed or is_deleted:
                ended.append(override)
                break
    return ended


def configured_values(editor: Editor, document: Document, overrides: Iterable[Override]) -> dict[Key, str]:
    """Return the configured values of overridden members as texts; ABSENT if the server is not configured."""
    by_backend: dict[str, list[Override]] = defaultdict(list)
    for override in overrides:
        by_backend[object_names.parsed(override.object)[1]].append(override)
    resources, values = editor.resources, dict[Key, str]()
    for backend, rows in by_backend.items():
        servers: dict[str, Mapping[str, Any]] = {}
        for kind in resources["servers"].parents:
            if not servers:
                with suppress(Missing, NoParent):
                    listed = editor.list_objects(document, resources["servers"], (resources[kind], backend))
                    servers = {server["name"]: server for server in listed}
        for row in rows:
            server = servers.get(object_names.parsed(row.object)[3])
            if server is None:
                value = ABSENT
            elif row.member == STATE:
                value = MAINTENANCE if server.get("maintenance") == "enabled" else READY
            else:
                value = str(server.get(row.member))
            values[row.object, row.member] = value
    return values
