"""Identify the author of a change, and the fields, such as a request's id, that log lines and reload records contain.

Functions that make a change take its author as an argument. Only the fields are in a context variable: a new task or timer inherits those
of the task that starts it.
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
        """Return whether a change with these touches (native/haproxy_native/planning/touches.py) may reload HAProxy.

        Raises Forbidden if the change is not allowed at all.
        """

    def allow(self, touch: Any) -> bool:
        """Return whether a change with this touch alone is allowed."""

    def may_change_within(self, object_: str) -> bool:
        """Return whether any change of an object, or of something inside it, can be allowed."""

    def may_read(self, object_: str) -> bool:
        """Return whether an object may be read."""

    def knows(self, object_: str) -> bool:
        """Return whether any rule concerns the object."""


@dataclass(eq=False)
class Request:
    """The HTTP request of a change. The commit reports to the API through its last two fields."""

    path: str = ""
    # The operation's id in the OpenAPI document.
    operation: str = ""
    # The name of the object that operation and path refer to; empty if there is none.
    object: str = ""
    # Whether the routing tests are required for this change, whatever the settings say.
    requires_tests: bool = False
    # Whether the history has an entry for a commit of this request, made or refused.
    is_recorded: bool = False
    # The routing tests that failed before the commit and still fail.
    failing_tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Author:
    """Who requests a change, and why."""

    # The name of a user, of a client certificate, or of what changes the configuration by itself, such as service discovery; OUTSIDE for an
    # edit of the file by another process.
    name: str = ""
    # The address of the client.
    address: str = ""
    request_id: str = ""
    # The client's own message for the history.
    message: str = ""
    # What has caused the change, as `kind/id`, such as `revert/17` for a revert of entry 17.
    cause: str = ""
    # The id of the confirmation that the change waits for.
    confirmation: str = ""
    # Whether a reload that its changes need begins at once, and the commit waits for it.
    is_urgent: bool = field(default=False, compare=False)
    # What the author may do; None for everything.
    rights: Permissions | None = field(default=None, compare=False, repr=False)
    # The kind of the name, such as `users` or `tokens`; empty for authors without roles.
    group: str = field(default="", compare=False)
    # None if no client has asked for the change.
    request: Request | None = field(default=None, compare=False, repr=False)

    def permit(self, *touched: Any) -> None:
        """Raise Forbidden unless the author may make a change with these touches (native/haproxy_native/planning/touches.py)."""
        if self.rights is not None:
            self.rights.permit(touched)

    @property
    def identity(self) -> str:
        """The identity of the caller, such as `users/ann`; empty if the author is not a caller with roles."""
        return f"{self.group}/{self.name}" if self.group and self.name else ""


# The server itself, for changes that no client has requested.
NOBODY = Author()
# The fields of the current task, such as a request's id and its trace.
origin: ContextVar[Mapping[str, str]] = ContextVar("origin", default=MappingProxyType({}))
