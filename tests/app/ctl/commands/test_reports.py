"""Requests and tests as text."""

from typing import Any

from dataplaneapi.ctl.commands.routing import has_passed, route_text, run_text

RULE = {"line": 5, "text": "use_backend shop if a", "section": "frontend site"}
COVERAGE: dict[str, Any] = {"rules": 2, "reached": 1, "share": 0.5, "unreached": [{**RULE, "line": 6, "file": "/b.cfg"}]}


def test_the_way_of_a_request() -> None:
    because = [{"term": "!a", "acl": [{"line": 4, "text": "acl a path /a", "section": "frontend site"}]}, {"term": "{ src 1 }", "acl": []}]
    found = {
        "listener": {"frontend": "site", "bind": ":80", "line": 3},
        "rules": [RULE | {"because": because}, RULE | {"file": "/b.cfg", "section": "backend shop", "because": []}],
        "backend": "shop",
        "server": "one",
        "servers": [{"name": "one", "state": "up", "weight": 5}, {"name": "two", "backup": True}, {"name": "three"}],
        "status": 301,
        "location": "/new",
        "unknown": [{**RULE, "why": "chance"}],
    }
    assert route_text(found).splitlines() == [
        "site, :80 (line 3)",
        "  frontend site",
        "    line 5: use_backend shop if a",
        "      !a: line 4: acl a path /a",
        "  backend shop",
        "    /b.cfg:5: use_backend shop if a",
        "-> backend shop: one (up, weight 5), two (a backup), three, here to one",
        "-> status 301, to /new",
        "not known here: chance, line 5: use_backend shop if a",
    ]
    bare = {"listener": {"frontend": "site", "bind": ":80", "line": 3}, "rules": [], "unknown": []}
    assert route_text(bare).splitlines()[-1] == "-> closed without a response"
    assert route_text(bare | {"server": "one", "backend": "tcp"}).splitlines()[-1] == "-> sent to the server"
    assert "-> answered by line 5: use_backend shop if a\n" in route_text(bare | {"answered_by": RULE, "status": 403})


def test_a_run() -> None:
    failed = {"test": "t", "name": "one", "passed": False, "reason": "status is 1, not 2", "rules": [RULE]}
    run = {"passed": 1, "failed": 1, "seconds": 0.5, "cases": [failed, {"name": "two", "passed": True}], "coverage": COVERAGE}
    assert run_text(run, with_coverage=True).splitlines() == [
        "FAILED t: one",
        "  status is 1, not 2",
        "    line 5: use_backend shop if a",
        "not reached /b.cfg:6: use_backend shop if a (frontend site)",
        "1 passed, 1 failed in 0.50 s; 1 of 2 rules reached (50.0%)",
    ]
    assert "not reached" not in run_text(run, with_coverage=False)


def test_what_has_passed() -> None:
    run = {"failed": 0, "coverage": COVERAGE}
    assert has_passed(run, None) and has_passed(run, 50) and not has_passed(run, 50.1) and not has_passed(run | {"failed": 1}, None)
    assert has_passed(run | {"coverage": {"rules": 0}}, 100)
