"""Manage the definitions of all sources, and run a poller for each enabled one.

A definition acts with the current rights of its creator. Its source is not polled if the server is read-only, or if roles exist and the
creator is unknown. The status of the definition then contains the reason.
"""

import logging
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from haproxy_native.access.initiator import Initiator, RightsOf
from haproxy_native.discovery.aws import Aws
from haproxy_native.discovery.consul import Consul
from haproxy_native.discovery.definitions import STATUS, Definition, DefinitionStore, DiscoveryTable, check_definition, complete_definition
from haproxy_native.discovery.poller import STOPPED, Poller, Source
from haproxy_native.discovery.reconciler import Reconciler
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import parsed, spelled, within
from haproxy_native.engine import Engine
from haproxy_native.errors import READ_ONLY, Conflict, Forbidden, NativeError, NotFound
from haproxy_native.request_context import Author

NOBODY = Initiator()
UNKNOWN = "its creator is unknown, and roles are configured: it acts with the rights of the caller that replaces it"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DefinitionAuthors:
    """The authors of the changes that definitions make."""

    table: DiscoveryTable
    rights_of: RightsOf
    # Why no source is polled; empty if sources are polled.
    halted: str = ""

    def author(self, identity: str) -> Author:
        """Return the creator of a definition, with the creator's current rights.

        Raises Forbidden if roles exist, and the creator is unknown or no longer has a role.
        """
        creator = self.table.creator(identity)
        if creator == NOBODY and self.rights_of(creator.group, creator.name) is not None:
            raise Forbidden(UNKNOWN)
        return creator.author(self.rights_of)


class Definitions:
    """The definitions of one kind of source, and their pollers. All methods raise Unusable or Unreadable if the file cannot be used."""

    def __init__(
        self, kind: str, store: DefinitionStore, source: Callable[[Definition], Source], reconciler: Reconciler, authors: DefinitionAuthors
    ) -> None:
        self.kind, self._store, self._source, self._reconciler, self._authors = kind, store, source, reconciler, authors
        self._known: dict[str, Definition] | None = None
        self._pollers: dict[str, Poller] = {}

    def start(self) -> None:
        """Read the file and start the pollers. If that fails, log the error; the next call that needs the definitions tries again."""
        try:
            self._load()
        except NativeError as error:
            log.error("no service discovery with %s: %s", self.kind, error)

    async def close(self) -> None:
        for identity in list(self._pollers):
            await self._stop(identity)

    def list_all(self) -> list[Definition]:
        return [self.get(identity) for identity in sorted(self._load())]

    def get(self, identity: str) -> Definition:
        """Return a definition, with the status of its poller. Raises NotFound."""
        poller = self._pollers.get(identity)
        definition = self._find(identity)
        status = poller.status if poller else {}
        if not poller and self._authors.halted and definition.get("enabled"):
            status = {"state": STOPPED, "last_error": self._authors.halted}
        return {**definition, **({STATUS: status} if status else {})}

    def create(self, body: Mapping[str, Any], author: Author) -> Definition:
        """Create a definition with a new id. Raises BadRequest."""
        known = self._load()
        definition = complete_definition(body, str(uuid.uuid4()), consul=self.kind == "consul")
        self._save({**known, definition["id"]: definition})
        self._authors.table.set_creator(definition["id"], Initiator.from_author(author))
        self._poll(definition)
        return definition

    @property
    def place(self) -> Path:
        """The path of the file with the definitions."""
        return self._store.path

    def adopt(self, body: Mapping[str, Any]) -> None:
        """Add a definition from another installation under the id that it has there. Raises BadRequest and BadValue."""
        check_definition(body, self._store.member)
        known = self._load()
        definition = complete_definition(body, str(body.get("id") or uuid.uuid4()), consul=self.kind == "consul")
        self._save({**known, definition["id"]: definition})
        self._poll(definition)

    async def replace(self, identity: str, body: Mapping[str, Any], author: Author) -> Definition:
        """Replace a definition, which then acts with the rights of `author`. Raises NotFound and BadRequest."""
        self._find(identity)
        definition = complete_definition(body, identity, consul=self.kind == "consul")
        self._save({**self._load(), identity: definition})
        self._authors.table.set_creator(identity, Initiator.from_author(author))
        await self._stop(identity)
        self._poll(definition)
        return definition

    async def delete(self, identity: str) -> None:
        """Delete a definition, but not its backends and their servers. Raises NotFound."""
        self._find(identity)
        backends = self._authors.table.backends(identity)
        self._save({name: definition for name, definition in self._load().items() if name != identity})
        await self._stop(identity)
        self._authors.table.forget(identity)
        if backends:
            names = ", ".join(backends)
            log.warning("%s definition %s is deleted; its backends stay until you delete them: %s", self.kind, identity, names)

    def refuse_renaming(self, object_: str) -> None:
        """Raise Conflict if a definition refers to an object, or would create the object again after a renaming."""
        for identity, definition in self._load().items():
            title = f"{self.kind} definition {identity}"
            if any(within(object_, spelled("backend", name)) for name in self._authors.table.backends(identity)):
                raise Conflict(
                    f"{object_} is updated by the {title}, which would create it again; delete the definition first, or rename the service"
                )
            if (name := definition.get("defaults")) and object_ == spelled("defaults", name):
                remedy = "remove `defaults` from the definition, rename, and set `defaults` to the new name"
                raise Conflict(f"{object_} is used by the {title}; {remedy}")

    @property
    def backends(self) -> dict[str, str]:
        """The backends that definitions update, each with a description of its definition."""
        return {name: f"{self.kind} definition {identity}" for identity in self._load() for name in self._authors.table.backends(identity)}

    def _find(self, identity: str) -> Definition:
        if (definition := self._load().get(identity)) is None:
            raise NotFound("instance not found")
        return definition

    def _load(self) -> dict[str, Definition]:
        """Return all definitions by id. The first call reads the file and starts the pollers."""
        if self._known is None:
            definitions = [
                complete_definition(definition, definition.get("id") or str(uuid.uuid4()), consul=self.kind == "consul")
                for definition in self._store.read()
            ]
            self._known = {definition["id"]: definition for definition in definitions}
            for definition in definitions:
                self._poll(definition)
        return self._known

    def _save(self, definitions: dict[str, Definition]) -> None:
        self._store.write(definitions.values())
        self._known = definitions

    def _poll(self, definition: Definition) -> None:
        if definition.get("enabled") and not self._authors.halted:
            name = f"service discovery, {self.kind} {definition.get('name') or definition['id']}"
            apply = partial(self._reconciler.apply, definition)
            poller = self._pollers[definition["id"]] = Poller(
                name, definition["retry_timeout"], self._source(definition), apply, partial(self._authors.author, definition["id"])
            )
            poller.start()

    async def _stop(self, identity: str) -> None:
        if poller := self._pollers.pop(identity, None):
            await poller.stop()


