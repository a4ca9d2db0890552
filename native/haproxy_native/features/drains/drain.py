"""What a drain is asked for, the servers that its targets name, and whether enough others stay ready. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, Self

from haproxy_native.commit.servers_in_process import STATE
from haproxy_native.editing import object_names
from haproxy_native.errors import BadRequest, Conflict, NativeError, NotFound
from haproxy_native.planning import touches
from haproxy_native.runtime import responses as answers

BACKEND, SERVER = "backend", "server"
_ANY_AT = "*@"
# The beginnings of the column `status` for a server that accepts requests; `no check` is always up.
_UP = ("UP", "no check")
DRAIN = "drain"
NOTHING, MAINT, DELETE, CUT = "nothing", "maint", "delete", "cut"
STAY, RESTORE = "stay", "restore"


@dataclass(frozen=True)
class ServerStatistics:
    """A server in `show stat`. `address` is an IP address or the path of a socket."""

    backend: str
    name: str
    address: str
    status: str
    weight: int
    sessions: int

    @property
    def object(self) -> str:
        return object_names.spelled(BACKEND, self.backend, SERVER, self.name)

    @property
    def is_ready(self) -> bool:
        """Return whether it is up and accepts new requests."""
        return self.status.startswith(_UP) and self.weight > 0


def rows(stat: str) -> list[ServerStatistics]:
    """Parse an answer to `show stat` for servers."""
    return [_row(row) for row in answers.table(stat)]


def _row(row: dict[str, str]) -> ServerStatistics:
    address = row.get("addr", "").rpartition(":")[0].strip("[]") or row.get("addr", "")
    return ServerStatistics(row["pxname"], row["svname"], address, row["status"], int(row["weight"] or 0), int(row["scur"] or 0))


def named(object_: str) -> tuple[str, str]:
    """Return backend and server of an object's name."""
    _, backend, _, server = object_names.parsed(object_)
    return backend, server


def resolved(targets: Sequence[str], there: Iterable[ServerStatistics]) -> list[str]:
    """Return the objects that targets name: `backend/shop/server/web1`, `shop/web1`, each possibly with `*`, or `*@10.0.0.7`.

    Raises NotFound for a target that matches no server, and BadRequest for one of another form.
    """
    known = _Known(there)
    names: dict[str, None] = {}
    for target in targets:
        names_of_target = known.named_by(target)
        if not names_of_target:
            raise NotFound(f"there is no server {target} in the process; write backend/NAME/server/NAME, NAME/NAME or *@ADDRESS")
        names.update(dict.fromkeys(names_of_target))
    return list(names)


class _Known:
    """Servers by name and by address, so that only a pattern is compared with all of them."""

    def __init__(self, there: Iterable[ServerStatistics]) -> None:
        self._addresses: dict[str, list[str]] = defaultdict(list)
        self._objects: dict[str, None] = {}
        for row in there:
            self._addresses[row.address].append(row.object)
            self._objects[row.object] = None

    def named_by(self, target: str) -> list[str]:
        if target.startswith(_ANY_AT):
            return self._addresses.get(target.removeprefix(_ANY_AT).strip("[]"), [])
        pattern = _pattern(target)
        return [pattern] if pattern in self._objects else [object_ for object_ in self._objects if object_names.matches(pattern, object_)]


def _pattern(target: str) -> str:
    match target.split("/"):
        case [backend, server]:
            return f"{BACKEND}/{backend}/{SERVER}/{server}"
        case [kind, _, other, _] if (kind, other) == (BACKEND, SERVER):
            return target
        case _:
            raise BadRequest(f"{target[:100]!r} names no servers; write backend/NAME/server/NAME, NAME/NAME or *@ADDRESS")


class TooFewReady(Conflict):
    """A drain would leave too few servers ready. Its detail is the whole message."""

    label = ""


class DrainFailed(NativeError):
    """A drain has ended early. Its detail is the whole message."""


@dataclass(frozen=True)
class Drain:
    """The arguments of a drain."""

    # Object names.
    servers: Sequence[str]
    # A server with at most so many sessions is idle.
    sessions: int = 0
    # How many seconds to wait for that; None for no limit.
    timeout: float | None = None
    then: str = NOTHING
    at_timeout: str = STAY
    # How many servers of each backend must stay up and ready.
    keep_ready: int = 0

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        return cls(**{field.name: arguments[field.name] for field in fields(cls) if field.name in arguments})

    @property
    def arguments(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def touched(self) -> list[touches.Touch]:
        """Return what the drain changes, for authorization."""
        last = [touches.Touch(server, touches.DELETE, frozenset((touches.ANY,))) for server in self.servers] if self.then == DELETE else []
        return [*(touches.changed(server, [STATE]) for server in self.servers), *last]

    @cached_property
    def backends(self) -> list[str]:
        return list(dict.fromkeys(named(server)[0] for server in self.servers))


def shortage(drains: Iterable[Drain], rows: Iterable[ServerStatistics]) -> str:
    """Return a text about the first backend that these drains together would leave with too few ready servers; empty if there is none."""
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
