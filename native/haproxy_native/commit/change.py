"""Changes as values, and what becomes of them."""

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
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.object_names import name_of
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.planning.observed import Claimed
from haproxy_native.planning.outcome import Reason
from haproxy_native.planning.touches import ANY, CHANGE, Touch
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document


class Reload(Enum):
    """When HAProxy is reloaded for a change: if it needs that (AUTO), in any case and at once (NOW), or never (NONE).

    NONE sends nothing to the process either. LATER is for stored files: what HAProxy does not take live waits for the next reload.
    """

    AUTO, NOW, NONE, LATER = range(4)


@dataclass(frozen=True)
class Candidate:
    """A configuration as a change would leave it, which HAProxy accepts. `files`: where what stored files will hold stands now, by their
    paths, None for those that go. `author`: who would make the change, or asks what it would do."""

    before: Document = field(repr=False)
    after: Document = field(repr=False)
    files: Mapping[Path, Path | None] = field(default_factory=dict)
    author: Author = field(kw_only=True)


class Validation(Enum):
    """When `haproxy -c` is asked: if the change needs it (IF_NEEDED), in any case (ALWAYS), or never (NEVER).

    NEVER is for texts that HAProxy runs or has run, and for files that it judges as it takes them.
    """

    IF_NEEDED, ALWAYS, NEVER = range(3)


@dataclass(frozen=True)
class ChangeBeside:
    """A change of a file that is neither the configuration nor in one of the stores. It is the only operation of its change.

    `touches`: what it may change. `lock` is held while it is made. `content` returns what it holds and will hold; `store` makes it that.
    """

    content: "Callable[[], Content]"
    store: Callable[[bytes | None], Awaitable[None]]
    lock: AsyncLock
    object: str
    touches: Sequence[Touch]


Operation = Edit | FileOperation | SetRuntime | ChangeBeside


@dataclass(frozen=True)
class Change:
    """The operations, in their order, and what is expected of the configuration that they are made on.

    Stored files change with the configuration, all or nothing; where only they differ the text stays, and with it its version.
    With `skips_same` a change that changes nothing ends without a commit.
    `verify` is awaited under the locks, before anything is written or sent; it raises for a process that the change is not for.
    """

    operations: Sequence[Operation] = ()
    expect: Expect = ANY_VERSION
    reload: Reload = Reload.AUTO
    validation: Validation = Validation.IF_NEEDED
    skips_same: bool = False
    verify: Callable[[], Awaitable[None]] | None = None
    author: Author = field(kw_only=True)

    @cached_property
    def edits(self) -> Sequence[Edit]:
        """What is done to the configuration."""
        return [each for each in self.operations if not isinstance(each, FileOperation | SetRuntime | ChangeBeside)]

    @cached_property
    def files(self) -> Sequence[FileOperation]:
        """What is done to stored files."""
        return [each for each in self.operations if isinstance(each, FileOperation)]

    @cached_property
    def beside(self) -> SetRuntime | ChangeBeside | None:
        """What is done beside configuration and stored files."""
        return next((each for each in self.operations if isinstance(each, SetRuntime | ChangeBeside)), None)

    @property
    def object(self) -> str:
        """What it is to be made to, as far as that is known before it is."""
        alone = self.beside or (self.files[0] if len(self.operations) == 1 and self.files else None)
        return (alone.object if alone else "") or (self.author.request.object if self.author.request else "")

    def apply(self, document: Document) -> Document:
        """Return the document after the change. Raises Moved where it is not as is expected, and what the operations raise."""
        return self.expect.made(self.edits, document)

    @property
    def transaction_id(self) -> str | None:
        """The id of the transaction that is committed, if it is one."""
        return self.expect.transaction or None

    @property
    def is_whole(self) -> bool:
        """Whether the change is live only when the whole text is, else when its own part is."""
        return any(operation.is_whole for operation in self.edits)

    @property
    def text(self) -> PutText | None:
        """The text that was sent, of a change that replaces one."""
        return next((operation for operation in self.operations if isinstance(operation, PutText)), None)

    @property
    def banner(self) -> bool | None:
        """Whether the file is to begin with our header; None: as it does now."""
        return next((operation.banner for operation in self.operations if isinstance(operation, PutText | PutDocument)), None)

    @property
    def claimed(self) -> Claimed:
        """The servers that the process is to run as the document says, even if no line of theirs changes: those that a PUT states.

        An author with limited rights claims those that a rule lets them change altogether, since what others have set changes as well.
        """
        rights = self.author.rights
        if rights is None or rights.are_all:
            return claimed_by_all(self.edits)
        claiming = (edit for edit in self.edits if isinstance(edit, Replace))
        return claimed_by_all(edit for edit in claiming if rights.allow(Touch(name_of(edit.place), CHANGE, frozenset((ANY,)))))


