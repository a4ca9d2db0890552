"""Apply the services of a source to the backends of a document. Pure.

A backend is created when its service first appears, and is never deleted: when the service is gone, its servers become free slots.

A slot is a server line. It serves an endpoint, or it is free: in maintenance, with a placeholder address. A slot continues to serve its
endpoint while the source reports it. New endpoints first replace endpoints that are gone, and then occupy free slots. This changes few
lines, and HAProxy can apply those changes at runtime. The number of slots grows and shrinks in steps, and only free slots are removed.
"""

import re
import secrets
import string
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from haproxy_native.discovery.definitions import Definition
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import BadValue
from haproxy_native.text.document import Document


class ServiceEndpoint(NamedTuple):
    """The address of an instance of a service. Without a port, HAProxy connects to the port that the client used."""

    address: str
    port: int | None


Server = dict[str, Any]
PLACEHOLDER = ServiceEndpoint("127.0.0.1", 80)
_LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Growth:
    """The rule by which the number of slots follows the number of endpoints."""

    # The least number of slots.
    base: int
    # The step of linear growth; None for exponential growth, which doubles.
    increment: int | None

    @classmethod
    def from_definition(cls, definition: Definition) -> "Growth":
        linear = definition["server_slots_growth_type"] == "linear"
        return cls(definition["server_slots_base"], definition["server_slots_growth_increment"] if linear else None)

    def slots(self, wanted: int, there: int) -> int:
        """Return how many slots a backend with `there` slots needs for `wanted` endpoints."""
        size = max(there, self.base)
        if wanted < self.base:
            return self.base
        if self.increment:
            is_unfit = wanted >= size or wanted + self.increment <= size
            return wanted + self.increment - wanted % self.increment if is_unfit else size
        while size < wanted:
            size *= 2
        while size // 2 >= self.base and size // 2 > wanted:
            size //= 2
        return size


def assigned(servers: Iterable[Server], wanted: Iterable[ServiceEndpoint], growth: Growth) -> list[Server]:
    """Return the servers of a backend that serves the endpoints `wanted`. Servers that do not change are the same objects."""
    slots, left = list(servers), dict.fromkeys(wanted)
    missing = growth.slots(len(left), len(slots)) - len(slots)
    slots += _new_slots(slots, missing)
    leaving, free = [], []
    for place, server in enumerate(slots):
        if is_free(server):
            free.append(place)
        elif endpoint(server) in left:
            del left[endpoint(server)]
        else:
            leaving.append(place)
    taken = dict(zip([*leaving, *free], left, strict=False))
    for place in leaving:
        slots[place] = serving(slots[place], taken[place]) if place in taken else freed(slots[place])
    for place in free:
        if place in taken:
            slots[place] = serving(slots[place], taken[place])
    still_free = [place for place, server in enumerate(slots) if is_free(server)]
    surplus = set(still_free[missing:]) if missing < 0 else set()
    return [server for place, server in enumerate(slots) if place not in surplus]


def _new_slots(slots: Collection[Server], count: int) -> list[Server]:
    names = {server["name"] for server in slots}
    new: list[Server] = []
    while len(new) < count:
        name = "SRV_" + "".join(secrets.choice(_LETTERS) for _ in range(5))
        if name not in names:
            names.add(name)
            new.append(freed({"name": name, "check": "enabled", "weight": 128}))
    return new


def endpoint(server: Server) -> ServiceEndpoint:
    return ServiceEndpoint(str(server.get("address", "")), server.get("port"))


def is_free(server: Server) -> bool:
    # An operator may have put a server with another address into maintenance.
    return endpoint(server) == PLACEHOLDER and server.get("maintenance") == "enabled"


def freed(server: Server) -> Server:
    return {**server, "address": PLACEHOLDER.address, "port": PLACEHOLDER.port, "maintenance": "enabled"}


def serving(server: Server, served: ServiceEndpoint) -> Server:
    # Preserve other members, which an operator may have set.
    members = {name: value for name, value in server.items() if name not in ("maintenance", "port")}
    return {**members, "address": served.address, "check": "enabled"} | ({"port": served.port} if served.port else {})


_NAME = re.compile(r"[A-Za-z0-9._:-]+")
_ADDRESS = re.compile(r"[A-Za-z0-9._:%-]+")


@dataclass(frozen=True)
class DesiredBackend:
    """The state that a backend should have."""

    name: str
    # None if the service is gone.
    endpoints: tuple[ServiceEndpoint, ...] | None
    growth: Growth
    defaults: str | None = None

    def is_same(self, other: "DesiredBackend") -> bool:
        """Return whether both describe the same state. The order of endpoints does not matter."""
        return set(self.endpoints or ()) == set(other.endpoints or ()) and replace(self, endpoints=other.endpoints) == other

    def apply(self, editor: Editor, document: Document) -> Document:
        """Return the edited document, or the same object if nothing changes. Raises BadValue, and what the editor raises."""
        if self.endpoints is None:
            return without_service(editor, document, self.name, self.growth)
        return with_service(editor, document, self.name, self.endpoints, self.growth, defaults=self.defaults)


def with_service(
    editor: Editor, document: Document, name: str, wanted: Iterable[ServiceEndpoint], growth: Growth, *, defaults: str | None = None
) -> Document:
    """Return a document whose backend has these endpoints, or the same object if nothing changes. Raises as `DesiredBackend.apply`."""
    if not _NAME.fullmatch(name):
        raise BadValue(f"{name!r} cannot be the name of a backend")
    wanted = list(wanted)
    for address, port in wanted:
        if not _ADDRESS.fullmatch(address) or not (port is None or 0 < port < 65536):
            raise BadValue(f"{address!r}, port {port}, cannot be where a server is")
    backends, servers = editor.resources["backends"], editor.resources["servers"]
    parent = (backends, name)
    if document.find("backend", name) is None:
        document = editor.create(document, backends, None, {"name": name} | ({"from": defaults} if defaults else {}))
    there = editor.list_objects(document, servers, parent)
    slots = assigned(there, wanted, growth)
    return document if slots == there else editor.replace_all(document, servers, parent, slots)


def without_service(editor: Editor, document: Document, name: str, growth: Growth) -> Document:
    """Return the document with all slots of a backend free. Returns the same object if the backend does not exist."""
    return document if document.find("backend", name) is None else with_service(editor, document, name, (), growth)
