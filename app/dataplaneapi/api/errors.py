"""Convert errors to responses. STATUS maps the errors of the library to statuses, and `error_response` creates all error bodies.

An error body is `{"code": status, "message": text}`, with further members for some errors. The first line of the text has at most LONGEST
characters.
"""

import dataclasses
import re
from collections.abc import Iterable
from math import ceil
from typing import Any

from dataplaneapi.api.responses import RETRY_AFTER, Header, Reply, json_response
from haproxy_native import errors as native

LONGEST = 300
# The length to which a long name or value is shortened, in characters.
_KEPT = 100
_MARK = "..."
_LONG_QUOTED = re.compile(rf"\"[^\"\n]{{{_KEPT + 1},}}\"|(?<![^\s(\[=:,])'[^'\n]{{{_KEPT + 1},}}'")
_LONG_WORD = re.compile(rf"\S{{{_KEPT + 1},}}")
# Separators at which a line may be broken, best first.
_BREAKS = ("\n", "; ", ": ", ", ", " ")


def summarized(message: str) -> str:
    """Return the message with a first line of at most LONGEST characters.

    If the first line is longer, shorten the long names and values in it. If the line is then still too long, break it.
    """
    line, end, rest = message.partition("\n")
    if len(line) <= LONGEST:
        return message
    line = _LONG_QUOTED.sub(_shortened, line)
    if len(line) > LONGEST:
        line = _LONG_WORD.sub(_shortened, line)
    if len(line) > LONGEST:
        half = LONGEST // 2
        ends = [line.rfind(each, half, LONGEST) + len(each.rstrip()) for each in _BREAKS if each in line[half:LONGEST]]
        at = ends[0] if ends else LONGEST
        line = f"{line[:at]}\n{line[at:].lstrip()}"
    return line + end + rest


def _shortened(match: re.Match[str]) -> str:
    """Return a long word or quoted text with its middle replaced by _MARK."""
    text = match[0]
    side = (_KEPT - len(_MARK)) // 2
    return text[:side] + _MARK + text[-side:]


STATUS: dict[type[native.NativeError], int] = {
    native.Missing: 404,
    native.NoSuchObject: 404,
    native.NotFound: 404,
    native.NoEntry: 404,
    native.NoConfirmation: 404,
    native.NoPlan: 404,
    native.ChangedSince: 412,
    native.NoTransaction: 400,
    native.Forbidden: 403,
    native.Exists: 409,
    native.InUse: 409,
    native.RefusedAtRuntime: 400,
    native.IndexOutOfRange: 400,
    native.NoParent: 400,
    native.BadRequest: 400,
    native.BadValue: 400,
    native.UnknownMember: 400,
    native.ReadOnly: 400,
    native.Incomplete: 422,
    native.OtherName: 400,
    native.UnknownWords: 400,
    native.Conflict: 409,
    native.Diverged: 409,
    native.Stale: 409,
    native.StaleRenaming: 409,
    native.StaleTransaction: 409,
    native.EditedMeanwhile: 409,
    native.Collided: 409,
    native.TextNotStored: 409,
    native.NotCommittable: 406,
    native.Outdated: 406,
    native.NoShadow: 501,
    native.BreaksTests: 400,
    native.Untested: 503,
    native.NotCancellable: 409,
    native.NotPending: 409,
    native.Unconfirmed: 409,
    native.NotRevertible: 409,
    native.TooManyTransactions: 429,
    native.TooManyOperations: 429,
    native.ShareExceeded: 429,
    native.Refused: 400,
    native.CheckImpossible: 503,
    native.WriteFailed: 500,
    native.Unreadable: 500,
    native.Unusable: 503,
    native.Unrecorded: 507,
    native.ReloadFailed: 400,
    native.RuntimeFailure: 500,
    native.RuntimeAbsent: 503,
    native.RuntimeUnconfigured: 500,
    native.RuntimeDenied: 403,
    native.RuntimeRefused: 400,
    native.RuntimeMissing: 404,
    native.RuntimeConflict: 409,
    native.RuntimeExists: 409,
    native.RuntimeBusy: 409,
    native.NeedsReload: 409,
    native.RuntimeUnverified: 503,
    native.NativeError: 500,
}