class Discovery:
    """Polls the sources of all definitions within `async with`. `rights_of` returns the current rights of a caller."""

    def __init__(self, engine: Engine, editor: Editor, storage: Directory, rights_of: RightsOf = lambda group, name: None) -> None:
        table = DiscoveryTable(engine.database)
        reconciler = Reconciler(engine, editor, table)
        halted = READ_ONLY if engine.settings.read_only else ""
        authors = DefinitionAuthors(table, rights_of, halted)
        self.kinds = {
            "consul": Definitions("consul", DefinitionStore(storage, "consul.json", "consuls"), Consul, reconciler, authors),
            "aws": Definitions("aws", DefinitionStore(storage, "aws.json", "aws_regions"), Aws, reconciler, authors),
        }

    def list_stored_names(self, object_: str) -> list[str]:
        """Return an empty list, since discovery stores nothing under object names. Raises what `refuse_renaming` raises."""
        for kind in self.kinds.values():
            kind.refuse_renaming(object_)
        return []

    @property
    def backends(self) -> dict[str, str]:
        """The backends that definitions update, each with a description of its definition. Skips definitions that cannot be read."""
        backends: dict[str, str] = {}
        for kind in self.kinds.values():
            with suppress(NativeError):
                backends |= kind.backends
        return backends

    def list_uses(self, object_: str) -> list[str]:
        """Return the description of the definition that updates a backend, as a list of one element. Empty for any other object."""
        kind, *names = parsed(object_)
        return [self.backends[name] for name in names[:1] if kind == "backend" and len(names) == 1 and name in self.backends]

    @asynccontextmanager
    async def follow_rename(self, object_: str, to: str, author: Author) -> AsyncIterator[None]:
        yield

    async def __aenter__(self) -> Self:
        for kind in self.kinds.values():
            kind.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for kind_ in self.kinds.values():
            await kind_.close()
