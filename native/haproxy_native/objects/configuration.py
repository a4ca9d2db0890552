"""A configuration as collections of typed objects: text in, text out, no process needed.

configuration = haproxy_native.parse(text)
configuration.backends["www"].servers["web1"].weight = 10
print(configuration)
"""

from collections import Counter
from typing import TYPE_CHECKING, Any

from haproxy_native.editing.editor import Editor, standard_editor
from haproxy_native.editing.resources import Resource, resources
from haproxy_native.errors import ReadOnly
from haproxy_native.objects.bound import Children
from haproxy_native.objects.collections import REPLACED, Named, Parent, Rows, Single
from haproxy_native.objects.sections import Sections
from haproxy_native.text.document import Document


class Configuration(Sections):
    """The sections of a configuration: `backends`, `frontends`, `defaults`, ... by name, `global_` and `traces` alone.

    What is not assigned to stays as it is in the text, comments and columns included. `refusal` says why nothing can be assigned to; empty
    where it can. Not for several threads at a time.
    """

    def __init__(self, document: Document, *, editor: Editor | None = None, refusal: str = "") -> None:
        self.text, self.editor, self.refusal = document, editor or standard_editor(), refusal
        self._collections: dict[tuple[str, Parent], Named[Any] | Rows[Any] | Single] = {}

    @property
    def document(self) -> Document:
        """The text with all that was assigned. Raises BadValue where that cannot stand in the file."""
        self.flush()
        return self.text

    def __repr__(self) -> str:
        numbers = Counter(section.kind for section in self.document.sections)
        return f"<{type(self).__name__}: {', '.join(f'{number} {kind}' for kind, number in numbers.items()) or 'empty'}>"

    def __str__(self) -> str:
        return bytes(self).decode(errors="surrogateescape")

    def __bytes__(self) -> bytes:
        return self.document.data

    if not TYPE_CHECKING:
        # Type checkers read the stub of `Sections`.
        def __getattr__(self, name: str) -> Any:
            if (resource := _sections(name)) is None:
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
            return self._collection(resource, None)

        def __setattr__(self, name: str, value: Any) -> None:
            if _sections(name):
                raise ReadOnly(f"{name} is not assigned: add and delete its objects, and assign to their members")
            super().__setattr__(name, value)

    def _collection(self, resource: Resource, parent: Parent) -> object:
        key = resource.name, parent
        if key not in self._collections:
            if resource.kind == "singleton":
                self._collections[key] = Single(self, resource)
            else:
                self._collections[key] = Rows(self, resource, parent) if resource.kind == "indexed" else Named(self, resource, parent)
        collection = self._collections[key]
        return collection.get() if isinstance(collection, Single) else collection

    def children(self, section: Resource, name: str) -> Children:
        """Gives the collections of a section."""
        return lambda resource: self._collection(resource, (section, name))

    def forget(self, section: Resource, name: str) -> None:
        """Lets go of the collections of a section that has been deleted."""
        for key in [key for key in self._collections if key[1] == (section, name)]:
            self._collections.pop(key).freeze(REPLACED)

    def freeze(self, why: str) -> None:
        """Refuses every later assignment, for that reason."""
        self.refusal = why
        for collection in self._collections.values():
            collection.freeze(why)

    def flush(self) -> None:
        """Writes what was assigned to objects into the text."""
        for collection in list(self._collections.values()):
            collection.flush()


def _sections(name: str) -> Resource | None:
    """Return the sections of an attribute; None for another name."""
    resource = resources().by_name.get(name.removesuffix("_"))
    is_section = resource and resource.kind in ("section", "singleton") and not (resource.parents or resource.file)
    return resource if is_section else None


def parse(text: str | bytes) -> Configuration:
    """A configuration of its text; every text is one, and is given back byte by byte."""
    return Configuration(Document.parse(text.encode(errors="surrogateescape") if isinstance(text, str) else text))
