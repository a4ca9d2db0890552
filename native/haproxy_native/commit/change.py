"""Describe a change as a value, and the outcome of its commit.

A `Change` has the operations, their author, and what the author expects of the configuration. Building it has no side effects, so the same
value can be authorized, planned, checked and committed (native/haproxy_native/commit/commit.py). An `Outcome` describes what a commit has
done. History, events and confirmations read both instead of computing anything again.
"""

from asyncio import Lock as AsyncLock
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from haproxy_native.changes.expect import ANY as ANY_VERSION
from haproxy_native.changes.expect import Expect
from haproxy_native.changes.file_operations import FileOperation
from haproxy_native.changes.operations import Edit, PutDocument, PutText, Replace, SetRuntime, claimed_by_all
from haproxy_native.editing.object_names import name_of
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.planning.observed import Claimed
from haproxy_native.planning.outcome import Reason
from haproxy_native.planning.touches import ANY, CHANGE, Touch
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document


class Reload(Enum):
    """When HAProxy is reloaded for a change."""

    # If the change needs it.
    AUTO = 0
    # Always, and at once.
    NOW = 1
    # Never; no commands are sent either.
    NONE = 2
    # For stored files: do not reload for this change. The next reload loads whatever cannot be applied at runtime.
    LATER = 3


@dataclass(frozen=True)
class Candidate:
    """The configuration before and after a change that is not committed yet, with its stored files."""

    before: Document = field(repr=False)
    after: Document = field(repr=False)
    # The drafts of stored files by the paths that they will have; None for files that are deleted.
    files: Mapping[Path, Path | None] = field(default_factory=dict)
    # The author of the change or of the preview.
    author: Author = field(kw_only=True)


class Validation(Enum):
    """When `haproxy -c` checks a change."""

    # If the change needs it (native/haproxy_native/planning/needs_check.py).
    IF_NEEDED = 0
    ALWAYS = 1
    # For texts that HAProxy runs or has run.
    NEVER = 2


@dataclass(frozen=True)
class ChangeContent:
    """An operation on something that is neither configuration nor stored file, such as a routing test.

    It must be the only operation of its `Change`.
    """

    # Returns the content before and after the change. Called under `lock`.
    content: "Callable[[], Content]"
    # Stores the new content; None deletes it.
    store: Callable[[bytes | None], Awaitable[None]]
    # Held during the change.
    lock: AsyncLock
    # The name of the object, as `kind/name`.
    object: str
    # What the author needs permission for.
    touches: Sequence[Touch]


Operation = Edit | FileOperation | SetRuntime | ChangeContent


@dataclass(frozen=True)
class Change:
    """Operations that are committed together, all or nothing.

    If only stored files differ afterwards, the configuration keeps its text and its version.
    """

    # Applied in this order.
    operations: Sequence[Operation] = ()
    # What the author expects of the configuration.
    expect: Expect = ANY_VERSION
    reload: Reload = Reload.AUTO
    validation: Validation = Validation.IF_NEEDED
    # Whether a change that changes nothing ends without a commit. Otherwise it makes a new version, as a PUT does.
    skips_same: bool = False
    # Awaited under the locks before anything is written or sent. Raises if the process is no longer in the state for which the change was
    # planned.
    verify: Callable[[], Awaitable[None]] | None = None
    author: Author = field(kw_only=True)

    @cached_property
    def edits(self) -> Sequence[Edit]:
        """The operations on the configuration."""
        return [each for each in self.operations if not isinstance(each, FileOperation | SetRuntime | ChangeContent)]

    @cached_property
    def files(self) -> Sequence[FileOperation]:
        """The operations on stored files."""
        return [each for each in self.operations if isinstance(each, FileOperation)]

    @cached_property
    def sole_operation(self) -> SetRuntime | ChangeContent | None:
        """The one operation of a change that concerns neither configuration nor stored files; None for any other change."""
        return next((each for each in self.operations if isinstance(each, SetRuntime | ChangeContent)), None)

    @property
    def object(self) -> str:
        """The name of the object that is changed; empty if there are several objects, or if the name is not known before the commit."""
        alone = self.sole_operation or (self.files[0] if len(self.operations) == 1 and self.files else None)
        return (alone.object if alone else "") or (self.author.request.object if self.author.request else "")

    def apply(self, document: Document) -> Document:
        """Return the document after the change.

        Raises ChangedSince or Conflict if `document` is not what the author expects, and what the operations raise.
        """
        return self.expect.apply(self.edits, document)

    @property
    def transaction_id(self) -> str | None:
        """The id of the transaction that the change commits; None for any other change."""
        return self.expect.transaction or None

    @property
    def is_whole(self) -> bool:
        """Whether the worker must run the whole configuration before the change counts as live, and not only the changed lines."""
        return any(operation.is_whole for operation in self.edits)

    @property
    def text(self) -> PutText | None:
        """The operation that replaces the text of a file by a text that the client has sent; None if there is none."""
        return next((operation for operation in self.operations if isinstance(operation, PutText)), None)

    @property
    def banner(self) -> bool | None:
        """Whether the file must begin with the banner of this server; None if its beginning stays as it is."""
        return next((operation.banner for operation in self.operations if isinstance(operation, PutText | PutDocument)), None)

    @property
    def claimed(self) -> Claimed:
        """The servers that a PUT replaces as a whole. The process must run them exactly as the document says, even if no line changes.

        Claiming a server also resets the members that others have set at runtime. So the change of an author with limited rights claims
        only servers of which the author may change all members.
        """
        rights = self.author.rights
        if rights is None or rights.are_all:
            return claimed_by_all(self.edits)
        claiming = (edit for edit in self.edits if isinstance(edit, Replace))
        return claimed_by_all(edit for edit in claiming if rights.allow(Touch(name_of(edit.place), CHANGE, frozenset((ANY,)))))


