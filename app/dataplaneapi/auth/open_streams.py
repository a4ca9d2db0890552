"""Answers that go on: they end when their caller may no longer ask for them."""

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
    """`user` is the caller as the users had it."""

    caller: Caller
    user: User | None
    rights: Rights | None
    close: Callable[[], None]


class OpenStreams:
    """`review` is called whenever users or rights may have changed. A stream ends by itself when its caller's credentials expire."""

    def __init__(self, bearers: Bearers) -> None:
        self._bearers = bearers
        self._streams: set[_Stream] = set()

    @contextmanager
    def opened(self, caller: Caller, roles: Roles | None, close: Callable[[], None]) -> Iterator[None]:
        """`close` is called where the caller has other rights by now, or another password, or is no user any more."""
        stream = _Stream(caller, self._bearers.user(caller), caller.rights(roles), close)
        self._streams.add(stream)
        try:
            yield
        finally:
            self._streams.discard(stream)

    def review(self, roles: Roles | None) -> None:
        for stream in list(self._streams):
            now = self._bearers.present(stream.caller)
            if now is None or now.rights(roles) != stream.rights or self._bearers.user(now) != stream.user:
                stream.close()
