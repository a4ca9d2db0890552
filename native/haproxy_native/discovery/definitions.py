"""Complete, check and store the definitions of sources that clients create.

The files have the names and the format of the Data Plane API. They contain tokens and keys, so only their owner may read them. A database
table has two facts that the files lack: the backends of a definition, by which the next process notices services that have vanished while
the server was down, and the creator, whose permissions the definition has.
"""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from haproxy_native.access.initiator import Initiator
from haproxy_native.disk.atomic import write_atomically
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.disk.directories import Directory
from haproxy_native.errors import BadRequest, BadValue, Unreadable, Unusable
from haproxy_native.models import model

Definition = dict[str, Any]
# Below the storage directory.
DIRECTORY = "service_discovery"
FEWEST_SLOTS = LEAST_INCREMENT = 10
# The member with a poller's status. It is not stored, although clients that edit what they have received send it back.
STATUS = "status"
REQUIRED = {
    "consuls": ("address", "port", "enabled", "retry_timeout"),
    "aws_regions": ("name", "region", "enabled", "retry_timeout", "ipv4_address"),
}
_MODELS = {"consuls": "consul", "aws_regions": "aws_region"}


def check_definition(definition: Mapping[str, Any], member: str) -> None:
    """Raise BadValue if a definition lacks a required member, or if a member has a wrong type. `member`: `consuls` or `aws_regions`."""
    if missing := [name for name in REQUIRED[member] if name not in definition]:
        raise BadValue(f"a definition has no {missing[0]}")
    try:
        model(_MODELS[member]).model_validate(definition)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            if detail["type"].endswith("_type"):
                raise BadValue(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}") from None


def complete_definition(body: Mapping[str, Any], identity: str, *, consul: bool) -> Definition:
    """Return the definition in `body` with the id `identity`, defaults for missing members, and minimums applied. Raises BadRequest.

    The members are sorted by name, and empty members are removed.
    """
    definition = {name: value for name, value in body.items() if value not in (None, "", []) and name != STATUS} | {"id": identity}
    definition.setdefault("server_slots_growth_type", "exponential")
    definition["server_slots_base"] = max(definition.get("server_slots_base", 0), FEWEST_SLOTS)
    if definition["server_slots_growth_type"] == "linear":
        definition["server_slots_growth_increment"] = max(definition.get("server_slots_growth_increment", 0), LEAST_INCREMENT)
    if consul:
        definition.setdefault("mode", "http")
        definition.setdefault("health_check_policy", "none")
        if definition["health_check_policy"] == "min" and definition.get("health_check_policy_min", 0) <= 0:
            raise BadRequest("health_check_policy_min is required for 'min' health_check_policy")
    return dict(sorted(definition.items()))


class DefinitionStore:
    """The definitions of one kind in service_discovery/`file` of the storage directory: `{"<member>": [definition, ...]}`. Blocks."""

    def __init__(self, directory: Directory, file: str, member: str) -> None:
        self.directory, self.file, self.member = directory, file, member

    @property
    def path(self) -> Path:
        return self.directory.path / DIRECTORY / self.file

    def read(self) -> list[Definition]:
        """Return the definitions; none if the file is missing or empty. Raises Unusable, and Unreadable for a malformed file."""
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
            raise Unreadable(f"{path} does not contain valid {self.member}: {type(error).__name__} {error}; fix it or remove it") from error

    def write(self, definitions: Iterable[Definition]) -> None:
        """Replace all definitions. If it raises Unusable, the file still has its former content."""
        content: dict[str, Any] = {self.member: [dict(sorted(definition.items())) for definition in definitions]}
        with self.directory.used() as directory:
            (directory / DIRECTORY).mkdir(mode=0o750, exist_ok=True)
            write_atomically(self.path, json.dumps(content, indent=2, ensure_ascii=False).encode())


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DefinitionRow:
    """What the database stores about a definition."""

    # The backends that the definition has created, sorted.
    backends: tuple[str, ...] = ()
    # The caller that created or last replaced the definition through the API. An unknown caller has no name.
    creator: Initiator = field(default_factory=Initiator)


class DiscoveryTable:
    """The rows of all definitions, in memory and in the database.

    Writes are queued. If a crash loses a write, the creator of the definition is unknown, as if somebody had added the definition to the
    file by hand. A service that then vanishes while the server is down leaves its servers in the backend.
    """

    def __init__(self, database: Database) -> None:
        statement = "CREATE TABLE discovery (definition TEXT PRIMARY KEY, backends TEXT NOT NULL, creator TEXT NOT NULL)"
        database.declare(Tables("discovery", statement))
        self._database = database
        self._known: dict[str, DefinitionRow] = {}
        try:
            self._known = database.read(_read_rows)
        except Unusable as error:
            log.warning("reading the table of service discovery failed: %s", error)

    def backends(self, definition: str) -> list[str]:
        return list(self._known.get(definition, DefinitionRow()).backends)

    def creator(self, definition: str) -> Initiator:
        """Return the creator of a definition. An unknown creator is an initiator without a name."""
        return self._known.get(definition, DefinitionRow()).creator

    def set_backends(self, definition: str, backends: Iterable[str]) -> None:
        self._set(definition, backends=tuple(sorted(backends)))

    def set_creator(self, definition: str, creator: Initiator) -> None:
        self._set(definition, creator=creator)

    def forget(self, definition: str) -> None:
        self._set(definition, backends=(), creator=Initiator())

    def _set(self, definition: str, **members: Any) -> None:
        former = self._known.get(definition, DefinitionRow())
        row = replace(former, **members)

        def store(state: State) -> None:
            with state.transaction(is_synced=False):
                if row == DefinitionRow():
                    state.execute("DELETE FROM discovery WHERE definition = ?", (definition,))
                else:
                    values = (definition, json.dumps(row.backends), json.dumps(row.creator.as_dict()))
                    state.execute("INSERT OR REPLACE INTO discovery VALUES (?, ?, ?)", values)

        if row != former:
            self._known[definition] = row
            self._database.post(store)


def _read_rows(state: State) -> dict[str, DefinitionRow]:
    rows = state.execute("SELECT definition, backends, creator FROM discovery").fetchall()
    return {name: DefinitionRow(tuple(json.loads(backends)), Initiator.from_dict(json.loads(creator))) for name, backends, creator in rows}
