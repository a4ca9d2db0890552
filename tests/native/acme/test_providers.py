"""Records set by a command and by updates."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.acme.providers import Exec, ProviderFailed, Rfc2136, address, provider, relative
from haproxy_native.acme.zones import Zones
from tests.haproxy.acme import ZONE, NameServer


def script(path: Path, text: str) -> Exec:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return Exec({}, [str(path)])


def test_a_command_is_told_by_its_environment(tmp_path: Path) -> None:
    output = tmp_path / "output"
    at = script(tmp_path / "hook", f'echo "$ACTION $ZONE $REC_NAME $REC_TTL $REC_TYPE $REC_DATA $#" >> {output}')

    async def work() -> None:
        await at.set("b.org", "_acme-challenge.a.b.org", "v w", 60)
        await at.delete("b.org", "_acme-challenge.a.b.org", "v w", 60)

    asyncio.run(work())
    assert output.read_text() == "set b.org. _acme-challenge.a 60 TXT v w 0\ndelete b.org. _acme-challenge.a 60 TXT v w 0\n"


def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    at = script(tmp_path / "hook", "echo no such zone >&2; exit 3")
    with pytest.raises(ProviderFailed, match="hook set: exit status 3: no such zone"):
        asyncio.run(at.set("b.org", "a.b.org", "v", 60))
    with pytest.raises(ProviderFailed, match="absent: No such file"):
        asyncio.run(Exec({}, [str(tmp_path / "absent")]).set("b.org", "a.b.org", "v", 60))


def test_two_values_of_one_name_live_side_by_side(name_server: NameServer, resolver) -> None:
    """As a domain and its wildcard need them."""

    async def work() -> list[bool]:
        at, zones, name = Rfc2136(name_server.variables), Zones(resolver, name_server.port), f"_acme-challenge.{ZONE}"
        await at.set(ZONE, name, "one", 60)
        await at.set(ZONE, name, "two", 60)
        await at.delete(ZONE, name, "one", 60)
        shown = [await zones.has_record(ZONE, name, value) for value in ("one", "two")]
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
    ("name", "variables", "programs", "expected"),
    [
        ("zork", {}, [], "invalid DNS provider name: 'zork'"),
        ("rfc2136", {}, [], "server in acme"),
        ("exec", {}, [], "acme-vars has no command="),
        ("exec", {}, ["/a", "/b"], "acme-vars has no command="),
        ("exec", {"command": "/a"}, [], "acme-vars names /a, which the setting acme_programs does not list"),
        ("exec", {"command": "/b/../a"}, ["/a"], "does not list"),
        ("exec", {"command": "a"}, ["/a"], "names a, which"),
    ],
)
def test_providers_that_cannot_be(name: str, variables: dict, programs: list[str], expected: str) -> None:
    with pytest.raises(ProviderFailed, match=expected):
        provider(name, variables, programs)


def test_the_configuration_chooses_among_the_programs_of_the_settings() -> None:
    assert [Exec(variables, programs).command for variables, programs in (({"command": "/b"}, ["/a", "/b"]), ({}, ["/a"]))] == ["/b", "/a"]


def test_a_program_gets_no_variable_of_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "LD_LIBRARY_PATH", "OWN", "LC_CTYPE"):
        monkeypatch.setenv(name, "x")
    at = script(tmp_path / "hook", f"tr '\\0' '\\n' < /proc/$$/environ > {tmp_path}/seen")
    asyncio.run(at.set("b.org", "a.b.org", "v", 60))
    names = {line.partition("=")[0] for line in (tmp_path / "seen").read_text().splitlines()}
    told = {"ACTION", "ZONE", "REC_NAME", "REC_TTL", "REC_TYPE", "REC_DATA"}
    assert told | {"LC_CTYPE"} <= names <= told | {"PATH", "HOME", "LANG", "LANGUAGE", *(name for name in names if name.startswith("LC_"))}


@pytest.mark.parametrize(
    ("server", "place"),
    [("ns", ("ns", 53)), ("ns:5300", ("ns", 5300)), ("::1", ("::1", 53)), ("[::1]:54", ("::1", 54)), ("[::1]", ("::1", 53))],
)
def test_addresses(server: str, place: tuple) -> None:
    assert address(server) == place


@pytest.mark.parametrize(("name", "zone", "found"), [("a.b.org", "b.org", "a"), ("b.org", "b.org.", "@"), ("x.a.b.org.", "b.org", "x.a")])
def test_relative_names(name: str, zone: str, found: str) -> None:
    assert relative(name, zone) == found
