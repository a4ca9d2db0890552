"""The servers of the worker in service, and which of them targets mean. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from haproxy_native.editing import object_names
from haproxy_native.errors import BadRequest, NotFound
from haproxy_native.runtime import responses as answers

BACKEND, SERVER = "backend", "server"
_ANY_AT = "*@"
# What the column `status` begins with for a server that takes requests, `no check` being always up.
_UP = ("UP", "no check")
_OUT = ("DRAIN", "MAINT")


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

    @property
    def is_out(self) -> bool:
        """Whether it is drained or in maintenance."""
        return self.status.startswith(_OUT)


def rows(stat: str) -> list[Row]:
    """Of an answer to `show stat` for servers."""
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
    known = list(there)
    found: dict[str, None] = {}
    for target in targets:
        meant = [row.object for row in known if _means(target, row)]
        if not meant:
            raise NotFound(f"there is no server {target} in the process; write backend/NAME/server/NAME, NAME/NAME or *@ADDRESS")
        found |= dict.fromkeys(meant)
    return list(found)


def _means(target: str, row: Row) -> bool:
    if target.startswith(_ANY_AT):
        return row.address == target.removeprefix(_ANY_AT).strip("[]")
    match target.split("/"):
        case [backend, server]:
            return object_names.matches(f"{BACKEND}/{backend}/{SERVER}/{server}", row.object)
        case [kind, _, other, _] if (kind, other) == (BACKEND, SERVER):
            return object_names.matches(target, row.object)
        case _:
            raise BadRequest(f"{target[:100]!r} names no servers; write backend/NAME/server/NAME, NAME/NAME or *@ADDRESS")