class Same(Exception):
    """The change has no effect and is not committed."""


@dataclass(frozen=True)
class Content:
    """The content of a file before and after a change."""

    # Its name as an object, such as `map/hosts.map`; empty for the configuration.
    object: str
    path: str
    # None if there is no file.
    before: bytes | None
    after: bytes | None
    # False if the content is too large to be stored; then both are None.
    is_kept: bool = True


@dataclass(frozen=True, eq=False)
class Published:
    """A change of the configuration that has been written to the file."""

    version: int
    author: Author
    before: Document = field(repr=False)
    after: Document = field(repr=False)
    # Whether runtime commands have made it live, so that it is in effect without a reload.
    is_live: bool = False
    # Whether stored files wait for the same reload.
    with_files: bool = False
    # The id of its entry in the history; None if that is not known.
    entry: int | None = None


@dataclass(frozen=True)
class MemberChange:
    """A change of one member of an object in the running process."""

    object: str
    # Empty for the whole object.
    member: str
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.object}{' ' * bool(self.member)}{self.member}: {self.old} -> {self.new}"


class Texts:
    """A configuration before and after a change. It can be unpacked: `before, after = texts`."""

    def __init__(self, before: Document, after: Document, known: tuple[Effect, ...] | None = None) -> None:
        self.before, self.after = before, after
        self._lock, self._effects = Lock(), known

    def __iter__(self) -> Iterator[Document]:
        return iter((self.before, self.after))

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects on objects, computed when they are first read. Blocks, and takes long for a large configuration."""
        with self._lock:
            if self._effects is None:
                self._effects = effects(*self)
            return self._effects

    def with_after(self, after: Document) -> "Texts":
        """Return a copy with another form of `after`, such as one with a header. The effects stay the same."""
        return Texts(self.before, after, self._effects)


# The wording of an outcome in `str(outcome)`, by its kind.
_WORDS = {"runtime": "live until the next reload", "reloaded": "live by a reload"}


@dataclass(frozen=True, repr=False)
class Outcome:
    """What a commit has done. `str(outcome)` is a phrase such as `version 3, live`."""

    # The version of the configuration after the change.
    version: int
    # The id of the reload that makes the change live; None if no reload is needed, or if the caller awaits it and it has no id yet.
    reload_id: str | None = None
    # Whether the process has the change now.
    live: bool = False
    # Whether a reload was awaited.
    forced: bool = False
    # Why a reload is needed; empty if none is.
    reasons: Sequence[Reason] = ()
    # False if only the process was changed, so that the next reload discards the change.
    lasting: bool = True
    # The version before the change; 0 if the configuration was not changed.
    former: int = field(default=0, compare=False)
    # The configuration before and after; None if it was not changed.
    texts: Texts | None = field(default=None, repr=False, compare=False)
    # The contents of other files before and after the change.
    contents: Sequence[Content] = field(default=(), repr=False, compare=False)
    # What was changed in the process alone.
    members: Sequence[MemberChange] = field(default=(), compare=False)
    # The runtime commands that HAProxy has accepted.
    commands: Sequence[str] = field(default=(), repr=False, compare=False)
    # The id of its entry in the history; None if it has none yet.
    entry: int | None = field(default=None, compare=False)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects on the objects of the configuration. Blocks."""
        return self.texts.effects if self.texts else ()

    @property
    def changed(self) -> bool:
        """Whether anything was changed."""
        return bool(self.texts or self.contents or not self.lasting)

    def __str__(self) -> str:
        names = [f"version {self.version}"] if self.texts or not self.changed else []
        names += [str(member) for member in self.members] if not self.lasting else [content.object for content in self.contents]
        how = f"reload {self.reload_id} is scheduled" if self.reload_id else _WORDS.get(self.kind, self.kind)
        why = "; ".join(map(str, self.reasons))
        return ", ".join([*names, how if self.changed or self.reload_id else "unchanged"]) + f": {why}" * bool(why)

    def __repr__(self) -> str:
        return f"<Outcome: {self}>"

    @property
    def kind(self) -> str:
        """The outcome in one word: one of the words of `Committed.outcome`."""
        if self.forced or not self.lasting:
            return "reloaded" if self.forced else "runtime"
        return "scheduled" if self.reload_id else "live" if self.live else "written"
