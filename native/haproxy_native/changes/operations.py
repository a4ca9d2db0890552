"""Define the operations that change a configuration: one object, identified by its place, or a whole text.

An operation is a value. A commit may apply it several times, each time to the document that is current then. `apply` returns a new
document, and raises what the editor raises.

A transaction survives a restart, so its operations can be stored as JSON (`as_row`, `as_operation`). An operation on an object is stored as
the operation's name, the place and the body. Any other operation, such as that of a split, is stored as a patch of the text (`ChangeText`).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from haproxy_native.editing import header, patches
from haproxy_native.editing.editor import Editor, standard_editor
from haproxy_native.editing.object_names import ObjectPlace
from haproxy_native.editing.resources import resources
from haproxy_native.editing.sites import Sites
from haproxy_native.errors import BadRequest
from haproxy_native.planning.observed import Claim, Claimed, claimed_by
from haproxy_native.planning.touches import ANY, CHANGE, Touch
from haproxy_native.text import parts
from haproxy_native.text.document import MARK, Document


class Edit(Protocol):
    """One operation on a configuration."""

    @property
    def is_whole(self) -> bool:
        """Whether the process must run the whole configuration afterwards, and not only what the operation changes."""

    def apply(self, document: Document) -> Document:
        """Return the document after the operation."""


def apply_all(operations: Iterable[Edit], document: Document) -> Document:
    """Return a document after all operations, one after the other."""
    for operation in operations:
        document = operation.apply(document)
    return document


def claimed_by_all(operations: Iterable[Edit]) -> Claimed:
    """Return the servers that operations claim, which the process must run exactly as the document says.

    A PUT claims the server that it replaces, even if the PUT changes no line.
    """
    return frozenset().union(*(getattr(operation, "claimed", frozenset()) for operation in operations))


def editor_of(place: ObjectPlace, editor: Editor | None = None) -> Editor | Sites:
    """Return the editor for the objects at a place. Sites have an editor of their own, since a site consists of several sections."""
    editor = editor or standard_editor()
    return Sites(editor) if place.resource.kind == "view" else editor


@dataclass(frozen=True)
class ObjectEdit:
    """An operation on one object, or on a list of objects if `place` has no key."""

    place: ObjectPlace
    # The object; the members of a Patch; the elements of a ReplaceAll; None for a Delete.
    body: Any = None
    # Whether the body has the children of the object as well.
    full: bool = False
    # An editor that writes values differently from the standard one, such as times in another unit.
    editor: Editor | None = field(default=None, repr=False, compare=False)
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        raise NotImplementedError


@dataclass(frozen=True)
class Create(ObjectEdit):
    """Creates an object in a list. An integer `place.key` is the index of the object; otherwise the object is appended."""

    def apply(self, document: Document) -> Document:
        at = self.place
        index = at.key if isinstance(at.key, int) else None
        return editor_of(at, self.editor).create(document, at.resource, at.parent, self.body, index=index, full=self.full)


@dataclass(frozen=True)
class Replace(ObjectEdit):
    """Replaces an object. Parts of the object that the API does not know are kept."""

    # Whether the server that is replaced is claimed.
    claims: bool = True

    def apply(self, document: Document) -> Document:
        at = self.place
        return editor_of(at, self.editor).replace(document, at.resource, at.parent, at.key, self.body, full=self.full)

    @property
    def claimed(self) -> Claimed:
        """The server that this operation claims, which the process must run exactly as the document says, even if no line changes."""
        return claimed_by(self.place.resource, self.place.parent, str(self.place.key)) if self.claims else frozenset()


@dataclass(frozen=True)
class Patch(ObjectEdit):
    """Replaces some members of an object; None deletes a member."""

    def apply(self, document: Document) -> Document:
        at, editor = self.place, editor_of(self.place, self.editor)
        current = editor.get_object(document, at.resource, at.parent, at.key, full=self.full)
        body = {name: value for name, value in {**current, **self.body}.items() if value is not None}
        return editor.replace(document, at.resource, at.parent, at.key, body, full=self.full)


@dataclass(frozen=True)
class Delete(ObjectEdit):
    """Deletes an object."""

    def apply(self, document: Document) -> Document:
        at = self.place
        return editor_of(at).delete(document, at.resource, at.parent, at.key)


@dataclass(frozen=True)
class ReplaceAll(ObjectEdit):
    """Replaces all elements of a list; `place` has no key."""

    def apply(self, document: Document) -> Document:
        at = self.place
        assert at.parent is not None
        return (self.editor or standard_editor()).replace_all(document, at.resource, at.parent, self.body)


@dataclass(frozen=True)
class PutText:
    """Replaces the text of one of the configuration's files."""

    # The name of the file; "" is the main file.
    name: str
    text: Document = field(repr=False)
    # Whether the configuration gets the version that the text states, instead of the next one.
    keeps_version: bool = False
    # The number of lines of the text as the client has sent it, so that HAProxy's messages can refer to the client's lines.
    lines: int = 0
    # Runtime commands that are sent if the change is made without a reload (`Reload.NONE`).
    actions: str = ""
    is_whole: ClassVar[bool] = True

    def apply(self, document: Document) -> Document:
        return patches.with_shared_sections(parts.with_parts(document, {self.name: self.text}), document)

    @property
    def banner(self) -> bool | None:
        """Whether the stored file begins with the banner of this server, as the text does; None for any file but the main one."""
        return header.has_banner(self.text) if self.name == parts.MAIN else None


