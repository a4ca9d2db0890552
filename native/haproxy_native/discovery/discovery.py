"""`Discovery`: the definitions of all sources, stored on disk; each enabled one has a poller."""

import logging
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from haproxy_native.discovery.aws import Aws
from haproxy_native.discovery.consul import Consul
from haproxy_native.discovery.definitions import STATUS, check_required, completed
from haproxy_native.discovery.poller import Poller, Source
from haproxy_native.discovery.reconciler import Reconciler
from haproxy_native.discovery.services import Definition
from haproxy_native.discovery.store import DefinitionStore
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import NativeError, NotFound

log = logging.getLogger(__name__)


class Definitions:
    """Those of one kind of source. Everything raises Unusable or Unreadable where the definitions cannot be kept or read."""

    def __init__(self, kind: str, store: DefinitionStore, source: Callable[[Definition], Source], reconciler: Reconciler) -> None:
        self.kind, self._store, self._source, self._reconciler = kind, store, source, reconciler
        self._known: dict[str, Definition] | None = None
        self._pollers: dict[str, Poller] = {}

    def start(self) -> None:
        """Reads what is on disk; where that is impossible now, the first call that needs it tries again."""
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
        """With the status of its poller, once there is something to tell. Raises NotFound."""
        poller = self._pollers.get(identity)
        status = poller.status if poller else {}
        return {**self._there(identity), **({STATUS: status} if status else {})}

    def create(self, body: Mapping[str, Any]) -> Definition:
        """Its id is always a new one. Raises BadRequest."""
        known = self._all()
        definition = completed(body, str(uuid.uuid4()), consul=self.kind == "consul")
        self._keep({**known, definition["id"]: definition})
        self._poll(definition)
        return definition

    @property
    def place(self) -> Path:
        """The file that they are kept in."""
        return self._store.path

    def adopt(self, body: Mapping[str, Any]) -> None:
        """One from elsewhere, under its own id if it has one. Raises BadRequest and BadValue."""
        check_required(body, self._store.member)
        known = self._all()
        definition = completed(body, str(body.get("id") or uuid.uuid4()), consul=self.kind == "consul")
        self._keep({**known, definition["id"]: definition})
        self._poll(definition)

    async def replace(self, identity: str, body: Mapping[str, Any]) -> Definition:
        """Raises NotFound and BadRequest."""
        self._there(identity)
        definition = completed(body, identity, consul=self.kind == "consul")
        self._keep({**self._all(), identity: definition})
        await self._stop(identity)
        self._poll(definition)
        return definition

    async def delete(self, identity: str) -> None:
        """Its backends stay as they are. Raises NotFound."""
        self._there(identity)
        self._keep({name: each for name, each in self._all().items() if name != identity})
        await self._stop(identity)
        self._reconciler.forget(identity)

    def _there(self, identity: str) -> Definition:
        if (definition := self._all().get(identity)) is None:
            raise NotFound("instance not found")
        return definition

    def _all(self) -> dict[str, Definition]:
        if self._known is None:
            read = [completed(each, each.get("id") or str(uuid.uuid4()), consul=self.kind == "consul") for each in self._store.read()]
            self._known = {each["id"]: each for each in read}
            for each in read:
                self._poll(each)
        return self._known

    def _keep(self, definitions: dict[str, Definition]) -> None:
        self._store.write(definitions.values())
        self._known = definitions

    def _poll(self, definition: Definition) -> None:
        if definition.get("enabled"):
            name = f"service discovery, {self.kind} {definition.get('name') or definition['id']}"
            apply = partial(self._reconciler.apply, definition)
            poller = self._pollers[definition["id"]] = Poller(name, definition["retry_timeout"], self._source(definition), apply)
            poller.start()

    async def _stop(self, identity: str) -> None:
        if poller := self._pollers.pop(identity, None):
            await poller.stop()


class Discovery:
    """`async with` it: pollers work from then on. `remembered` is the file of what was found."""

    def __init__(self, engine: Engine, editor: Editor, storage: Directory, remembered: Path) -> None:
        reconciler = Reconciler(engine, editor, remembered)
        self.kinds = {
            "consul": Definitions("consul", DefinitionStore(storage, "consul.json", "consuls"), Consul, reconciler),
            "aws": Definitions("aws", DefinitionStore(storage, "aws.json", "aws_regions"), Aws, reconciler),
        }

    async def __aenter__(self) -> Self:
        for kind in self.kinds.values():
            kind.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for each in self.kinds.values():
            await each.close()
