"""What is remembered of each definition, as rows of the database: the definitions themselves are in the reference's files."""

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from haproxy_native.access.initiator import Initiator
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.errors import Unusable

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Remembered:
    """The backends that a definition has created, sorted, and who has created the definition through the API."""

    backends: tuple[str, ...] = ()
    creator: Initiator = field(default_factory=Initiator)


class DiscoveryTable:
    """The rows by the id of their definition, in memory as in the database.

    Writes are queued. If one is lost, backends of services that vanish while the server is down keep their servers, and the creator is
    unknown, as of a definition that was written into a file.
    """

    def __init__(self, database: Database) -> None:
        statement = "CREATE TABLE discovery (definition TEXT PRIMARY KEY, backends TEXT NOT NULL, creator TEXT NOT NULL)"
        database.declare(Tables("discovery", statement))
        self._database = database
        self._known: dict[str, Remembered] = {}
        try:
            self._known = database.read(_read)
        except Unusable as error:
            log.warning("reading what service discovery remembers failed: %s", error)

    def backends(self, definition: str) -> list[str]:
        return list(self._known.get(definition, Remembered()).backends)

    def creator(self, definition: str) -> Initiator:
        """Return an initiator without a name if the creator is unknown."""
        return self._known.get(definition, Remembered()).creator

    def set_backends(self, definition: str, backends: Iterable[str]) -> None:
        self._set(definition, backends=tuple(sorted(backends)))

    def set_creator(self, definition: str, creator: Initiator) -> None:
        self._set(definition, creator=creator)

    def forget(self, definition: str) -> None:
        self._set(definition, backends=(), creator=Initiator())

    def _set(self, definition: str, **members: Any) -> None:
        former = self._known.get(definition, Remembered())
        row = replace(former, **members)
        if row != former:
            self._known[definition] = row
            self._database.post(partial(_store, definition, row))


def _read(state: State) -> dict[str, Remembered]:
    rows = state.execute("SELECT definition, backends, creator FROM discovery").fetchall()
    return {name: Remembered(tuple(json.loads(backends)), Initiator.of(json.loads(creator))) for name, backends, creator in rows}


def _store(definition: str, row: Remembered, state: State) -> None:
    with state.transaction(is_synced=False):
        if row == Remembered():
            state.execute("DELETE FROM discovery WHERE definition = ?", (definition,))
        else:
            values = (definition, json.dumps(row.backends), json.dumps(row.creator.as_dict()))
            state.execute("INSERT OR REPLACE INTO discovery VALUES (?, ?, ?)", values)
