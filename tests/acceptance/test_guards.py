"""Make changes with a guard. A change that violates the guard is rolled back at once; any other waits for its confirmation."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.acceptance.traffic import Traffic
from tests.acceptance.web import Web
from tests.acceptance.wrong_changes import Site, a_server_lost, a_server_without_weight, made_by, site_of
from tests.until import polls

SOME_FAIL = {"type": "return", "return_status_code": 500, "cond": "if", "cond_test": "{ rand(100) lt 30 }"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Web("one") as web, site_of(tmp_path_factory.mktemp("guards"), web) as running:
        yield running


def guard(**members: Any) -> dict[str, str]:
    return {"confirm": "1h", "guard": json.dumps({"errors": 2, **members})}


def traffic(site: Site) -> Traffic:
    """Send about 200 requests a second."""
    return Traffic(site.url.rstrip("/"), ["/a", "/b"], ["one"], pause=0.015)


def until(site: Site, location: str, result: str, reason: str = "") -> dict[str, Any]:
    """Wait for a verdict with this result and reason, and return the confirmation, which must still be pending."""
    for _ in polls(f"no verdict {result}"):
        found = site.sidecar.get(location).json()
        assert found["status"] == "pending", found
        if (verdict := found.get("verdict")) and verdict["result"] == result and reason in str(verdict["reasons"]):
            break
    return dict(found)


def test_some_requests_fail(site: Site) -> None:
    """30 % of the requests fail after a reload. The record and the history say why."""
    before = site.seen()
    with traffic(site) as running:
        running.wait_for(100)
        answer = site.send("POST", "backends/app/http_request_rules/0", SOME_FAIL, **guard(ready=True))
        assert answer.is_success, answer.text
        found = site.ended(answer.headers["Location"], 60)
    assert found["status"] == "returned", found
    verdict = found["verdict"]
    assert (verdict["result"], verdict["sections"]) == ("bad", ["app"]) and "%, and the guard permits 2 %" in verdict["reasons"][0]
    counts = verdict["backends"]
    assert counts["requests"] >= 50 and 0.1 < counts["errors"] / counts["requests"] < 0.6
    assert site.seen() == before


def test_failures_before_a_change_do_not_count(site: Site) -> None:
    """The change that ends them is not rolled back: requests are counted from when it has taken effect."""
    answer = site.send("POST", "backends/app/http_request_rules/0", SOME_FAIL, wait="30s")
    assert answer.is_success, answer.text
    with traffic(site) as running:
        deadline = time.monotonic() + 120
        while len(running.failures) < 50:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        answer = site.send("DELETE", "backends/app/http_request_rules/0", **guard())
        assert answer.is_success, answer.text
        found = until(site, answer.headers["Location"], "good")
    assert found["verdict"]["backends"]["errors"] == 0
    assert found["guard"] == {"errors": 2, "ready": False, "min_requests": 50}
    assert site.sidecar.post(f"{answer.headers['Location']}/confirm").is_success


def test_little_traffic_is_inconclusive_and_waits_for_the_deadline(site: Site) -> None:
    """After a restart of the server, requests are still counted from the change."""
    before = site.seen()
    location = made_by(a_server_without_weight, site, **guard())
    for _ in range(10):
        assert httpx2.get(site.url, timeout=60, verify=False).status_code == 200
    reason = "10 requests since the change; the guard needs 50"
    until(site, location, "inconclusive", reason)
    site.sidecar.kill()
    site.sidecar.start()
    until(site, location, "inconclusive", reason)
    assert site.sidecar.client.patch(location, json={"timeout": "2s"}).is_success
    assert site.ended(location, 20)["status"] == "returned" and site.seen() == before


@pytest.mark.soak
def test_fewer_ready_servers(site: Site) -> None:
    before = site.seen()
    location = made_by(a_server_lost, site, confirm="1h", guard=json.dumps({"ready": True}))
    found = site.ended(location, 10)
    assert found["status"] == "returned" and found["verdict"]["reasons"] == ["backend app has 1 ready servers; before the change it had 2"]
    assert site.seen() == before
