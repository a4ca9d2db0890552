"""The slots of a backend: servers in maintenance that are free for an endpoint. Pure.

A slot that serves an endpoint keeps it. Endpoints that come take the slots of those that go, then free ones, so that as little as possible
changes and HAProxy can take it live; a backend that shrinks loses free slots only.
"""

import secrets
import string
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.discovery.services import Definition, Endpoint

Server = dict[str, Any]
PLACEHOLDER = Endpoint("127.0.0.1", 80)
_LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Growth:
    """`increment` is None where slots double."""

    base: int
    increment: int | None

    @classmethod
    def of(cls, definition: Definition) -> "Growth":
        linear = definition["server_slots_growth_type"] == "linear"
        return cls(definition["server_slots_base"], definition["server_slots_growth_increment"] if linear else None)

    def slots(self, wanted: int, there: int) -> int:
        """How many there shall be for so many endpoints."""
        size = max(there, self.base)
        if wanted < self.base:
            return self.base
        return self._linear(wanted, size, self.increment) if self.increment else self._doubled(wanted, size)

    def _linear(self, wanted: int, size: int, increment: int) -> int:
        fitting = wanted + increment - wanted % increment
        return fitting if wanted >= size or wanted + increment <= size else size

    def _doubled(self, wanted: int, size: int) -> int:
        while size < wanted:
            size *= 2
        while size // 2 >= self.base and size // 2 > wanted:
            size //= 2
        return size


def assigned(servers: Iterable[Server], wanted: Iterable[Endpoint], growth: Growth) -> list[Server]:
    """The servers of a backend as they shall be; those whose object is the same one stay untouched."""
    slots, left = list(servers), dict.fromkeys(wanted)
    missing = growth.slots(len(left), len(slots)) - len(slots)
    slots += _more(slots, missing)
    leaving, free = [], []
    for place, server in enumerate(slots):
        if is_free(server):
            free.append(place)
        elif endpoint(server) in left:
            del left[endpoint(server)]
        else:
            leaving.append(place)
    taken = dict(zip([*leaving, *free], left, strict=False))
    for place in leaving:
        slots[place] = serving(slots[place], taken[place]) if place in taken else freed(slots[place])
    for place in free:
        slots[place] = serving(slots[place], taken[place]) if place in taken else slots[place]
    return _without(slots, -missing)


def _without(slots: Sequence[Server], surplus: int) -> list[Server]:
    free = [place for place, server in enumerate(slots) if is_free(server)]
    gone = set(free[-surplus:]) if surplus > 0 else set()
    return [server for place, server in enumerate(slots) if place not in gone]


def _more(slots: Collection[Server], count: int) -> list[Server]:
    names = {server["name"] for server in slots}
    new: list[Server] = []
    while len(new) < count:
        name = "SRV_" + "".join(secrets.choice(_LETTERS) for _ in range(5))
        if name not in names:
            names.add(name)
            new.append(freed({"name": name, "check": "enabled", "weight": 128}))
    return new


def endpoint(server: Server) -> Endpoint:
    return Endpoint(str(server.get("address", "")), server.get("port"))


def is_free(server: Server) -> bool:
    """A server in maintenance with another address was put there by an operator."""
    return endpoint(server) == PLACEHOLDER and server.get("maintenance") == "enabled"


def freed(server: Server) -> Server:
    return {**server, "address": PLACEHOLDER.address, "port": PLACEHOLDER.port, "maintenance": "enabled"}


def serving(server: Server, served: Endpoint) -> Server:
    """What else an operator has written on the line stays."""
    members = {name: value for name, value in server.items() if name not in ("maintenance", "port")}
    return {**members, "address": served.address, "check": "enabled"} | ({"port": served.port} if served.port else {})
