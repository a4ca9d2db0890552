"""Refuse changes that were made from an outdated version of the configuration: optimistic concurrency control.

A client states what it has seen before its change: a version, the value of an object, the text of a file, or nothing. The commit checks
this twice: with `compare` before it does any work, and with `apply` when it applies the operations to the current document.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from haproxy_native.changes.operations import Edit, apply_all, editor_of
from haproxy_native.changes.rebasing import rebase_operations
from haproxy_native.editing.header import same_text
from haproxy_native.editing.object_names import ObjectPlace, name_of
from haproxy_native.errors import ChangedSince, Collided, IndexOutOfRange, Missing, NoParent, Stale, StaleTransaction
from haproxy_native.text import parts
from haproxy_native.text.document import Document


@dataclass(frozen=True)
class Expect:
    """What a change expects of the configuration. This base class accepts any document, unless `number` states a version."""

    # The expected version of the configuration; 0 for any.
    number: int = field(default=0, kw_only=True)
    # The id of the transaction that is committed.
    transaction: str = field(default="", kw_only=True)

    def compare(self, configured: int) -> None:
        """Raise Stale unless the configuration has the expected version."""
        if self.number in (0, configured):
            return
        if self.transaction:
            text = f"version mismatch, transaction version: {self.number}, configured version: {configured}"
            raise StaleTransaction(text, current=configured, transaction=self.transaction)
        raise Stale(f"version in configuration file is {configured}, given version is {self.number}", current=configured)

    def apply(self, operations: Sequence[Edit], document: Document) -> Document:
        """Return `document` after the operations. Raises what the operations raise.

        Raises ChangedSince or Conflict if `document` is not as expected.
        """
        return apply_all(operations, document)


@dataclass(frozen=True)
class Version(Expect):
    """One version of the configuration."""

    number: int
    # The text of the version, if known. Two texts may have one version, since an edit while this server is down keeps the version.
    base: Document | None = field(default=None, repr=False)
    # The text after the operations, if they were applied to `base` already.
    result: Document | None = field(default=None, repr=False)

    def apply(self, operations: Sequence[Edit], document: Document) -> Document:
        """Return the document after the operations. Raises Stale if `document` differs from `base`, and what the operations raise."""
        if self.base is None:
            return apply_all(operations, document)
        if same_text(document, self.base):
            return self.result or apply_all(operations, document)
        if self.transaction:
            text = f"the configuration of version {self.number} is not the one that the transaction started from"
            raise StaleTransaction(text, current=self.number, transaction=self.transaction)
        raise Stale("the configuration was changed meanwhile", current=self.number)


@dataclass(frozen=True)
class Rebase(Version):
    """An old version and its text. The operations are merged into the current document, which preserves later changes."""

    def compare(self, configured: int) -> None:
        """Accept any version."""

    def apply(self, operations: Sequence[Edit], document: Document) -> Document:
        """Return the document after the operations. Raises Collided if a later change conflicts, and what the operations raise."""
        assert self.base is not None
        if same_text(document, self.base):
            return self.result or apply_all(operations, document)
        try:
            return rebase_operations(operations, self.base, document, self.result)
        except Collided as error:
            error.version = self.number
            raise


@dataclass(frozen=True)
class ExpectedObject(Expect):
    """An object as the client has seen it, or a list of objects if `place` has no key."""

    place: ObjectPlace
    # None if the client has certainly seen an outdated value. Then `apply` raises ChangedSince.
    value: Any = field(repr=False)
    # Whether the value has the children of the object as well.
    full: bool = False

    def apply(self, operations: Sequence[Edit], document: Document) -> Document:
        """Return the document after the operations. Raises what they raise, and ChangedSince if the object has another value.

        Errors of the operations take precedence.
        """
        after = apply_all(operations, document)
        if self.value is None or find_value(document, self.place, full=self.full) != self.value:
            raise ChangedSince(f"{name_of(self.place)} has changed since it was read")
        return after


@dataclass(frozen=True)
class ExpectedText(Expect):
    """The text of one file of the configuration as the client has seen it."""

    name: str
    text: bytes = field(repr=False)

    @classmethod
    def from_document(cls, document: Document, name: str, number: int = 0) -> Self:
        """Return the expectation that this file still has the text that it has in `document`."""
        return cls(name, parts.parts(document)[name].data, number=number)

    def apply(self, operations: Sequence[Edit], document: Document) -> Document:
        """Return the document after the operations. Raises ChangedSince if the file has another text, and what the operations raise."""
        if parts.parts(document)[self.name].data != self.text:
            raise ChangedSince(f"{self.name or 'the configuration'} has changed since it was read")
        return apply_all(operations, document)


ANY = Expect()


def find_value(document: Document, place: ObjectPlace, *, full: bool = False) -> Any:
    """Return the object at a place, or the list if the place has no key; None if it does not exist."""
    editor = editor_of(place)
    try:
        if place.key == "" and place.resource.kind != "singleton":
            return editor.list_objects(document, place.resource, place.parent, full=full)
        return editor.get_object(document, place.resource, place.parent, place.key, full=full)
    except (Missing, NoParent, IndexOutOfRange):
        return None
