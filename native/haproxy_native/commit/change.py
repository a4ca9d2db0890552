"""Changes as values, and what becomes of them. A change of a stored file is in file_change.py."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from haproxy_native.changes.expect import ANY as ANY_VERSION
from haproxy_native.changes.expect import Expect
from haproxy_native.changes.operations import Edit, PutDocument, PutText, claimed_by_all
from haproxy_native.disk.file import Draft
from haproxy_native.editing.editor import standard_editor
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.planning.observed import Claimed
from haproxy_native.planning.outcome import FilePlan, Reason
from haproxy_native.planning.touches import ANY, CHANGE, Touch
from haproxy_native.request_context import Author, author
from haproxy_native.text.document import Document


class Reload(Enum):
    """When HAProxy is reloaded for a change: if it needs that (AUTO), in any case and at once (NOW), or never (NONE)."""

    AUTO, NOW, NONE = range(3)


# What files hold, None where there is none.
Contents = Mapping[Path, bytes | None]


class AnyChange(Protocol):
    """What every change has: `Change`, `ObjectChange`, and `FileChange` in file_change.py."""

    @property
    def author(self) -> Author: ...


@dataclass(frozen=True)
class Candidate:
    """A configuration as a change would leave it, which HAProxy accepts. `files`: where what stored files will hold stands now, by their
    paths, None for those that go."""

    before: Document = field(repr=False)
    after: Document = field(repr=False)
    files: Mapping[Path, Path | None] = field(default_factory=dict)


class FileStore(Protocol):
    """What the commit needs of the store of a file that changes with the configuration (native/haproxy_native/storage/store.py)."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str:
        """The kind of its files as objects, as in `map/hosts.map`."""

    @property
    def directory(self) -> Path: ...

    async def plan(self, context: Any, path: Path, content: Path | None) -> FilePlan:
        """How a file is applied to the worker that will hold what `content` holds now, or be deleted where it is None."""

    def draft(self, path: Path, data: bytes = b"") -> Draft:
        """Raises WriteFailed, and Unusable for the directory."""

    def touches(self, path: Path, before: bytes, after: bytes) -> Sequence[Touch]:
        """What a change does to what stands in a file; nothing where it is more than that, or where nothing in it is an object. Blocks."""

    def check_content(self, path: Path, draft: Path) -> None:
        """Raises BadRequest for content that the store does not take."""

    def refuse_named(self, path: Path, document: Document, directory: str) -> None:
        """Raises InUse for a file that the configuration in `directory` names, with the line."""


@dataclass(frozen=True)
class FileEdits:
    """An edit of stored files. `stores` has every file that it reads or changes, `edit` returns those that are to hold something else.

    It is called before the edit of the configuration, each time the change begins anew. Without `is_checked` the stores are not asked
    whether they take the content. `touches`: what it does, for rights; all of each file without it.
    """

    stores: Mapping[Path, FileStore]
    edit: Callable[[Contents], Contents]
    is_checked: bool = True
    touches: Callable[[Contents, Contents], Sequence[Touch]] | None = None


@dataclass(frozen=True)
class Change:
    """A change of the configuration: the operations, in their order, and what is expected of the configuration that they are made on.

    `actions`: runtime commands that are sent without a reload, with `Reload.NONE`. `checked=False` skips `haproxy -c`: used when the
    running text is restored. With `kept` a refused text is kept as a failed transaction.
    With `quick=False` `haproxy -c` is asked even where the change needs no check. With `skips_same` a change that changes nothing ends
    without a commit. `files` change with the text, all or nothing; where only they differ the text stays, and with it its version.
    `verify` is awaited under the locks, before anything is written or sent; it raises for a process that the change is not for.
    Without `tested` the gate is not asked.
    """

    operations: Sequence[Edit] = ()
    expect: Expect = ANY_VERSION
    reload: Reload = Reload.AUTO
    actions: str = ""
    checked: bool = True
    kept: bool = True
    quick: bool = True
    skips_same: bool = False
    tested: bool = True
    files: FileEdits | None = None
    verify: Callable[[], Awaitable[None]] | None = None
    author: Author = field(default_factory=author.get)

    def apply(self, document: Document) -> Document:
        """Return the document after the change. Raises Moved where it is not as is expected, and what the operations raise."""
        return self.expect.made(self.operations, document)

    @property
    def transaction_id(self) -> str | None:
        """The id of the transaction that is committed, if it is one."""
        return self.expect.transaction or None

    @property
    def is_whole(self) -> bool:
        """Whether the change is live only when the whole text is, else when its own part is."""
        return any(operation.is_whole for operation in self.operations)

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

        None where the author's rights are limited: what others have set in the process would change as well.
        """
        is_limited = self.author.rights is not None and not self.author.rights.are_all
        return frozenset() if is_limited else claimed_by_all(self.operations)


class Same(Exception):
    """A change that is not to be committed, since it changes nothing."""


@dataclass(frozen=True)
class ObjectChange:
    """A change of something beside the configuration and its stored files: the running process alone, or a SPOE file.

    `object` is its `kind/name`. `lasting`: it is in a file, and not in the process alone. `attempt` compares and prepares, takes the lock,
    makes the change and returns its outcome; it raises Overtaken, with nothing changed, to be called again. `touched`: what it may
    change; all of `object` without it.
    """

    object: str
    attempt: "Callable[[], Awaitable[Outcome]]"
    lasting: bool = False
    touched: Sequence[Touch] = ()
    author: Author = field(default_factory=author.get)

    @property
    def touches(self) -> Sequence[Touch]:
        return self.touched or [Touch(self.object, CHANGE, frozenset((ANY,)))]


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