@dataclass(frozen=True)
class ChangeText:
    """Applies a patch of the text. In a stored transaction, it stands for an operation that cannot be stored, such as that of a split."""

    patch: patches.Patch
    # As in `Replace`.
    claimed: Claimed = frozenset()
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        """Apply the patch. Raises ValueError if the document evidently differs from the one that the patch was made for."""
        return patches.apply(document, [self.patch])


def text_as_sent(body: bytes, *, versions: bool = True) -> Document:
    """Parse a text that a client has sent. Raises BadRequest for a NUL character. `versions`: False to remove version lines."""
    if MARK.encode() in body:
        raise BadRequest("invalid configuration: it contains a NUL character")
    return Document.parse(body if versions else header.without_versions(body))


@dataclass(frozen=True)
class PutDocument:
    """Replaces the configuration by a document. A document with only the main file replaces only the main file."""

    document: Document = field(repr=False)
    # As in `PutText`.
    banner: bool | None = None
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        is_all = parts.is_joined(self.document) or not parts.is_joined(document)
        return self.document if is_all else parts.with_parts(document, parts.parts(self.document))


@dataclass(frozen=True)
class SetRuntime:
    """Changes the running process until its next reload, but no file. It must be the only operation of its `Change`."""

    # The name of the object, as `kind/name`.
    object: str
    # Awaited under `process_lock`. Makes the change and returns the changed members that the history shows.
    apply: Callable[[], Awaitable[Sequence[Any] | None]]
    # What the author needs permission for; by default to change all of `object`.
    touched: Sequence[Touch] = ()

    @property
    def touches(self) -> Sequence[Touch]:
        return self.touched or [Touch(self.object, CHANGE, frozenset((ANY,)))]


Row = Mapping[str, Any]
# The classes of operations on objects, by their names in stored transactions.
_STORED: Mapping[str, type[ObjectEdit]] = {
    "create": Create,
    "replace": Replace,
    "patch": Patch,
    "delete": Delete,
    "replace_all": ReplaceAll,
}
_NAMES = {operation: name for name, operation in _STORED.items()}


def storable(operations: Sequence[Edit], patch: patches.Patch) -> Sequence[Edit]:
    """Return the operations in a form that can be stored: unchanged if all are operations on objects, else one ChangeText of `patch`."""
    if operations and all(isinstance(operation, ObjectEdit) for operation in operations):
        return operations
    return [ChangeText(patch, claimed_by_all(operations))]


def as_row(operation: Edit) -> Row:
    """Return an operation as data for JSON. The row of a ChangeText does not include the patch, which the caller stores separately."""
    if not isinstance(operation, ObjectEdit):
        return {"claimed": list(claimed_by_all([operation]))}
    place, name = operation.place, _NAMES[type(operation)]
    parent = [place.parent[0].name, place.parent[1]] if place.parent else None
    return {"do": name, "of": place.resource.name, "in": parent, "key": place.key, "body": operation.body, "full": operation.full}


def as_operation(row: Row, patch: patches.Patch) -> Edit:
    """Return the operation of a row. If this release no longer knows the operation, return a ChangeText with `patch`.

    Raises TypeError and KeyError for a malformed row.
    """
    table, parent = resources().by_name, row.get("in")
    if row.get("do") in _STORED and row["of"] in table and (parent is None or parent[0] in table):
        place = ObjectPlace(table[row["of"]], (table[parent[0]], str(parent[1])) if parent else None, row["key"])
        return _STORED[row["do"]](place, row["body"], row["full"])
    return ChangeText(patch, frozenset(Claim(*claim) for claim in row.get("claimed", ())))
