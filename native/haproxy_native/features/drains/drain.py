"""What a drain is asked for, and what its operation remembers. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, Self

from haproxy_native.commit.servers_in_process import STATE
from haproxy_native.errors import Conflict, NativeError
from haproxy_native.features.drains.servers import Row, named
from haproxy_native.planning import touches

DRAIN = "drain"
NOTHING, MAINT, DELETE, CUT = "nothing", "maint", "delete", "cut"
STAY, RESTORE = "stay", "restore"


class TooFewReady(Conflict):
    """Its detail is the whole text."""

    label = ""


class DrainFailed(NativeError):
    """Its detail is the whole text."""


@dataclass(frozen=True)
class Drain:
    """`servers` by their object names. Until each has at most `sessions`, `timeout` seconds at most; None is no end.

    `keep_ready`: as many servers of each backend stay up and ready.
    """

    servers: Sequence[str]
    sessions: int = 0
    timeout: float | None = None
    then: str = NOTHING
    at_timeout: str = STAY
    keep_ready: int = 0

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        return cls(**{field.name: arguments[field.name] for field in fields(cls) if field.name in arguments})

    @property
    def arguments(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def touched(self) -> list[touches.Touch]:
        """What it does to the servers, then with what becomes of them."""
        last = [touches.Touch(server, touches.DELETE, frozenset((touches.ANY,))) for server in self.servers] if self.then == DELETE else []
        return [*(touches.changed(server, [STATE]) for server in self.servers), *last]

    @cached_property
    def backends(self) -> list[str]:
        return list(dict.fromkeys(named(server)[0] for server in self.servers))


def shortage(drains: Iterable[Drain], rows: Iterable[Row]) -> str:
    """The first backend in which fewer servers stay ready than one of these drains wants, all of them together; empty where none has."""
    running = list(drains)
    out = {server for drain in running for server in drain.servers}
    ready = Counter(row.backend for row in rows if row.is_ready and row.object not in out)
    wanted: dict[str, int] = {}
    for drain in running:
        wanted.update({backend: max(wanted.get(backend, 0), drain.keep_ready) for backend in drain.backends})
    for backend, least in wanted.items():
        if ready[backend] < least:
            return f"backend {backend} would have {ready[backend]} servers up and ready, and {least} are to stay"
    return ""