# The API call that resolves or explains the error. It is appended to the message. The placeholders are attributes of the error.
_MERGE = (
    "PUT /v3/services/haproxy/transactions/{transaction}?on_conflict=merge merges it with the later changes if these have changed "
    "other members"
)
CALLS: dict[type[native.NativeError], str] = {
    native.Outdated: f"{_MERGE}; POST /v3/sidecar/plan?transaction_id={{transaction}} shows what it changes",
    native.NoEntry: "GET /v3/sidecar/history lists the entries",
    native.NotRevertible: (
        "DELETE /v3/sidecar/overrides/{{object}} removes the overrides of a server, and POST /v3/sidecar/reloads restores everything "
        "else from the files"
    ),
    native.NoConfirmation: "GET /v3/sidecar/confirmations lists the confirmations",
    native.Unconfirmed: (
        "this is not a version conflict: try again then, confirm it (POST /v3/sidecar/confirmations/{confirmation}/confirm), "
        "or roll it back (DELETE /v3/sidecar/confirmations/{confirmation})"
    ),
}

# The remedy of errors whose message must equal that of the Data Plane API. It is the member `remedy` of the body.
REMEDIES: dict[type[native.NativeError], str] = {
    native.Stale: (
        "read the object again and send ?version={current}, or send ?on_conflict=merge with the old version, "
        "which merges the change if the later ones have changed other members"
    ),
    native.StaleRenaming: "read the object again and send ?version={current}; a renaming cannot be merged",
    native.StaleTransaction: (f"{_MERGE}; otherwise start a new one with POST /v3/services/haproxy/transactions?version={{current}}"),
}


class ApiError(Exception):
    """An error of the HTTP layer, with its status. `members` are further members of the error body."""

    def __init__(self, status: int, message: str, *, headers: Iterable[Header] = (), **members: Any) -> None:
        super().__init__(message)
        self.status, self.message, self.headers, self.members = status, message, tuple(headers), members


def status_of(error: native.NativeError) -> int:
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def error_response(status: int, message: str, headers: Iterable[Header] = (), **members: Any) -> Reply:
    return json_response(status, {"code": status, "message": summarized(message)} | members, headers)


def response_to(error: Exception) -> Reply:
    """Return the response to an error of the library or of the HTTP layer. Any other exception is a bug and gets a 500."""
    if isinstance(error, ApiError):
        return error_response(error.status, error.message, error.headers, **error.members)
    if not isinstance(error, native.NativeError):
        return error_response(500, f"unexpected failure: {type(error).__name__}; the log has the traceback")
    message = str(error) or type(error).__name__
    if call := CALLS.get(type(error)):
        message += f"; {call.format_map(vars(error))}"
    headers: list[Header] = []
    members: dict[str, Any] = {}
    if remedy := REMEDIES.get(type(error)):
        members["remedy"] = remedy.format_map(vars(error))
    if isinstance(error, native.ShareExceeded):
        headers = [(RETRY_AFTER, b"1")]
    if isinstance(error, native.Unconfirmed):
        headers = [(RETRY_AFTER, b"%d" % ceil(error.seconds_left))]
        members |= {"confirmation": error.confirmation, "author": error.author, "seconds_left": ceil(error.seconds_left)}
    if isinstance(error, native.ReloadFailed):
        members["reload_id"] = error.reload_id
    if isinstance(error, native.BreaksTests):
        members |= {"failed_tests": list(error.failed), "failed_before": list(error.failed_before)}
    if alerts := getattr(error, "alerts", None):
        members["alerts"] = [_plain(alert) for alert in alerts]
    if error.place is not None:
        members["place"] = _plain(error.place)
    return error_response(status_of(error), message, headers, **members)


def _plain(value: Any) -> Any:
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    return {name: member_value for name, member_value in dataclasses.asdict(value).items() if member_value is not None}
