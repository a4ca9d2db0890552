"""What a change expects of the configuration that it is made on. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from haproxy_native.changes.operations import Edit, applied, editor_of
from haproxy_native.changes.rebasing import rebased
from haproxy_native.editing.header import same_text
from haproxy_native.editing.places import Place, name_of
from haproxy_native.errors import Collided, IndexOutOfRange, Missing, Moved, NoParent, Stale, StaleTransaction
from haproxy_native.text import parts
from haproxy_native.text.document import Document


@dataclass(frozen=True)
class Expect:
    """What a change expects; by itself nothing: it is made on whatever is current when its turn comes.

    `transaction`: the id of the transaction that is committed.
    """

    transaction: str = field(default="", kw_only=True)

    def compare(self, configured: int) -> None:
        """Raise Stale for another version of the configuration than is expected."""

    def made(self, operations: Sequence[Edit], document: Document) -> Document:
        """Return the document after the operations. Raises Moved where it is not as is expected, and what the operations raise."""
        return applied(operations, document)


@dataclass(frozen=True)
class Version(Expect):
    """This version of the configuration.

    `base`: its text, where that is known: a version alone may stand for two, since not every edit by others counts. `result`: what the
    operations make of that, where they have been applied to it already.
    """

    number: int
    base: Document | None = field(default=None, repr=False)
    result: Document | None = field(default=None, repr=False)

    def compare(self, configured: int) -> None:
        if self.number == configured:
            return
        if self.transaction:
            text = f"version mismatch, transaction version: {self.number}, configured version: {configured}"
            raise StaleTransaction(text, current=configured, transaction=self.transaction)
        raise Stale(f"version in configuration file is {configured}, given version is {self.number}", current=configured)

    def made(self, operations: Sequence[Edit], document: Document) -> Document:
        """Raises Stale for another text of this version."""
        if self.base is None:
            return applied(operations, document)
        if same_text(document, self.base):
            return self.result or applied(operations, document)
        if self.transaction:
            text = f"the configuration of version {self.number} is not the one that the transaction started from"
            raise StaleTransaction(text, current=self.number, transaction=self.transaction)
        raise Stale("the configuration was changed meanwhile", current=self.number)


@dataclass(frozen=True)
class Rebase(Expect):
    """An old version. Changes made since then stay; one of what the operations change is a conflict.

    `base` and `result` as in `Version`.
    """

    number: int
    base: Document | None = field(default=None, repr=False)
    result: Document | None = field(default=None, repr=False)

    def made(self, operations: Sequence[Edit], document: Document) -> Document:
        """Raises Collided."""
        base = self.base
        assert base is not None
        if same_text(document, base):
            return self.result or applied(operations, document)
        try:
            return rebased(operations, base, document, self.result)
        except Collided as error:
            error.version = self.number
            raise


@dataclass(frozen=True)
class SeenObject(Expect):
    """An object, or a list if `place` has no key, with the value that the client saw. `full`: with all that stands in it.

    `value` is None if the client saw another value: then nothing is changed. `number`: a version that is expected as well.
    """

    place: Place
    value: Any = field(repr=False)
    full: bool = False
    number: int = 0

    def compare(self, configured: int) -> None:
        if self.number:
            Version(self.number).compare(configured)

    def made(self, operations: Sequence[Edit], document: Document) -> Document:
        # What the operations are refused for comes first.
        after = applied(operations, document)
        if self.value is None or seen(document, self.place, full=self.full) != self.value:
            raise Moved(f"{name_of(self.place)} is not what was seen")
        return after


@dataclass(frozen=True)
class SeenText(Expect):
    """The text of one of the configuration's files that the client saw. `number`: a version that is expected as well."""

    name: str
    text: bytes = field(repr=False)
    number: int = 0

    @classmethod
    def of(cls, document: Document, name: str, number: int = 0) -> Self:
        """Expect what the document has of this file."""
        return cls(name, parts.parts(document)[name].data, number)

    def compare(self, configured: int) -> None:
        if self.number:
            Version(self.number).compare(configured)

    def made(self, operations: Sequence[Edit], document: Document) -> Document:
        if parts.parts(document)[self.name].data != self.text:
            raise Moved(f"{self.name or 'the configuration'} is not what was seen")
        return applied(operations, document)


ANY = Expect()


def seen(document: Document, place: Place, *, full: bool = False) -> Any:
    """Return the object or the list at a place; None where there is none."""
    editor = editor_of(place)
    try:
        if place.key == "" and place.resource.kind != "singleton":
            return editor.list_objects(document, place.resource, place.parent, full=full)
        return editor.get_object(document, place.resource, place.parent, place.key, full=full)
    except (Missing, NoParent, IndexOutOfRange):
        return None
