"""Records set by a command and by updates."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.acme.providers import Exec, ProviderFailed, Rfc2136, address, provider, relative
from haproxy_native.acme.zones import Zones
from tests.haproxy.acme import ZONE, NameServer


def script(path: Path, text: str) -> dict[str, str]:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {"command": str(path)}


def test_a_command_is_told_by_its_environment(tmp_path: Path) -> None:
    output = tmp_path / "output"
    at = Exec(script(tmp_path / "hook", f'echo "$ACTION $ZONE $REC_NAME $REC_TTL $REC_TYPE $REC_DATA $#" >> {output}'))

    async def work() -> None:
        await at.set("b.org", "_acme-challenge.a.b.org", "v w", 60)
        await at.delete("b.org", "_acme-challenge.a.b.org", "v w", 60)

    asyncio.run(work())
    assert output.read_text() == "set b.org. _acme-challenge.a 60 TXT v w 0\ndelete b.org. _acme-challenge.a 60 TXT v w 0\n"


def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    at = Exec(script(tmp_path / "hook", "echo no such zone >&2; exit 3"))
    with pytest.raises(ProviderFailed, match="hook set: exit status 3: no such zone"):
        asyncio.run(at.set("b.org", "a.b.org", "v", 60))
    with pytest.raises(ProviderFailed, match="absent: No such file"):
        asyncio.run(Exec({"command": str(tmp_path / "absent")}).set("b.org", "a.b.org", "v", 60))


def test_two_values_of_one_name_live_side_by_side(name_server: NameServer, resolver) -> None:
    """As a domain and its wildcard need them."""

    async def work() -> list[bool]:
        at, zones, name = Rfc2136(name_server.variables), Zones(resolver, name_server.port), f"_acme-challenge.{ZONE}"
        await at.set(ZONE, name, "one", 60)
        await at.set(ZONE, name, "two", 60)
        await at.delete(ZONE, name, "one", 60)
        shown = [await zones.shows(ZONE, name, value) for value in ("one", "two")]
        await at.delete(ZONE, name, "two", 60)
        return shown

    assert asyncio.run(work()) == [False, True]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"key": "d3Jvbmc="}, "tsig|TSIG|BADSIG|NOTAUTH|signature"),
        ({"key": ""}, "refused the update of example.test|NOTAUTH|REFUSED"),
        ({"key": "$"}, "127.0.0.1 port"),
        ({"key_alg": "rot13"}, "127.0.0.1 port"),
        ({"server": "127.0.0.1:1"}, "127.0.0.1 port 1"),
    ],
)
def test_refused_updates(name_server: NameServer, changed: dict, expected: str) -> None:
    at = Rfc2136({**name_server.variables, **changed})
    with pytest.raises(ProviderFailed, match=expected):
        asyncio.run(at.set(ZONE, f"x.{ZONE}", "v", 60))


@pytest.mark.parametrize(
    ("name", "variables", "expected"),
    [
        ("zork", {}, "invalid DNS provider name: 'zork'"),
        ("exec", {}, "exec needs the variable command"),
        ("rfc2136", {}, "server in acme"),
    ],
)
def test_providers_that_cannot_be(name: str, variables: dict, expected: str) -> None:
    with pytest.raises(ProviderFailed, match=expected):
        provider(name, variables)


@pytest.mark.parametrize(
    ("server", "place"),
    [("ns", ("ns", 53)), ("ns:5300", ("ns", 5300)), ("::1", ("::1", 53)), ("[::1]:54", ("::1", 54)), ("[::1]", ("::1", 53))],
)
def test_addresses(server: str, place: tuple) -> None:
    assert address(server) == place


@pytest.mark.parametrize(("name", "zone", "found"), [("a.b.org", "b.org", "a"), ("b.org", "b.org.", "@"), ("x.a.b.org.", "b.org", "x.a")])
def test_relative_names(name: str, zone: str, found: str) -> None:
    assert relative(name, zone) == found
