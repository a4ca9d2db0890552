"""Who asks for a change, and the fields, such as the id of the request and its trace, that log lines and reload records carry.

The author of a change is an argument of whatever makes the change. Only the fields are ambient: a task and a timer inherit those that were
set where they were started.
"""

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

OUTSIDE = "outside"


class Rights(Protocol):
    """What an author may do (native/haproxy_native/access/rights.py)."""

    @property
    def are_all(self) -> bool:
        """Whether everything is allowed."""

    def permit(self, touched: Iterable[Any]) -> bool:
        """Whether a change that touches this (native/haproxy_native/planning/touches.py) may reload HAProxy. Raises Forbidden."""

    def allow(self, touch: Any) -> bool:
        """Whether this may be touched, by itself."""

    def may_change_within(self, object_: str) -> bool:
        """Whether any change of an object, or of something inside it, may be allowed."""

    def may_read(self, object_: str) -> bool:
        """Whether an object may be read."""

    def knows(self, object_: str) -> bool:
        """Whether any rule is for the object."""


@dataclass(eq=False)
class Request:
    """What a caller asks for: the id of the operation, the path, and the object, as far as these name one.

    With `requires_tests` what it changes may break no test of routing. `is_recorded`: a commit that it has asked for is in the history,
    made or refused. `failing_tests`: names of tests of routing that have failed before its commit, and fail still.
    """

    path: str = ""
    operation: str = ""
    object: str = ""
    requires_tests: bool = False
    is_recorded: bool = False
    failing_tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Author:
    """Who asked for a change, and why.

    `name` is that of a user, of a client certificate, or of what changes the configuration by itself, such as service discovery; OUTSIDE
    for an edit of the file itself. `address` is the client's. `message` is in the client's words. `cause` is what of the history is acted
    on, as in `revert/17`; `confirmation` is the id of the confirmation that the change waits for. With `is_urgent` the reloads that its
    changes need begin at once, and are awaited. Without `rights` everything is allowed.
    `group` says what kind of name it is, as in `role_of`; empty for what has no roles. `request`: where a client has asked for it.
    """

    name: str = ""
    address: str = ""
    request_id: str = ""
    message: str = ""
    cause: str = ""
    confirmation: str = ""
    is_urgent: bool = field(default=False, compare=False)
    rights: Rights | None = field(default=None, compare=False, repr=False)
    group: str = field(default="", compare=False)
    request: Request | None = field(default=None, compare=False, repr=False)

    def permit(self, *touched: Any) -> None:
        """Raise Forbidden unless the author may do this: what a change touches (native/haproxy_native/planning/touches.py)."""
        if self.rights is not None:
            self.rights.permit(touched)

    @property
    def identity(self) -> str:
        """Returns the caller's identity, as in `users/ann`: equal only for the same caller; empty for everything else."""
        return f"{self.group}/{self.name}" if self.group and self.name else ""


# The server itself, for what nobody has asked it for.
NOBODY = Author()
# Fields, such as a request's id and its trace.
origin: ContextVar[Mapping[str, str]] = ContextVar("origin", default=MappingProxyType({}))
