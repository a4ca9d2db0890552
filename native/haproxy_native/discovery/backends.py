"""Applies the services of a source to the backends of a document. Pure.

A backend is made when its service first appears and never removed; of a service that is gone the slots become free.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from haproxy_native.discovery.services import Endpoint
from haproxy_native.discovery.slots import Growth, assigned
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import BadValue
from haproxy_native.text.document import Document

_NAME = re.compile(r"[A-Za-z0-9._:-]+")
_ADDRESS = re.compile(r"[A-Za-z0-9._:%-]+")


@dataclass(frozen=True)
class DesiredBackend:
    """What a backend is to be; without `endpoints` it is that of a service that is gone."""

    name: str
    endpoints: tuple[Endpoint, ...] | None
    growth: Growth
    defaults: str | None = None

    def means(self, other: "DesiredBackend") -> bool:
        """Whether the same is wished, in whichever order."""
        return set(self.endpoints or ()) == set(other.endpoints or ()) and replace(self, endpoints=other.endpoints) == other

    def on(self, editor: Editor, document: Document) -> Document:
        """The same document where it is so already. Raises BadValue, and what the editor raises."""
        if self.endpoints is None:
            return without_service(editor, document, self.name, self.growth)
        return with_service(editor, document, self.name, self.endpoints, self.growth, defaults=self.defaults)


def with_service(
    editor: Editor, document: Document, name: str, wanted: Iterable[Endpoint], growth: Growth, *, defaults: str | None = None
) -> Document:
    """The same document where nothing changes. Raises BadValue, and what the editor raises."""
    if not _NAME.fullmatch(name):
        raise BadValue(f"{name!r} cannot be the name of a backend")
    wanted = list(wanted)
    if wrong := next((instance for instance in wanted if not _is_reachable(instance)), None):
        raise BadValue(f"{wrong.address!r}, port {wrong.port}, cannot be where a server is")
    backends, servers = editor.resources["backends"], editor.resources["servers"]
    parent = (backends, name)
    if document.find("backend", name) is None:
        document = editor.create(document, backends, None, {"name": name} | ({"from": defaults} if defaults else {}))
    there = editor.list_objects(document, servers, parent)
    slots = assigned(there, wanted, growth)
    return document if slots == there else editor.replace_all(document, servers, parent, slots)


def _is_reachable(endpoint: Endpoint) -> bool:
    return _ADDRESS.fullmatch(endpoint.address) is not None and (endpoint.port is None or 0 < endpoint.port < 65536)


def without_service(editor: Editor, document: Document, name: str, growth: Growth) -> Document:
    """Returns the document with all slots of a backend free, if it still exists."""
    return document if document.find("backend", name) is None else with_service(editor, document, name, (), growth)
