"""Close open streams when the permissions or the credentials of their callers change."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dataplaneapi.auth.bearers import Bearers
from dataplaneapi.auth.caller import Caller
from dataplaneapi.settings.roles import Roles
from haproxy_native.access.rights import Rights
from haproxy_native.editing.userlist import User


@dataclass(frozen=True, eq=False)
class _Stream:
    """An open stream. `user` and `rights` are the user and the rights of the caller when the stream was opened."""

    caller: Caller
    user: User | None
    rights: Rights | None
    close: Callable[[], None]


class OpenStreams:
    """The open streams of the server. Call `review` whenever users, tokens or permissions may have changed.

    When the credentials of a caller expire, the handler of the stream ends the stream without `review`.
    """

    def __init__(self, bearers: Bearers) -> None:
        self._bearers = bearers
        self._streams: set[_Stream] = set()

    @contextmanager
    def track(self, caller: Caller, roles: Roles | None, close: Callable[[], None]) -> Iterator[None]:
        """Register a stream until the body ends.

        `review` calls `close` if the caller is gone or its permissions or password have changed.
        """
        stream = _Stream(caller, self._bearers.user(caller), caller.rights(roles), close)
        self._streams.add(stream)
        try:
            yield
        finally:
            self._streams.discard(stream)

    def review(self, roles: Roles | None) -> None:
        """Close the streams of callers that are gone, or whose permissions or password have changed."""
        for stream in list(self._streams):
            caller = self._bearers.refreshed(stream.caller)
            if caller is None or caller.rights(roles) != stream.rights or self._bearers.user(caller) != stream.user:
                stream.close()
