"""The servers of the worker in service, and which of them targets mean. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from haproxy_native.editing import object_names
from haproxy_native.errors import BadRequest, NotFound
from haproxy_native.runtime import responses as answers

BACKEND, SERVER = "backend", "server"
_ANY_AT = "*@"
# What the column `status` begins with for a server that takes requests, `no check` being always up.
_UP = ("UP", "no check")


@dataclass(frozen=True)
class Row:
    """A server as `show stat` has it; `address` is an IP address or the path of a socket."""

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
        """Whether it is up and takes new requests."""
        return self.status.startswith(_UP) and self.weight > 0


def rows(stat: str) -> list[Row]:
    """Parses an answer to `show stat` for servers."""
    return [_row(row) for row in answers.table(stat)]


def _row(row: dict[str, str]) -> Row:
    address = row.get("addr", "").rpartition(":")[0].strip("[]") or row.get("addr", "")
    return Row(row["pxname"], row["svname"], address, row["status"], int(row["weight"] or 0), int(row["scur"] or 0))


def named(object_: str) -> tuple[str, str]:
    """Backend and server of an object's name."""
    _, backend, _, server = object_names.parsed(object_)
    return backend, server


def resolved(targets: Sequence[str], there: Iterable[Row]) -> list[str]:
    """The objects that targets mean: `backend/shop/server/web1`, `shop/web1`, each perhaps with `*`, or `*@10.0.0.7`.

    Raises NotFound for a target that means none, BadRequest where it is none.
    """
    known = _Known(there)
    names: dict[str, None] = {}
    for target in targets:
        meant = known.meant(target)
        if not meant:
            raise NotFound(f"there is no server {target} in the process; write backend/NAME/server/NAME, NAME/NAME or *@ADDRESS")
        names.update(dict.fromkeys(meant))
    return list(names)


class _Known:
    """Servers by name and by address; only a pattern looks at all of them."""

    def __init__(self, there: Iterable[Row]) -> None:
        self._addresses: dict[str, list[str]] = defaultdict(list)
        self._objects: dict[str, None] = {}
        for row in there:
            self._addresses[row.address].append(row.object)
            self._objects[row.object] = None

    def meant(self, target: str) -> list[str]:
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
