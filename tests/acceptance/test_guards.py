"""Changes that a guard watches by their traffic: a bad one goes back at once, a good one stays, and without traffic nothing is known."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance.traffic import Traffic
from tests.acceptance.web import Web
from tests.acceptance.wrong_changes import Site, a_server_lost, a_server_without_weight, made_by, site_of

SOME_FAIL = {"type": "return", "return_status_code": 500, "cond": "if", "cond_test": "{ rand(100) lt 30 }"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Web("one") as web, site_of(tmp_path_factory.mktemp("guards"), web) as running:
        yield running


def guard(**members: Any) -> dict[str, str]:
    return {"confirm": "1h", "guard": json.dumps({"errors": 2, **members})}


def traffic(site: Site) -> Traffic:
    """About 200 requests a second."""
    return Traffic(site.url.rstrip("/"), ["/a", "/b"], ["one"], pause=0.015)


def shown(site: Site, location: str) -> dict[str, Any]:
    return dict(site.sidecar.get(location).json())


def until(site: Site, location: str, reason: str) -> dict[str, Any]:
    """The confirmation, as soon as its verdict has that reason; it waits still."""
    deadline = time.monotonic() + 20
    while reason not in str((found := shown(site, location)).get("verdict")):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    assert found["status"] == "pending"
    return found


def test_some_requests_fail(site: Site) -> None:
    """Of 200 a second 30 % fail after a reload."""
    before = site.seen()
    with traffic(site) as running:
        running.wait_for(100)
        answer = site.send("POST", "backends/app/http_request_rules/0", SOME_FAIL, **guard(ready=True))
        assert answer.is_success, answer.text
        found = site.ended(answer.headers["Location"], 60)
    assert found["status"] == "returned", found
    verdict = found["verdict"]
    assert (verdict["result"], verdict["sections"]) == ("bad", ["app"]) and "requests to backends have failed" in verdict["reasons"][0]
    counts = verdict["after"]["backends"]
    assert 0.1 < counts["failures"] / counts["requests"] < 0.5 and verdict["before"]["backends"]["failures"] == 0
    assert site.seen() == before


def test_good_traffic_stays(site: Site) -> None:
    with traffic(site) as running:
        location = made_by(a_server_without_weight, site, **guard(**{"for": "2s"}), auto_confirm=True)
        found = site.ended(location, 20)
    assert not running.failures and found["status"] == "confirmed" and found["verdict"]["result"] == "good"
    assert found["guard"] == {"errors": 2, "ready": False, "min_requests": 50, "for": 2.0, "auto_confirm": True}
    assert site.sidecar.put_server("one", {"weight": 10}).is_success


@pytest.mark.soak
def test_no_traffic_is_not_good(site: Site) -> None:
    """Nor after a restart of the server."""
    location = made_by(a_server_without_weight, site, **guard(**{"for": "1s"}), auto_confirm=True)
    time.sleep(2)
    for _ in range(2):
        assert until(site, location, "it takes 50")["verdict"]["result"] == "inconclusive"
        site.sidecar.kill()
        site.sidecar.start()
    with traffic(site):
        assert site.ended(location, 20)["status"] == "confirmed"
    assert site.sidecar.put_server("one", {"weight": 10}).is_success


@pytest.mark.soak
def test_fewer_ready_servers(site: Site) -> None:
    before = site.seen()
    location = made_by(a_server_lost, site, confirm="1h", guard=json.dumps({"ready": True}))
    found = site.ended(location, 10)
    assert found["status"] == "returned" and found["verdict"]["reasons"] == ["backend app has 1 ready servers, 2 before"]
    assert site.seen() == before
