"""How long one waits for a name server, and that no record stays."""

import asyncio
import logging
from pathlib import Path

import pytest

from haproxy_native.acme.dns_challenge import ChallengeTimes, Solver
from haproxy_native.acme.haproxy_output import Challenge
from haproxy_native.acme.zones import Unresolved, Zones
from haproxy_native.runtime.client import Runtime
from tests.haproxy.acme import ZONE, NameServer


@pytest.mark.parametrize(
    ("environ", "times"),
    [
        ({}, ChallengeTimes(delay=0, timeout=3600)),
        ({"DPAPI_ACME_PROPAGDELAY_SEC": "7", "DPAPI_ACME_PROPAGTIMEOUT_SEC": "30"}, ChallengeTimes(delay=7, timeout=30)),
        ({"DPAPI_ACME_PROPAGTIMEOUT_SEC": "-1"}, ChallengeTimes(timeout=None)),
        ({"DPAPI_ACME_PROPAGDELAY_SEC": "soon", "DPAPI_ACME_PROPAGTIMEOUT_SEC": ""}, ChallengeTimes()),
    ],
)
def test_times_are_told_by_the_environment(environ: dict, times: ChallengeTimes) -> None:
    assert ChallengeTimes.from_environment(environ) == times


def solved(name_server: NameServer, zones: Zones, times: ChallengeTimes, **changed) -> dict[str, str]:
    members = {"certificate": "c", "domain": f"solver.{ZONE}", "provider": "rfc2136", "variables": name_server.variables, "value": "v"}
    solver = Solver(Runtime(), times, zones, changed.pop("programs", ()))
    asyncio.run(solver.solve(Challenge(**{**members, **changed})))
    return solver.failures


def shown(zones: Zones) -> bool:
    return asyncio.run(zones.has_record(ZONE, f"_acme-challenge.solver.{ZONE}", "v"))


@pytest.mark.parametrize("timeout", [None, 30.0])
def test_the_record_is_set_seen_and_taken_away(
    name_server: NameServer, resolver, timeout: float | None, caplog: pytest.LogCaptureFixture
) -> None:
    zones = Zones(resolver, name_server.port)
    with caplog.at_level(logging.INFO):
        solved(name_server, zones, ChallengeTimes(timeout=timeout, interval=0.01, deletion_delay=0))
    assert "challenge for solver.example.test of c is deployed" in caplog.text
    assert not shown(zones)


def test_a_record_that_nobody_shows_is_taken_away(
    name_server: NameServer, resolver, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hook = tmp_path / "hook"
    hook.write_text(f'#!/bin/sh\necho "$ACTION" >> {tmp_path}/actions\n')
    hook.chmod(0o755)
    times = ChallengeTimes(timeout=0.05, interval=0.01, deletion_delay_after_failure=0)
    solved(name_server, Zones(resolver, name_server.port), times, provider="exec", variables={}, programs=[str(hook)])
    assert "has had the record within" in caplog.text
    assert (tmp_path / "actions").read_text() == "set\ndelete\n"


class Shaky(Zones):
    """Nobody can be asked the first times."""

    failures = 2

    async def has_record(self, zone: str, name: str, value: str) -> bool:
        self.failures -= 1
        if self.failures >= 0:
            raise Unresolved("no name server answers")
        return await super().has_record(zone, name, value)


@pytest.mark.parametrize(("failure_timeout", "expected"), [(1000.0, "is deployed"), (-1.0, "no name server answers")])
def test_a_resolver_may_fail_for_a_while(
    name_server: NameServer, resolver, failure_timeout: float, expected: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        times = ChallengeTimes(timeout=30, interval=0.01, failure_timeout=failure_timeout, deletion_delay=0, deletion_delay_after_failure=0)
        solved(name_server, Shaky(resolver, name_server.port), times)
    assert expected in caplog.text
    assert not shown(Zones(resolver, name_server.port))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"provider": "zork"}, "invalid DNS provider name: 'zork'"),
        ({"domain": "nowhere.invalid"}, "no zone found"),
        ({"variables": {}}, "server"),
    ],
)
def test_what_cannot_be_solved_is_told(
    name_server: NameServer, resolver, changed: dict, expected: str, caplog: pytest.LogCaptureFixture
) -> None:
    failures = solved(name_server, Zones(resolver, name_server.port), ChallengeTimes(), **changed)
    assert expected in caplog.text and expected in failures["c"]
