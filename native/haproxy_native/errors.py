"""The exceptions of the library.

NativeError
├── Missing             a section, child or file that does not exist
│   ├── NoSuchObject     a name that a collection does not have (native/haproxy_native/objects)
│   ├── NotFound         the same, for kinds that the reference does not have
│   │   ├── NoEntry           an entry that the history does not have
│   │   └── NoConfirmation    a confirmation that does not exist
│   └── NoTransaction    an id that is not, or no longer, in progress
├── Exists               a name that is taken
├── InUse                a stored file that the configuration refers to
├── RefusedAtRuntime     HAProxy refuses the content of a stored file; file and process stay unchanged
├── IndexOutOfRange      a position outside a list
├── NoParent             the section a child should go into does not exist
├── Forbidden            the caller lacks a permission
├── BadRequest           parameters that contradict one another
├── BadValue             a value that the file cannot contain (member and reason)
│   ├── Incomplete       half of a condition, so that the line would always apply
│   ├── OtherName        a body with another name than the object that it replaces
│   ├── UnknownMember    a member that the schema does not have (native/haproxy_native/objects)
│   └── ReadOnly         an assignment to an object that belongs to no change
├── UnknownWords         an edit of a line with words that the grammar does not know
├── Conflict             another writer was first
│   ├── Stale            a write on an old version
│   │   ├── StaleTransaction  a commit of a transaction that started from one
│   │   └── StaleRenaming     a renaming, which is not merged
│   ├── EditedMeanwhile  an edit by another process at the last moment
│   ├── Collided         two changes of the same member
│   │   └── Diverged         a revert of a change that was overwritten since
│   ├── NotRevertible    a revert of a change of the process alone
│   ├── TextNotStored    a version whose text is no longer stored
│   ├── NotCommittable   a failed transaction
│   │   └── Outdated         a transaction that another writer overtook
│   ├── NotCancellable   an operation that has begun a step that cannot be reverted
│   ├── NotPending       a confirmation that has ended
│   └── Unconfirmed      a change while another one waits for its confirmation
├── ChangedSince         the object or text has changed since the plan was made or the client has read it
├── NoPlan               a token for which no plan is stored
├── NoShadow             no second HAProxy can be started with this text
├── BreaksTests          a change after which required routing tests would fail
├── Untested             the required tests cannot be run
├── TooManyTransactions
├── TooManyOperations
├── ShareExceeded        more than one caller's share of a pool
├── Refused              HAProxy refuses the configuration
├── CheckImpossible      the check failed: binary missing, killed, timed out
├── WriteFailed          the disk did not accept the file
├── Unreadable           a file that cannot be read
├── Unusable             a directory that the settings name, or what is stored in it
│   └── Unrecorded       a change whose entry could not be written to the history
├── ReloadFailed         HAProxy did not load the new configuration
└── RuntimeFailure        the Runtime API
    ├── NeedsReload      a change that needs a reload
    │   └── RuntimeDenied    a command that the level of the socket does not permit
    ├── RuntimeAbsent    no socket answers
    │   └── RuntimeUnconfigured  no socket has answered since the start
    └── RuntimeRefused   HAProxy refuses a value or a command (runtime/responses.py)
        ├── RuntimeMissing      the object is not in the process
        ├── RuntimeConflict     the state of the object or the process does not allow it
        │   ├── RuntimeExists        the object exists already
        │   └── RuntimeBusy          the object still has sessions
        └── RuntimeUnverified    HAProxy accepted it, and does not report it

Each exception has a message (`detail`), the text of its class in the protocol of the Data Plane API (`label`), and a place in the
configuration, or None (`place`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Place:
    """A location in the configuration: file, line (from 1), section header, keyword, member of the request."""

    file: str | None = None
    line: int | None = None
    section: str | None = None
    keyword: str | None = None
    member: str | None = None


# The refusal of every change by a read-only server.
READ_ONLY = "this server is read-only: it reads, validates and plans, and changes nothing (setting read_only)"


class NativeError(Exception):
    """The base class. `str(error)` is `label: detail`; if one of the two is empty, only the other. `repr(error)` shows only one line."""

    label = ""

    def __init__(self, detail: str = "", *, place: Place | None = None) -> None:
        self.detail, self.place = detail, place
        super().__init__(": ".join(part for part in (self.label, detail) if part))

    @property
    def summary(self) -> str:
        """What is wrong, in one line."""
        return self.detail.partition("\n")[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.summary!r})"


class Missing(NativeError):
    """Raised if a section, child or file that the caller names does not exist. HTTP 404."""

    label = "missing object"


class NoSuchObject(Missing, KeyError):
    """Raised if a collection has no object of this name. HTTP 404. `detail` is the complete message and suggests the most similar name."""

    label = ""
    # KeyError's own quotes the message.
    __str__ = Exception.__str__


class NotFound(Missing):
    """Raised instead of Missing if `detail` is the complete message. HTTP 404."""

    label = ""


class NoEntry(NotFound):
    """Raised if the history has no entry with this id. HTTP 404."""

    def __init__(self, id_: int) -> None:
        super().__init__(f"the history has no entry {id_}")


class NoConfirmation(NotFound):
    """Raised if no confirmation has this id. HTTP 404."""

    def __init__(self, id_: str) -> None:
        super().__init__(f"confirmation {id_[:40]} does not exist")


class NoTransaction(Missing):
    """Raised if no transaction with this id is in progress. HTTP 400."""

    label = "transaction does not exist"


class Exists(NativeError):
    """Raised if the name of a new or renamed object is taken. HTTP 409."""

    label = "object already exists"


class InUse(NativeError):
    """Raised on deleting an object or a file that the configuration refers to. HTTP 409. `detail` is the complete message."""


class RefusedAtRuntime(NativeError):
    """Raised if HAProxy refuses a change that must be applied at runtime. HTTP 400. The file and the process are unchanged."""

    label = "refused by HAProxy"


class IndexOutOfRange(NativeError):
    """Raised if an index is not in the list. HTTP 400."""

    label = "index out of range"


class NoParent(NativeError):
    """Raised if the section that contains the child does not exist. HTTP 400."""

    label = "missing parent"


class Forbidden(NativeError):
    """Raised if the caller lacks a permission, or the server is read-only. HTTP 403. `detail` is the complete message.

    `object`: the first object that the caller may not change, or empty.
    """

    def __init__(self, detail: str = "", *, object_: str = "") -> None:
        super().__init__(detail)
        self.object = object_


class BadRequest(NativeError):
    """Raised if parameters or their combination are invalid. HTTP 400. `detail` is the complete message."""


class BadValue(NativeError):
    """Raised if the file cannot contain a value. HTTP 400. `place.member` names the member of the request, if the member is known."""

    label = "validation error"


class Incomplete(BadValue):
    """Raised if a body lacks a required value: half of a condition, or a secret that is masked. HTTP 422.

    `detail` is the complete message: the missing member, and what to send.
    """

    label = ""


class OtherName(BadValue):
    """Raised if the body of a replacement has another name than the object. HTTP 400. `place.member`: the member that contains the name."""


class UnknownMember(BadValue, AttributeError):
    """Raised if the schema has no such member. HTTP 400. `place.member` is the member; `detail` suggests the most similar one."""


class ReadOnly(BadValue, AttributeError):
    """Raised on assigning to an object that belongs to no change. HTTP 400.

    `detail` says why the object cannot be changed, and how to get an object that can be changed.
    """


class UnknownWords(NativeError):
    """Raised on editing a line that has words unknown to the grammar. HTTP 400. `place` is the line."""

    label = "validation error"


class Conflict(NativeError):
    """Raised if another change has made this one impossible. HTTP 409."""

    label = "version mismatch"


@dataclass(frozen=True)
class Clash:
    """A member that two changes have set to different values. The values are None if the member is missing."""

    object: str
    # Empty for the object itself.
    member: str
    theirs: Any
    mine: Any
    # The value before both changes.
    before: Any = field(default=None, compare=False)


class Collided(Conflict):
    """Raised if this change and a later one have set the same members to different values. HTTP 409.

    `clashes`: these members. `version`: the version that this change was made on; 0 if the version is unknown.
    """

    def __init__(self, detail: str = "", *, clashes: Sequence[Clash] = (), version: int = 0) -> None:
        super().__init__(detail)
        self.clashes, self.version = tuple(clashes), version


class Diverged(Collided):
    """Raised if a change cannot be reverted, mostly because a later change overwrote it. HTTP 409. `detail` is the complete message."""

    label = ""


class NotRevertible(Conflict):
    """Raised on reverting an entry that changed only the process, not the files. HTTP 409. `detail` is the complete message."""

    label = ""


class Stale(Conflict):
    """Raised if the change was made on an older version of the configuration. HTTP 409. `current`: the current version."""

    def __init__(self, detail: str = "", *, current: int = 0) -> None:
        super().__init__(detail)
        self.current = current


class EditedMeanwhile(Conflict):
    """Raised if another process has edited a file immediately before this server would have replaced it. HTTP 409."""


class StaleTransaction(Stale):
    """Raised on committing a transaction that started from an older version. HTTP 409. `transaction`: its id."""

    def __init__(self, detail: str = "", *, current: int = 0, transaction: str = "") -> None:
        super().__init__(detail, current=current)
        self.transaction = transaction


class StaleRenaming(Stale):
    """Raised on renaming an object of an older version. HTTP 409.

    A renaming cannot be merged, since a later change may refer to the object by its former name.
    """


class TextNotStored(Conflict):
    """Raised if a change cannot be merged, because the text of the version that it was made on is no longer stored. HTTP 409."""


class NotCommittable(Conflict):
    """Raised on committing a transaction that has failed. HTTP 406. `detail` is the complete message."""

    label = ""


class Outdated(NotCommittable):
    """Raised on committing a transaction that became outdated when another change was committed. HTTP 406. `transaction`: its id."""

    def __init__(self, detail: str = "", *, transaction: str = "") -> None:
        super().__init__(detail)
        self.transaction = transaction


class NoShadow(NativeError):
    """Raised if no second HAProxy can be started with a text. HTTP 501. `detail` is the complete message."""

    label = ""


class BreaksTests(NativeError):
    """Raised if required routing tests would fail after the change. HTTP 400.

    `failed`: the results of the tests that would fail, as in the API. `failed_before`: the names of tests that fail already.
    """

    def __init__(self, detail: str = "", *, failed: Sequence[Any] = (), failed_before: Sequence[str] = ()) -> None:
        super().__init__(detail)
        self.failed, self.failed_before = tuple(failed), tuple(failed_before)


class Untested(NativeError):
    """Raised if the required routing tests cannot be run. HTTP 503. `detail` is the complete message."""


class NotCancellable(Conflict):
    """Raised on cancelling an operation that has begun a step that cannot be reverted. HTTP 409. `detail` is the complete message."""

    label = ""


class NotPending(Conflict):
    """Raised on confirming or rolling back if the confirmation has ended. HTTP 409. `detail` is the complete message."""

    label = ""


class ChangedSince(NativeError):
    """Raised if the object or the text has changed since the client read it or since the plan was made. HTTP 412.

    `detail` is the complete message.
    """


class NoPlan(NativeError):
    """Raised if no plan is stored for a token. HTTP 404. `detail` is the complete message."""


class Unconfirmed(Conflict):
    """Raised on a change while an earlier one waits for its confirmation. HTTP 409. `detail` is the complete message.

    `confirmation`: the id of the confirmation, which is expected from `author` within `seconds_left`.
    """

    label = ""

    def __init__(self, detail: str = "", *, confirmation: str = "", author: str = "", seconds_left: float = 0.0) -> None:
        self.confirmation, self.author, self.seconds_left = confirmation, author, seconds_left
        super().__init__(detail)


class TooManyTransactions(NativeError):
    """Raised on starting a transaction if the maximum number is in progress. HTTP 429."""


class TooManyOperations(NativeError):
    """Raised on starting an operation if the maximum number is running. HTTP 429."""


class ShareExceeded(NativeError):
    """Raised if a caller has used up its share of a pool. HTTP 429. `detail` is the complete message."""


class Alert(Protocol):
    """One message of HAProxy. `line`: the line in `file`, from 1. `section`: the header of its section. `source`: the text of the line."""

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
    """Raised if HAProxy refuses the configuration. HTTP 400.

    `alerts`: HAProxy's messages, with line and section if they are known (native/haproxy_native/check/messages.py).
    """

    label = "validation error"

    def __init__(self, detail: str = "", *, place: Place | None = None, alerts: Sequence[Alert] = ()) -> None:
        super().__init__(detail, place=place)
        self.alerts = tuple(alerts)


class CheckImpossible(NativeError):
    """Raised if HAProxy cannot be run to check a configuration. HTTP 503.

    `reason` is one of: missing, not-executable, killed, timeout, failed.
    """

    label = "validation error"

    def __init__(self, detail: str, *, reason: str) -> None:
        super().__init__(detail)
        self.reason = reason


class WriteFailed(NativeError):
    """Raised if a file cannot be written, deleted or restored. HTTP 500."""

    label = "invalid change"


class Unreadable(NativeError):
    """Raised if a file cannot be read or parsed. HTTP 500."""

    label = "failed to read configuration"


class Unusable(NativeError):
    """Raised if a directory of the settings, or the data that this server stores there, cannot be used. HTTP 503.

    `detail` is the complete message, with setting, path, owner and remedy.
    """


class Unrecorded(Unusable):
    """Raised if the entry of a change cannot be written to the history. HTTP 507. The change is not made."""


class ReloadFailed(NativeError):
    """Raised if HAProxy did not load the new configuration. HTTP 400.

    `detail` is `Reload failed: ` and HAProxy's whole output; `alert` is the first alert in it, or empty. `reload_id` names the reload.
    """

    def __init__(self, detail: str = "", *, alert: str = "", reload_id: str = "") -> None:
        super().__init__(detail)
        self.alert, self.reload_id = alert, reload_id

    @property
    def summary(self) -> str:
        return f"Reload failed: {self.alert}" if self.alert else super().summary


class RuntimeFailure(NativeError):
    """The base class of failures of the Runtime API. HTTP 500."""


class NeedsReload(RuntimeFailure):
    """Raised if only a reload can apply a change. HTTP 409. `detail` is the reason. Some commands of the change may have been sent."""


class RuntimeDenied(NeedsReload):
    """Raised if the level of the socket does not permit a command. HTTP 403. The process is unchanged.

    `detail` names the socket, its level, and the level that the command needs.
    """


class RuntimeAbsent(RuntimeFailure):
    """Raised if no socket of HAProxy answers. HTTP 503. `sent`: whether the command was sent, so that HAProxy may have executed it."""

    def __init__(self, detail: str, *, sent: bool = False) -> None:
        super().__init__(detail)
        self.sent = sent


class RuntimeUnconfigured(RuntimeAbsent):
    """Raised if no socket of HAProxy has answered since this server started. HTTP 500."""


class RuntimeRefused(RuntimeFailure):
    """Raised if HAProxy refuses a command or a value. HTTP 400.

    `answer`: HAProxy's message. `command`: the refused command, without its payload. `detail` contains both.
    """

    remedy = ""

    def __init__(self, answer: str, command: str, detail: str = "") -> None:
        super().__init__(detail or f"{answer} [{command}]")
        self.answer, self.command = answer, command


class RuntimeMissing(RuntimeRefused):
    """Raised if the process does not have the object of a command. HTTP 404."""


class RuntimeConflict(RuntimeRefused):
    """Raised if the state of the object or of the process does not allow a command. HTTP 409."""


class RuntimeExists(RuntimeConflict):
    """Raised if the process already has an object of this name. HTTP 409."""


class RuntimeBusy(RuntimeConflict):
    """Raised if an object cannot be deleted because it still has sessions. HTTP 409. `remedy`: how to end them."""

    remedy = "drain the servers of such backends before they are deleted"


class RuntimeUnverified(RuntimeRefused):
    """Raised if HAProxy accepted a command, but does not report the new value. HTTP 503."""