class Same(Exception):
    """A change that is not to be committed, since it changes nothing."""


@dataclass(frozen=True)
class Content:
    """What a file held before and after a change, None where there was none.

    `object` is its name, as in `map/hosts.map`; empty for the configuration. Without `is_kept` it is too large to be remembered, and both
    are None.
    """

    object: str
    path: str
    before: bytes | None
    after: bytes | None
    is_kept: bool = True


@dataclass(frozen=True, eq=False)
class Published:
    """A change of the configuration that is in the file. `is_live`: the process does it without having loaded it.

    `with_files`: stored files wait with it for the reload. `entry`: its id in the history, where that is known.
    """

    version: int
    author: Author
    before: Document = field(repr=False)
    after: Document = field(repr=False)
    is_live: bool = False
    with_files: bool = False
    entry: int | None = None


@dataclass(frozen=True)
class Member:
    """One member of an object in the running process; what it was, and what it is. The whole object without a `member`."""

    object: str
    member: str
    old: Any
    new: Any


class Texts:
    """A configuration before and after a change; `before, after = texts`."""

    def __init__(self, before: Document, after: Document, known: tuple[Effect, ...] | None = None) -> None:
        self.before, self.after = before, after
        self._lock, self._effects = Lock(), known

    def __iter__(self) -> Iterator[Document]:
        return iter((self.before, self.after))

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Computed when they are first asked for, in any thread, which takes long for a large configuration."""
        with self._lock:
            if self._effects is None:
                self._effects = effects(standard_editor(), *self)
            return self._effects

    def ending_in(self, after: Document) -> "Texts":
        """The same change of another form of the text, of which it is known that it does the same."""
        return Texts(self.before, after, self._effects)


@dataclass(frozen=True)
class Outcome:
    """`live`: in effect now. Else `reload_id` names the reload that will make it so, or has made it so where it was `forced`.

    `lasting=False`: the process alone was changed, until its next reload. `former`: the version before. `texts`: the configuration before
    and after, where it was changed. `contents` are those of other files, `members` those of the process alone.
    `commands`: what HAProxy has taken for configuration and files that changed together.
    `entry`: its id in the history, once it is there.
    """

    version: int
    reload_id: str | None = None
    live: bool = False
    forced: bool = False
    reasons: Sequence[Reason] = ()
    lasting: bool = True
    former: int = field(default=0, compare=False)
    texts: Texts | None = field(default=None, repr=False, compare=False)
    contents: Sequence[Content] = field(default=(), repr=False, compare=False)
    members: Sequence[Member] = field(default=(), compare=False)
    commands: Sequence[str] = field(default=(), repr=False, compare=False)
    entry: int | None = field(default=None, compare=False)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """On the objects of the configuration."""
        return self.texts.effects if self.texts else ()

    @property
    def kind(self) -> str:
        if self.forced or not self.lasting:
            return "reloaded" if self.forced else "runtime"
        return "scheduled" if self.reload_id else "live" if self.live else "written"
