"""Zones and what their servers show, asked of a real name server."""

import asyncio

import pytest

from haproxy_native.acme.providers import Rfc2136
from haproxy_native.acme.zones import Unresolved, Zones, last_labels
from tests.haproxy.acme import ZONE, NameServer


def test_the_nearest_zone_upwards(name_server: NameServer, resolver) -> None:
    zones = Zones(resolver, name_server.port)
    assert asyncio.run(zones.find_zone(f"_acme-challenge.a.b.{ZONE}")) == ZONE
    with pytest.raises(Unresolved, match="no zone found for elsewhere.invalid"):
        asyncio.run(zones.find_zone("elsewhere.invalid"))


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [("elsewhere", "there", True), ("sub.alias", "there", True), ("elsewhere", "other", False), ("x", "x", False)],
)
def test_what_a_server_shows(name_server: NameServer, resolver, name: str, value: str, shown: bool) -> None:
    assert asyncio.run(Zones(resolver, name_server.port).has_record(ZONE, f"{name}.{ZONE}", value)) is shown


def test_a_record_is_seen_as_soon_as_it_is_there(name_server: NameServer, resolver) -> None:
    async def work() -> None:
        zones, name, at = Zones(resolver, name_server.port), f"new.{ZONE}", Rfc2136(name_server.variables)
        assert not await zones.has_record(ZONE, name, "v")
        await at.set(ZONE, name, "v", 60)
        assert await zones.has_record(ZONE, name, "v")
        await at.delete(ZONE, name, "v", 60)

    asyncio.run(work())


def test_without_asking() -> None:
    assert last_labels("_acme-challenge.a.b.example.org.") == "example.org"
