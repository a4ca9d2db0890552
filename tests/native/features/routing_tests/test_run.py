"""Runs against one shadow."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from haproxy_native.features.routing_tests.run import Run, cases_of, run
from haproxy_native.shadow.shadows import Shadows
from haproxy_native.shares import Account
from haproxy_native.text.document import Document

TEXT = """\
defaults base
    mode http
    timeout client 5s
    timeout server 5s
    timeout connect 5s

frontend site from base
    bind :80
    http-request deny if { path_beg /api }
    http-request set-header X-A 1 if { path /a } || { path /b }
    use_backend other if { path /other }
    default_backend shop

backend shop from base
    server one 10.0.0.1:80

backend other from base
    http-request return status 204
"""


def ran(binary: str, home: Path, *rows: Mapping[str, Any], kills: bool = False) -> Run:
    async def work() -> Run:
        document = Document.parse(TEXT)
        shadows = Shadows(binary, home, list)
        try:
            async with shadows.client(document, b"", caller=Account()) as shadow_client:
                if kills:
                    async with shadows.use(document, b"", caller=Account()) as process:
                        await process._haproxy.end()
                return await run(document, shadow_client, cases_of(rows))
        finally:
            await shadows.close()

    return asyncio.run(work())


def row(path: str, **expect: Any) -> dict[str, Any]:
    return {"request": {"url": f"http://a{path}"}, "expect": expect}


def test_passed_and_failed(tmp_path: Path, haproxy_binary: str) -> None:
    found = ran(haproxy_binary, tmp_path, row("/api/x", status=403), row("/", status=403), row("/other", backend="other", status=204))
    assert [each.passed for each in found.results] == [True, False, True]
    (failed,) = found.failed
    assert (failed.reason, failed.got) == ("status is 200, not 403", {"status": 200})
    assert [rule.line for rule in found.results[0].rules] == [9] and found.seconds > 0


def test_rules_that_no_case_reaches(tmp_path: Path, haproxy_binary: str) -> None:
    coverage = ran(haproxy_binary, tmp_path, row("/b", status=200), row("/other", status=204)).coverage
    assert (coverage.rules, coverage.reached, coverage.as_dict()["share"]) == (4, 3, 0.75)
    assert [(place.line, place.text) for place in coverage.unreached] == [(9, "http-request deny if { path_beg /api }")]


def test_a_case_that_no_listener_takes_has_failed(tmp_path: Path, haproxy_binary: str) -> None:
    rows = [{"request": {"url": "/", "frontend": "none"}, "expect": {"status": 200}}, row("/", status=200)]
    found = ran(haproxy_binary, tmp_path, *rows)
    assert [each.passed for each in found.results] == [False, True]
    reason = "no listener accepts this request; set frontend or bind to one of: site (:80)"
    assert found.results[0].reason == f"the request cannot be sent: {reason}"


def test_another_shadow_takes_the_place_of_one_that_ends(tmp_path: Path, haproxy_binary: str) -> None:
    assert not ran(haproxy_binary, tmp_path, row("/", status=200), kills=True).failed
