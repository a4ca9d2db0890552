"""Overrides as values, and the rows that keep them."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from haproxy_native.commit.servers_in_process import ADDRESS, PORT, STATE, WEIGHT
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.errors import Unusable
from haproxy_native.planning.effects import Effect

log = logging.getLogger(__name__)
_STATEMENTS = """\
CREATE TABLE override (object TEXT NOT NULL, member TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (object, member));
CREATE TABLE override_worker (id INTEGER PRIMARY KEY, worker TEXT NOT NULL);
"""
# Object and member.
Key = tuple[str, str]
READY, MAINTENANCE = "ready", "maint"
# By which member of the configuration's server each of them is what it is.
CONFIGURED = {STATE: "maintenance", WEIGHT: "weight", ADDRESS: "address", PORT: "port"}


@dataclass(frozen=True)
class Override:
    """One member of one server, by its object name. `former`: what it was before the first change. `since`: Unix time.

    `configured`: what the configuration says of it, as a text; None until that is looked up.
    """

    object: str
    member: str
    value: Any
    former: Any
    since: float
    author: str = ""
    configured: str | None = None


class OverrideLedger:
    """The overrides, in memory and as rows.

    `changed` is called after each change. `worker` has all overrides, as `pid@start`; `changes` counts what was stored and deleted.
    """

    def __init__(self, database: Database, changed: Callable[[], None] = lambda: None) -> None:
        database.declare(Tables("overrides", _STATEMENTS))
        self._database, self._changed = database, changed
        self.worker, self.changes = "", 0
        self._overrides: dict[Key, Override] = {}
        self.is_read = False
        try:
            self._know(*database.read(_read))
        except Unusable as error:
            log.warning("what was changed in the process is not known: %s", error)

    async def read(self) -> None:
        """Reads what could not be read at the start. Raises Unusable."""
        if not self.is_read:
            self._know(*await self._database.run(_read))

    def _know(self, worker: str, stored: Iterable[Override]) -> None:
        self._overrides = {_key(override): override for override in stored} | self._overrides
        self.worker, self.is_read = self.worker or worker, True

    def all(self) -> list[Override]:
        """The newest first."""
        return sorted(self._overrides.values(), key=lambda override: -override.since)

    def of(self, object_: str) -> list[Override]:
        return [override for override in self._overrides.values() if override.object == object_]

    def get(self, object_: str, member: str) -> Override | None:
        return self._overrides.get((object_, member))

    def keep(self, overrides: Sequence[Override]) -> None:
        """Forgets those whose first value is back."""
        self._change({_key(override): None if override.value == override.former else override for override in overrides})

    def forget(self, overrides: Iterable[Override]) -> None:
        self._change({key: None for override in overrides if (key := _key(override)) in self._overrides})

    def _change(self, changed: Mapping[Key, Override | None]) -> None:
        if not changed:
            return
        self._overrides = {key: each for key, each in {**self._overrides, **changed}.items() if each is not None}
        self.changes += 1
        self._changed()
        self._database.post(partial(_store, changed))

    def is_applied(self, worker: str) -> None:
        if worker != self.worker:
            self.worker = worker
            self._database.post(partial(_store_worker, worker))


def _key(override: Override) -> Key:
    return override.object, override.member


def _read(state: State) -> tuple[str, list[Override]]:
    """Returns the worker that has them, and the overrides."""
    rows = state.execute("SELECT data FROM override ORDER BY rowid").fetchall()
    worker = state.execute("SELECT worker FROM override_worker").fetchone()
    return worker[0] if worker else "", [Override(**json.loads(data)) for (data,) in rows]


def _store(changed: Mapping[Key, Override | None], state: State) -> None:
    with state.transaction(is_synced=False):
        for key, override in changed.items():
            state.execute("DELETE FROM override WHERE object = ? AND member = ?", key)
            if override:
                state.execute("INSERT INTO override VALUES (?, ?, ?)", (*key, json.dumps(vars(override))))


def _store_worker(worker: str, state: State) -> None:
    with state.transaction(is_synced=False):
        state.execute("INSERT OR REPLACE INTO override_worker VALUES (1, ?)", (worker,))


def ended(overrides: Iterable[Override], effects: Sequence[Effect]) -> list[Override]:
    """Returns the overrides whose member a change of the configuration changed, or whose server it deleted."""
    return [override for override in overrides if any(_ends(effect, override) for effect in effects)]


def in_process(object_: str) -> str:
    """The name of an object of the configuration as overrides have it: for a process a listen section is one of its backends."""
    kind, slash, rest = object_.partition("/")
    return f"backend{slash}{rest}" if kind == "listen" else object_


def _ends(effect: Effect, override: Override) -> bool:
    object_ = in_process(effect.object)
    if effect.member:
        return object_ == override.object and CONFIGURED.get(override.member) == effect.member
    return effect.new is None and f"{override.object}/".startswith(f"{object_}/")
