"""A configuration as collections of typed objects, parsed from text and written as text, without a process.

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
    """The sections of a configuration: `backends`, `frontends`, `defaults`, ... are collections by name, `global_` and `traces` objects.

    Lines to which nothing is assigned do not change, not even in their spacing. If `refusal` is not empty, the configuration is read-only,
    and assignments raise ReadOnly with that reason. Not thread-safe.
    """

    def __init__(self, document: Document, *, editor: Editor | None = None, refusal: str = "") -> None:
        self.text, self.editor, self.refusal = document, editor or standard_editor(), refusal
        self._collections: dict[tuple[str, Parent], Named[Any] | Rows[Any] | Single] = {}

    @property
    def document(self) -> Document:
        """Return the document with all assignments. Raises BadValue if a value cannot be written to the file."""
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
        """Return a function that returns, for a resource, the collection of the section's children."""
        return lambda resource: self._collection(resource, (section, name))

    def forget(self, section: Resource, name: str) -> None:
        """Drop the collections of a deleted section, and refuse later assignments to their objects."""
        for key in [key for key in self._collections if key[1] == (section, name)]:
            self._collections.pop(key).freeze(REPLACED)

    def freeze(self, why: str) -> None:
        """Refuse every later assignment, for the reason `why`."""
        self.refusal = why
        for collection in self._collections.values():
            collection.freeze(why)

    def flush(self) -> None:
        """Write the assignments to objects into the document."""
        for collection in list(self._collections.values()):
            collection.flush()


def _sections(name: str) -> Resource | None:
    """Return the resource of the sections that the attribute `name` stands for; None if it stands for no sections."""
    resource = resources().by_name.get(name.removesuffix("_"))
    is_section = resource and resource.kind in ("section", "singleton") and not (resource.parents or resource.file)
    return resource if is_section else None


def parse(text: str | bytes) -> Configuration:
    """Parse a configuration. Accepts any text. If nothing is assigned, the result is written as the same text, byte for byte."""
    return Configuration(Document.parse(text.encode(errors="surrogateescape") if isinstance(text, str) else text))
