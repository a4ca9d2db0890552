"""What is done to a configuration: to one object, which is named by its place, or to a text as a whole.

An operation is a value. It may be applied several times, to whatever document is current then: each `apply` returns another document, and
raises what the editor raises.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar, Protocol

from haproxy_native.editing import header, patches
from haproxy_native.editing.editor import Editor, standard_editor
from haproxy_native.editing.object_names import Place
from haproxy_native.editing.sites import Sites
from haproxy_native.errors import BadRequest
from haproxy_native.planning.observed import Claimed, claimed_by
from haproxy_native.planning.touches import ANY, CHANGE, Touch
from haproxy_native.text import parts
from haproxy_native.text.document import MARK, Document


class Edit(Protocol):
    """One thing that is done to a configuration."""

    @property
    def is_whole(self) -> bool:
        """Whether the configuration as a whole is to be in effect afterwards, not just what the operation changes."""

    def apply(self, document: Document) -> Document:
        """Return the document after the operation."""


def applied(operations: Iterable[Edit], document: Document) -> Document:
    """Return a document after all operations, one after the other."""
    return reduce(lambda now, operation: operation.apply(now), operations, document)


def claimed_by_all(operations: Iterable[Edit]) -> Claimed:
    """Return the servers that the process is to run as the document says, even if no line of theirs changes: those that a PUT states."""
    return frozenset().union(*(getattr(operation, "claimed", frozenset()) for operation in operations))


def editor_of(place: Place, editor: Editor | None = None) -> Editor | Sites:
    """Return the editor of the objects at a place: sites are made of several sections."""
    editor = editor or standard_editor()
    return Sites(editor) if place.resource.kind == "view" else editor


@dataclass(frozen=True)
class Create:
    """Adds an object to a collection: at the index that is `place.key`, or at the end. `full`: with all that stands in it.

    `editor`: one that writes otherwise than the standard one, such as times in another unit.
    """

    place: Place
    body: Mapping[str, Any]
    full: bool = False
    editor: Editor | None = field(default=None, repr=False, compare=False)
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        at = self.place
        index = at.key if isinstance(at.key, int) else None
        return editor_of(at, self.editor).create(document, at.resource, at.parent, self.body, index=index, full=self.full)


@dataclass(frozen=True)
class Replace:
    """Gives an object the members of `body`, and no others that the API has. `claims`: whether it claims the server that it is about."""

    place: Place
    body: Mapping[str, Any]
    full: bool = False
    editor: Editor | None = field(default=None, repr=False, compare=False)
    claims: bool = True
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        at = self.place
        return editor_of(at, self.editor).replace(document, at.resource, at.parent, at.key, self.body, full=self.full)

    @property
    def claimed(self) -> Claimed:
        """The servers that the process is to run as the document says, even if this changes no line of theirs."""
        return claimed_by(self.place.resource, self.place.parent, str(self.place.key)) if self.claims else frozenset()


@dataclass(frozen=True)
class Patch:
    """Gives some members of an object other values; None takes a member away."""

    place: Place
    members: Mapping[str, Any]
    full: bool = False
    editor: Editor | None = field(default=None, repr=False, compare=False)
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        at, editor = self.place, editor_of(self.place, self.editor)
        now = editor.get_object(document, at.resource, at.parent, at.key, full=self.full)
        body = {name: value for name, value in {**now, **self.members}.items() if value is not None}
        return editor.replace(document, at.resource, at.parent, at.key, body, full=self.full)


@dataclass(frozen=True)
class Delete:
    """Takes an object away."""

    place: Place
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        at = self.place
        return editor_of(at).delete(document, at.resource, at.parent, at.key)


@dataclass(frozen=True)
class ReplaceAll:
    """Replaces all elements of a list; `place` has no key."""

    place: Place
    bodies: Sequence[Mapping[str, Any]]
    editor: Editor | None = field(default=None, repr=False, compare=False)
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        at = self.place
        assert at.parent is not None
        return (self.editor or standard_editor()).replace_all(document, at.resource, at.parent, self.bodies)


@dataclass(frozen=True)
class PutText:
    """Replaces the text of one of the configuration's files, by its name; "" is the main file.

    `keeps_version`: the configuration gets the version that the text states, instead of the next one. `lines`: how many the text had when
    it was sent, so that HAProxy's messages can name the client's lines. `actions`: runtime commands that are sent instead of a reload, if
    the change makes none.
    """

    name: str
    text: Document = field(repr=False)
    keeps_version: bool = False
    lines: int = 0
    actions: str = ""
    is_whole: ClassVar[bool] = True

    def apply(self, document: Document) -> Document:
        return patches.sharing(parts.with_parts(document, {self.name: self.text}), document)

    @property
    def banner(self) -> bool | None:
        """Whether the file is to begin with our header, as the text does; None for another file than the main one."""
        return header.has_banner(self.text) if self.name == parts.MAIN else None


@dataclass(frozen=True)
class ChangeText:
    """Does to a text what another operation has done to it, such as that of a split in a transaction. `claimed` as that of `Replace`."""

    patch: patches.Patch
    claimed: Claimed = frozenset()
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        """Raises ValueError for a text that is not the one that the other operation was made on, where that can be seen."""
        return patches.apply(document, [self.patch])


def text_as_sent(body: bytes, *, versions: bool = True) -> Document:
    """Parse a text that a client sent; without `versions` its version lines are left out. Raises BadRequest for a NUL character."""
    if MARK.encode() in body:
        raise BadRequest("invalid configuration: it holds a NUL character")
    return Document.parse(body if versions else header.without_versions(body))


@dataclass(frozen=True)
class PutDocument:
    """Replaces the configuration by a document; where that has the main file alone, the other files stay.

    `banner` as that of `PutText`.
    """

    document: Document = field(repr=False)
    banner: bool | None = None
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        is_all = parts.is_joined(self.document) or not parts.is_joined(document)
        return self.document if is_all else parts.with_parts(document, parts.parts(self.document))


@dataclass(frozen=True)
class SetRuntime:
    """Changes the running process alone, until its next reload. It is the only operation of its change.

    `object` is its `kind/name`. `apply` is awaited under the lock of the process, and returns the members that it has changed, as far as
    the history shows them. `touched`: what it may change; all of `object` without it.
    """

    object: str
    apply: Callable[[], Awaitable[Sequence[Any] | None]]
    touched: Sequence[Touch] = ()

    @property
    def touches(self) -> Sequence[Touch]:
        return self.touched or [Touch(self.object, CHANGE, frozenset((ANY,)))]
