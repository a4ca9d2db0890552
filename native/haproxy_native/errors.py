"""The exceptions of the library.

NativeError
├── Missing             a section, child or file that does not exist
│   ├── NotFound         the same, where the protocol has no words for what
│   │   ├── NoEntry           an entry that the history does not have
│   │   └── NoConfirmation    a confirmation that is not remembered
│   └── NoTransaction    an id that is not, or no longer, in progress
├── Exists               a name that is taken
├── InUse                a stored file that the configuration refers to
├── NotTaken             HAProxy refuses what a stored file would hold; file and process are as they were
├── IndexOutOfRange      a position outside a list
├── NoParent             the section a child should go into does not exist
├── Forbidden            what the caller has no right to
├── BadRequest           parameters that contradict one another
├── BadValue             a value that cannot stand in the file (member and reason)
│   ├── Incomplete       half of a condition, without which the line would always hold
│   └── OtherName        a body with another name than the object that it replaces
├── UnknownWords         an edit of a line that holds words the grammar does not know
├── Conflict             another writer was first
│   ├── Stale            a write on an old version
│   │   ├── StaleTransaction  a commit of a transaction that started from one
│   │   └── StaleRenaming     a renaming, which is not merged
│   ├── Touched          an edit by another process at the last moment
│   ├── Collided         both have changed the same
│   │   └── Diverged         what a change left is not as it left it any more
│   ├── NotRevertible    a change of the process alone
│   ├── TextGone         a version whose text is not kept any more
│   ├── NotCommittable   a failed transaction
│   │   └── Outdated         one that another writer overtook
│   ├── NotCancellable   an operation that has begun what cannot be taken back
│   ├── NotPending       a confirmation that is over
│   └── Unconfirmed      a change while that of another waits for its confirmation
├── Moved                what a plan was made for is not so any more
├── NoPlan               a token without a plan
├── NoShadow            no second HAProxy of this text can be asked
├── BreaksTests          a change after which tests of routing would fail
├── Untested             the tests that are required cannot be run
├── TooManyTransactions
├── TooManyOperations
├── ShareExceeded        more than the share of one caller in what all share
├── Refused              HAProxy says the configuration is wrong, always with these bytes
├── CheckImpossible      the check itself could not be done: binary missing, killed, timed out
├── WriteFailed          the disk did not take the file
├── Unreadable           a file that cannot be read
├── Unusable             a directory that the settings name, and what is kept in it
│   └── Unrecorded       a change whose entry the history could not take
├── ReloadFailed         HAProxy did not take the new configuration
└── RuntimeFailure        the Runtime API
    ├── NotLive          what is in order, but only a reload will do
    │   └── RuntimeDenied    what the level of the socket does not permit
    ├── RuntimeAbsent    no socket answers
    │   └── RuntimeUnconfigured  none has answered since the start
    └── RuntimeRefused   HAProxy answered, and the answer is no (runtime/responses.py): a value or a command that it does not accept
        ├── RuntimeMissing      what it was asked about is not in the process
        ├── RuntimeConflict     what cannot be done in the state that the object or the process is in
        │   ├── RuntimeTaken         it is there already
        │   └── RuntimeBusy          sessions are left on what is to go
        └── RuntimeUnseen        HAProxy took it, and does not show it

Each carries `detail`, the protocol text of its class (`label`), and a place where one is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Place:
    """A place in the configuration: file, line from 1, section header, keyword, member of the request."""

    file: str | None = None
    line: int | None = None
    section: str | None = None
    keyword: str | None = None
    member: str | None = None


# Of what would change anything, where nothing is to be changed.
READ_ONLY = "this server is read-only: it reads, validates and plans, and changes nothing (setting read_only)"


class NativeError(Exception):
    """Base of all; `str(error)` is `label: detail`, or what there is of the two."""

    label = ""

    def __init__(self, detail: str = "", *, place: Place | None = None) -> None:
        self.detail, self.place = detail, place
        super().__init__(": ".join(part for part in (self.label, detail) if part))


class Missing(NativeError):
    label = "missing object"


class NotFound(Missing):
    """Its detail is the whole text."""

    label = ""


class NoEntry(NotFound):
    def __init__(self, id_: int) -> None:
        super().__init__(f"the history has no entry {id_}")


class NoConfirmation(NotFound):
    def __init__(self, id_: str) -> None:
        super().__init__(f"confirmation {id_[:40]} does not exist")


class NoTransaction(Missing):
    label = "transaction does not exist"


class Exists(NativeError):
    label = "object already exists"


class InUse(NativeError):
    """Its detail is the whole text."""


class NotTaken(NativeError):
    label = "refused by HAProxy"


class IndexOutOfRange(NativeError):
    label = "index out of range"


class NoParent(NativeError):
    label = "missing parent"


class Forbidden(NativeError):
    """The caller has no right to it. Its detail is the whole text. `object`: the first one that a change must not touch."""

    def __init__(self, detail: str = "", *, object_: str = "") -> None:
        super().__init__(detail)
        self.object = object_


class BadRequest(NativeError):
    """Its detail is the whole text."""


class BadValue(NativeError):
    label = "validation error"


class Incomplete(BadValue):
    """Its detail is the whole text: the member that lacks and what to send."""

    label = ""


class OtherName(BadValue):
    """`place.member` is the member that names the object."""


class UnknownWords(NativeError):
    label = "validation error"


class Conflict(NativeError):
    label = "version mismatch"


@dataclass(frozen=True)
class Clash:
    """One member that two changes have set to different values, None for what is not there; without a `member` the object itself.

    `before`: what it was before both.
    """

    object: str
    member: str
    theirs: Any
    mine: Any
    before: Any = field(default=None, compare=False)


class Collided(Conflict):
    """`clashes`: all that both have changed. `version`: the one that this change was made on, 0 while that is not known."""

    def __init__(self, detail: str = "", *, clashes: Sequence[Clash] = (), version: int = 0) -> None:
        super().__init__(detail)
        self.clashes, self.version = tuple(clashes), version


class Diverged(Collided):
    """What a change left is not there any more as it left it. Its detail is the whole text."""

    label = ""


class NotRevertible(Conflict):
    """Its detail is the whole text."""

    label = ""


class Stale(Conflict):
    """`current` is the version that there is."""

    def __init__(self, detail: str = "", *, current: int = 0) -> None:
        super().__init__(detail)
        self.current = current


class Touched(Conflict):
    """Another process has edited a file between the last look at it and its replacement."""


class StaleTransaction(Stale):
    """`transaction` is its id."""

    def __init__(self, detail: str = "", *, current: int = 0, transaction: str = "") -> None:
        super().__init__(detail, current=current)
        self.transaction = transaction


class StaleRenaming(Stale):
    """A renaming, which is not merged: what came between may have named the object."""


class TextGone(Conflict):
    pass


class NotCommittable(Conflict):
    """Its detail is the whole text."""

    label = ""


class Outdated(NotCommittable):
    """`transaction` is its id."""

    def __init__(self, detail: str = "", *, transaction: str = "") -> None:
        super().__init__(detail)
        self.transaction = transaction


class NoShadow(NativeError):
    """Its detail is the whole text."""

    label = ""


class BreaksTests(NativeError):
    """`failed`: what became of the cases that would fail, as the API shows it; `failed_before`: names of those that failed already."""

    def __init__(self, detail: str = "", *, failed: Sequence[Any] = (), failed_before: Sequence[str] = ()) -> None:
        super().__init__(detail)
        self.failed, self.failed_before = tuple(failed), tuple(failed_before)


class Untested(NativeError):
    """Its detail is the whole text."""


class NotCancellable(Conflict):
    """Its detail is the whole text."""

    label = ""


class NotPending(Conflict):
    """Its detail is the whole text."""

    label = ""


class Moved(NativeError):
    """What a plan or a change was made for is not so any more. Its detail is the whole text."""


class NoPlan(NativeError):
    """Its detail is the whole text."""


class Unconfirmed(Conflict):
    """`confirmation` is the id of the one that is waited for, by `author`, and for `seconds_left` at most. Its detail is the whole text."""

    label = ""

    def __init__(self, detail: str = "", *, confirmation: str = "", author: str = "", seconds_left: float = 0.0) -> None:
        self.confirmation, self.author, self.seconds_left = confirmation, author, seconds_left
        super().__init__(detail)


class TooManyTransactions(NativeError):
    pass


class TooManyOperations(NativeError):
    pass


class ShareExceeded(NativeError):
    """Its detail is the whole text."""


class Alert(Protocol):
    """One thing that HAProxy said: `line` counts from 1 in `file`, `section` is the header above it, `source` the line itself."""

    @property
    def text(self) -> str: ...
    @property
    def file(self) -> str | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def section(self) -> str | None: ...
    @property
    def source(self) -> str | None: ...


class Refused(NativeError):
    """`alerts`: what HAProxy said, one by one, with line and section where they are known (native/haproxy_native/check/messages.py)."""

    label = "validation error"

    def __init__(self, detail: str = "", *, place: Place | None = None, alerts: Sequence[Alert] = ()) -> None:
        super().__init__(detail, place=place)
        self.alerts = tuple(alerts)


class CheckImpossible(NativeError):
    """`reason` is one of: missing, not-executable, killed, timeout, failed."""

    label = "validation error"

    def __init__(self, detail: str, *, reason: str) -> None:
        super().__init__(detail)
        self.reason = reason


class WriteFailed(NativeError):
    label = "invalid change"


class Unreadable(NativeError):
    label = "failed to read configuration"


class Unusable(NativeError):
    """Its detail is the whole text: setting, path, owner and remedy."""


class Unrecorded(Unusable):
    """The history could take no entry of a change, which was not made."""


class ReloadFailed(NativeError):
    """Its detail begins with `Reload failed: `."""


class RuntimeFailure(NativeError):
    pass


class NotLive(RuntimeFailure):
    """Its detail is the reason; a reload makes the process right whatever was done before."""


class RuntimeDenied(NotLive):
    """The process is as it was. Its detail names the socket, its level, and the level that the command needs."""


class RuntimeAbsent(RuntimeFailure):
    """`sent`: the command had gone out, so that HAProxy may have carried it out."""

    def __init__(self, detail: str, *, sent: bool = False) -> None:
        super().__init__(detail)
        self.sent = sent


class RuntimeUnconfigured(RuntimeAbsent):
    pass


class RuntimeRefused(RuntimeFailure):
    """HAProxy's own words, and the command that was refused, never its payload; `detail` joins both."""

    remedy = ""

    def __init__(self, answer: str, command: str, detail: str = "") -> None:
        super().__init__(detail or f"{answer} [{command}]")
        self.answer, self.command = answer, command


class RuntimeMissing(RuntimeRefused):
    pass


class RuntimeConflict(RuntimeRefused):
    pass


class RuntimeTaken(RuntimeConflict):
    pass


class RuntimeBusy(RuntimeConflict):
    """Sessions are left; `remedy` is an edit after which there are none."""

    remedy = "drain the servers of such backends before they are deleted (POST /v3/sidecar/drains)"


class RuntimeUnseen(RuntimeRefused):
    pass
