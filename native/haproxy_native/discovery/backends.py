"""Apply the services of a source to the backends of a document.

A backend is created when its service first appears, and is never deleted: when the service is gone, its servers become free slots.

A slot is a server line. It serves an endpoint, or it is free: in maintenance, with a placeholder address. A slot continues to serve its
endpoint while the source reports that endpoint. New endpoints first replace endpoints that are gone, and then occupy free slots. This
changes few lines, and HAProxy can apply those changes at runtime. The number of slots grows and shrinks in steps, and only free slots are
removed.
"""

import re
import secrets
import string
from collections.abc import Iterable
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

    def slots(self, endpoints: int, slots: int) -> int:
        """Return how many slots a backend should have for `endpoints` endpoints. `slots`: how many slots the backend has now."""
        size = max(slots, self.base)
        if endpoints < self.base:
            return self.base
        if self.increment:
            is_unfit = endpoints >= size or endpoints + self.increment <= size
            return endpoints + self.increment - endpoints % self.increment if is_unfit else size
        while size < endpoints:
            size *= 2
        while size // 2 >= self.base and size // 2 > endpoints:
            size //= 2
        return size


def assign_endpoints(servers: Iterable[Server], endpoints: Iterable[ServiceEndpoint], growth: Growth) -> list[Server]:
    """Assign `endpoints` to the servers of a backend, and return the new servers. Servers that do not change are the same objects."""
    slots, unserved = list(servers), dict.fromkeys(endpoints)
    size = growth.slots(len(unserved), len(slots))
    surplus = max(len(slots) - size, 0)
    names = {server["name"] for server in slots}
    while len(slots) < size:
        name = "SRV_" + "".join(secrets.choice(_LETTERS) for _ in range(5))
        if name not in names:
            names.add(name)
            slots.append(free_slot({"name": name, "check": "enabled", "weight": 128}))
    leaving, free = [], []
    for index, server in enumerate(slots):
        if is_free(server):
            free.append(index)
        elif endpoint(server) in unserved:
            del unserved[endpoint(server)]
        else:
            leaving.append(index)
    assignments = dict(zip([*leaving, *free], unserved, strict=False))
    for index in leaving:
        if index not in assignments:
            slots[index] = free_slot(slots[index])
    for index, served in assignments.items():
        slots[index] = serve_endpoint(slots[index], served)
    still_free = [index for index, server in enumerate(slots) if is_free(server)]
    removed = set(still_free[-surplus:]) if surplus else set()
    return [server for index, server in enumerate(slots) if index not in removed]


def endpoint(server: Server) -> ServiceEndpoint:
    return ServiceEndpoint(str(server.get("address", "")), server.get("port"))


def is_free(server: Server) -> bool:
    # An operator may have put a server with another address into maintenance.
    return endpoint(server) == PLACEHOLDER and server.get("maintenance") == "enabled"


def free_slot(server: Server) -> Server:
    return {**server, "address": PLACEHOLDER.address, "port": PLACEHOLDER.port, "maintenance": "enabled"}


def serve_endpoint(server: Server, served: ServiceEndpoint) -> Server:
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
        """Return whether this and `other` describe the same state. The order of endpoints does not matter."""
        return set(self.endpoints or ()) == set(other.endpoints or ()) and replace(self, endpoints=other.endpoints) == other

    def apply(self, editor: Editor, document: Document) -> Document:
        """Return the document with the backend in this state. Return the same object if nothing changes.

        Raises BadValue, and what the editor raises.
        """
        if self.endpoints is None:
            return without_service(editor, document, self.name, self.growth)
        return with_service(editor, document, self.name, self.endpoints, self.growth, defaults=self.defaults)


def with_service(
    editor: Editor, document: Document, name: str, endpoints: Iterable[ServiceEndpoint], growth: Growth, *, defaults: str | None = None
) -> Document:
    """Return the document with a backend that serves exactly these endpoints. Return the same object if nothing changes.

    Raises BadValue, and what the editor raises.
    """
    if not _NAME.fullmatch(name):
        raise BadValue(f"{name!r} cannot be the name of a backend")
    endpoints = list(endpoints)
    for address, port in endpoints:
        if not _ADDRESS.fullmatch(address) or not (port is None or 0 < port < 65536):
            raise BadValue(f"{address!r}, port {port}, cannot be where a server is")
    backends, servers = editor.resources["backends"], editor.resources["servers"]
    parent = (backends, name)
    if document.find("backend", name) is None:
        document = editor.create(document, backends, None, {"name": name} | ({"from": defaults} if defaults else {}))
    before = editor.list_objects(document, servers, parent)
    after = assign_endpoints(before, endpoints, growth)
    return document if after == before else editor.replace_all(document, servers, parent, after)


def without_service(editor: Editor, document: Document, name: str, growth: Growth) -> Document:
    """Return the document with all slots of a backend free. Returns the same object if the backend does not exist."""
    return document if document.find("backend", name) is None else with_service(editor, document, name, (), growth)
