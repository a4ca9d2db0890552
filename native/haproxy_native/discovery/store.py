"""What discovery stores: the definitions in the reference's files, and rows about them in the database.

The files contain tokens and keys, so only their owner may read them. The rows say which backends a definition has created, so that a
service which vanishes while the server is down is noticed, and who has created the definition, whose permissions it has.
"""

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from haproxy_native.access.initiator import Initiator
from haproxy_native.discovery.services import Definition, check_definition
from haproxy_native.disk.atomic import write_atomically
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.disk.directories import Directory
from haproxy_native.errors import BadValue, Unreadable, Unusable

DIRECTORY = "service_discovery"


class DefinitionStore:
    """`{"<member>": [definition, ...]}` in service_discovery/`file` of the storage directory."""

    def __init__(self, directory: Directory, file: str, member: str) -> None:
        self.directory, self.file, self.member = directory, file, member

    @property
    def path(self) -> Path:
        return self.directory.path / DIRECTORY / self.file

    def read(self) -> list[Definition]:
        """Return the definitions; none if the file is empty or missing. Raises Unusable, and Unreadable for a malformed file."""
        self.directory.readable()
        path = self.path
        try:
            text = path.read_text() if path.exists() else ""
            entries = json.loads(text)[self.member] if text.strip() else []
            definitions = [dict(entry) for entry in entries or []]
            for definition in definitions:
                check_definition(definition, self.member)
            return definitions
        except OSError as error:
            raise self.directory.unusable(error) from error
        except (BadValue, KeyError, TypeError, ValueError, RecursionError) as error:
            raise Unreadable(f"{path} holds no {self.member}: {type(error).__name__} {error}; fix it or remove it") from error

    def write(self, definitions: Iterable[Definition]) -> None:
        """Replace the definitions. Raises Unusable with the former content in place."""
        content: dict[str, Any] = {self.member: [dict(sorted(definition.items())) for definition in definitions]}
        with self.directory.used() as directory:
            (directory / DIRECTORY).mkdir(mode=0o750, exist_ok=True)
            write_atomically(self.path, json.dumps(content, indent=2, ensure_ascii=False).encode())


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Remembered:
    """The row of a definition."""

    # That it has created, sorted.
    backends: tuple[str, ...] = ()
    # Who created it through the API; without a name if that is unknown.
    creator: Initiator = field(default_factory=Initiator)


class DiscoveryTable:
    """The rows by the id of their definition, in memory and in the database.

    Writes are queued. If one is lost, backends of services that vanish while the server is down keep their servers, and the creator is
    unknown, as for a definition that somebody wrote into the file.
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
