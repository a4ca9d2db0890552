"""Who asks for a change, and the fields, such as the id of the request, that log lines and reload records have.

The author of a change is an argument of every function that makes the change. Only the fields are ambient: a task and a timer inherit those
that were set where they were started.
"""

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

OUTSIDE = "outside"


class Permissions(Protocol):
    """What an author may do (native/haproxy_native/access/rights.py)."""

    @property
    def are_all(self) -> bool:
        """Whether everything is allowed."""

    def permit(self, touched: Iterable[Any]) -> bool:
        """Return whether a change that touches this (native/haproxy_native/planning/touches.py) may reload HAProxy. Raises Forbidden."""

    def allow(self, touch: Any) -> bool:
        """Return whether this touch alone is allowed."""

    def may_change_within(self, object_: str) -> bool:
        """Return whether some change of an object, or of something inside it, may be allowed."""

    def may_read(self, object_: str) -> bool:
        """Return whether an object may be read."""

    def knows(self, object_: str) -> bool:
        """Return whether any rule is about the object."""


@dataclass(eq=False)
class Request:
    """What a caller asks for."""

    path: str = ""
    # The id of the operation.
    operation: str = ""
    # The object that operation and path name; empty if they name none.
    object: str = ""
    # Whether the change may break no routing test.
    requires_tests: bool = False
    # Whether a commit that it has asked for is in the history, made or refused.
    is_recorded: bool = False
    # The routing tests that failed before its commit and still fail.
    failing_tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Author:
    """Who has asked for a change, and why."""

    # The name of a user, of a client certificate, or of what changes the configuration by itself, such as service discovery; OUTSIDE for an
    # edit of the file by another process.
    name: str = ""
    # That of the client.
    address: str = ""
    request_id: str = ""
    # In the client's words.
    message: str = ""
    # The part of the history that the change acts on, as in `revert/17`.
    cause: str = ""
    # The id of the confirmation that the change waits for.
    confirmation: str = ""
    # Whether the reloads that its changes need begin at once, and are awaited.
    is_urgent: bool = field(default=False, compare=False)
    # None allows everything.
    rights: Permissions | None = field(default=None, compare=False, repr=False)
    # The kind of name, as in `role_of`; empty for authors without roles.
    group: str = field(default="", compare=False)
    # None if no client has asked for the change.
    request: Request | None = field(default=None, compare=False, repr=False)

    def permit(self, *touched: Any) -> None:
        """Raise Forbidden unless the author may touch this (native/haproxy_native/planning/touches.py)."""
        if self.rights is not None:
            self.rights.permit(touched)

    @property
    def identity(self) -> str:
        """The identity of the caller, as in `users/ann`: equal only for the same caller; empty for everything else."""
        return f"{self.group}/{self.name}" if self.group and self.name else ""


# The server itself, for what no client has asked for.
NOBODY = Author()
# Fields, such as a request's id and its trace.
origin: ContextVar[Mapping[str, str]] = ContextVar("origin", default=MappingProxyType({}))
