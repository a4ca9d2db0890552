"""Service discovery: the definitions of all sources, and a poller for each enabled one.

A definition acts with the rights that its creator has now. If roles exist and its creator is unknown, or the server is read-only, nothing
is polled, and the definition's status says why.
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
from haproxy_native.discovery.poller import STOPPED, Poller, Source
from haproxy_native.discovery.reconciler import Reconciler
from haproxy_native.discovery.services import STATUS, Definition, check_definition, completed
from haproxy_native.discovery.store import DefinitionStore, DiscoveryTable
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import parsed, spelled, within
from haproxy_native.engine import Engine
from haproxy_native.errors import READ_ONLY, Conflict, Forbidden, NativeError, NotFound
from haproxy_native.request_context import Author

NOBODY = Initiator()
UNKNOWN = "it is not known who has defined this, and there are roles: it acts with the rights of the caller that replaces it"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Acting:
    """On whose behalf sources are polled."""

    table: DiscoveryTable
    rights_of: RightsOf
    # Why none is polled.
    halted: str = ""

    def author(self, identity: str) -> Author:
        """Return the author whose rights a definition has. Raises Forbidden."""
        creator = self.table.creator(identity)
        if creator == NOBODY and self.rights_of(creator.group, creator.name) is not None:
            raise Forbidden(UNKNOWN)
        return creator.author(self.rights_of)


class Definitions:
    """The definitions of one kind of source. Every method raises Unusable or Unreadable if the file cannot be written or read."""

    def __init__(
        self, kind: str, store: DefinitionStore, source: Callable[[Definition], Source], reconciler: Reconciler, acting: Acting
    ) -> None:
        self.kind, self._store, self._source, self._reconciler, self._acting = kind, store, source, reconciler, acting
        self._known: dict[str, Definition] | None = None
        self._pollers: dict[str, Poller] = {}

    def start(self) -> None:
        """Read the file, and poll. If that fails, the first call that needs the definitions tries again."""
        try:
            self._all()
        except NativeError as error:
            log.error("no service discovery with %s: %s", self.kind, error)

    async def close(self) -> None:
        for identity in list(self._pollers):
            await self._stop(identity)

    def list_all(self) -> list[Definition]:
        return [self.get(identity) for identity in sorted(self._all())]

    def get(self, identity: str) -> Definition:
        """Return a definition, with the status of its poller. Raises NotFound."""
        poller = self._pollers.get(identity)
        status = poller.status if poller else self._halted(identity)
        return {**self._find(identity), **({STATUS: status} if status else {})}

    def create(self, body: Mapping[str, Any], author: Author) -> Definition:
        """Create a definition with a new id. Raises BadRequest."""
        known = self._all()
        definition = completed(body, str(uuid.uuid4()), consul=self.kind == "consul")
        self._save({**known, definition["id"]: definition})
        self._acting.table.set_creator(definition["id"], Initiator.of_author(author))
        self._poll(definition)
        return definition

    @property
    def place(self) -> Path:
        """The file of the definitions."""
        return self._store.path

    def adopt(self, body: Mapping[str, Any]) -> None:
        """Add a definition of another installation, with its own id if it has one. Raises BadRequest and BadValue."""
        check_definition(body, self._store.member)
        known = self._all()
        definition = completed(body, str(body.get("id") or uuid.uuid4()), consul=self.kind == "consul")
        self._save({**known, definition["id"]: definition})
        self._poll(definition)

    async def replace(self, identity: str, body: Mapping[str, Any], author: Author) -> Definition:
        """Replace a definition, which then acts with the rights of `author`. Raises NotFound and BadRequest."""
        self._find(identity)
        definition = completed(body, identity, consul=self.kind == "consul")
        self._save({**self._all(), identity: definition})
        self._acting.table.set_creator(identity, Initiator.of_author(author))
        await self._stop(identity)
        self._poll(definition)
        return definition

    async def delete(self, identity: str) -> None:
        """Delete a definition. Its backends stay, with their servers. Raises NotFound."""
        self._find(identity)
        left = self._acting.table.backends(identity)
        self._save({name: definition for name, definition in self._all().items() if name != identity})
        await self._stop(identity)
        self._acting.table.forget(identity)
        if left:
            log.warning("%s definition %s is deleted; its backends stay, and are yours to delete: %s", self.kind, identity, ", ".join(left))

    def refuse_renaming(self, object_: str) -> None:
        """Raise Conflict for an object that a definition would create again, or that it names."""
        for identity, definition in self._all().items():
            place = f"{self.kind} definition {identity}"
            if any(within(object_, spelled("backend", name)) for name in self._acting.table.backends(identity)):
                raise Conflict(f"{object_} is of the {place}, which makes it again: delete the definition first, or rename the service")
            if (name := definition.get("defaults")) and object_ == spelled("defaults", name):
                raise Conflict(f"{object_} is named by the {place}: replace that without defaults first, and with the new name afterwards")

    @property
    def backends(self) -> dict[str, str]:
        """Return the backends that definitions keep up to date, each with its definition."""
        return {name: f"{self.kind} definition {identity}" for identity in self._all() for name in self._acting.table.backends(identity)}

    def _find(self, identity: str) -> Definition:
        if (definition := self._all().get(identity)) is None:
            raise NotFound("instance not found")
        return definition

    def _all(self) -> dict[str, Definition]:
        if self._known is None:
            read = [
                completed(definition, definition.get("id") or str(uuid.uuid4()), consul=self.kind == "consul")
                for definition in self._store.read()
            ]
            self._known = {definition["id"]: definition for definition in read}
            for definition in read:
                self._poll(definition)
        return self._known

    def _save(self, definitions: dict[str, Definition]) -> None:
        self._store.write(definitions.values())
        self._known = definitions

    def _poll(self, definition: Definition) -> None:
        if definition.get("enabled") and not self._acting.halted:
            name = f"service discovery, {self.kind} {definition.get('name') or definition['id']}"
            apply = partial(self._reconciler.apply, definition)
            poller = self._pollers[definition["id"]] = Poller(
                name, definition["retry_timeout"], self._source(definition), apply, partial(self._acting.author, definition["id"])
            )
            poller.start()

    def _halted(self, identity: str) -> dict[str, str]:
        """Return the status of an enabled definition that is not polled; empty for any other."""
        is_halted = self._acting.halted and self._find(identity).get("enabled")
        return {"state": STOPPED, "last_error": self._acting.halted} if is_halted else {}

    async def _stop(self, identity: str) -> None:
        if poller := self._pollers.pop(identity, None):
            await poller.stop()


class Discovery:
    """Polls the sources of all definitions within `async with`. `rights_of` returns the rights that a definition's creator has now."""

    def __init__(self, engine: Engine, editor: Editor, storage: Directory, rights_of: RightsOf = lambda group, name: None) -> None:
        table = DiscoveryTable(engine.database)
        reconciler = Reconciler(engine, editor, table)
        halted = READ_ONLY if engine.settings.read_only else ""
        acting = Acting(table, rights_of, halted)
        self.kinds = {
            "consul": Definitions("consul", DefinitionStore(storage, "consul.json", "consuls"), Consul, reconciler, acting),
            "aws": Definitions("aws", DefinitionStore(storage, "aws.json", "aws_regions"), Aws, reconciler, acting),
        }

    def kept(self, object_: str) -> list[str]:
        """Return nothing that follows a renaming. Raises Conflict for an object that a definition would create again, or that it names."""
        for kind in self.kinds.values():
            kind.refuse_renaming(object_)
        return []

    @property
    def backends(self) -> dict[str, str]:
        """Return the backends that definitions keep up to date, each with its definition. Empty if the definitions cannot be read."""
        found: dict[str, str] = {}
        for kind in self.kinds.values():
            with suppress(NativeError):
                found |= kind.backends
        return found

    def uses(self, object_: str) -> list[str]:
        """Return the definitions that keep a backend up to date."""
        kind, *names = parsed(object_)
        return [self.backends[name] for name in names[:1] if kind == "backend" and len(names) == 1 and name in self.backends]

    @asynccontextmanager
    async def renamed(self, object_: str, to: str, author: Author) -> AsyncIterator[None]:
        yield

    async def __aenter__(self) -> Self:
        for kind in self.kinds.values():
            kind.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for kind_ in self.kinds.values():
            await kind_.close()
