"""A guard takes no good change back, whatever the traffic: some requests fail before and after."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.traffic import Steady
from tests.acceptance.web import Web
from tests.acceptance.wrong_changes import CONFIRMATIONS, Site, made_by, site_of

SITES = 4
# What fails at any time, in percent.
FAILING = 1
SOME_FAIL = {"type": "return", "return_status_code": 500, "cond": "if", "cond_test": f"{{ rand(100) lt {FAILING} }}"}
HEADER = {"type": "set-header", "hdr_name": "x-good", "hdr_format": "1"}
SECONDS = 2.0
GUARD = json.dumps({"errors": 2, "ready": True, "min_requests": 50, "for": f"{SECONDS:g}s"})


def another_weight(site: Site, **more: object) -> httpx2.Response:
    weight = site.sidecar.get("backends/app/servers/one").json()["weight"]
    return site.sidecar.put_server("one", {"weight": 30 - weight}, version=site.sidecar.version(), **more)


def another_header(site: Site, **more: object) -> httpx2.Response:
    """By a reload."""
    rules = site.sidecar.get("backends/app/http_request_rules").json()
    if len(rules) > 1:
        return site.send("DELETE", "backends/app/http_request_rules/1", **more)
    return site.send("POST", "backends/app/http_request_rules/1", HEADER, **more)


def commits(directory: Path, web: Web, rate: float, count: int) -> list[str]:
    """What became of so many good changes."""
    fates: list[str] = []
    with site_of(directory, web) as site, ExitStack() as stack:
        answer = site.send("POST", "backends/app/http_request_rules/0", SOME_FAIL, wait="30s")
        assert answer.is_success, answer.text
        if rate:
            stack.enter_context(Steady(httpx2.URL(site.url).port or 0, "one", rate))
        good: tuple[Callable[..., httpx2.Response], ...] = (another_weight, another_header)
        for number in range(count):
            location = made_by(good[number % 2], site, confirm="1h", guard=GUARD, auto_confirm=True)
            deadline = time.monotonic() + 2 * SECONDS
            while (found := site.sidecar.get(location).json())["status"] == "pending" and time.monotonic() < deadline:
                time.sleep(0.1)
            if found["status"] == "pending":
                # Too little traffic to be good; a look that comes meanwhile may have confirmed it.
                site.sidecar.post(f"{location}/confirm")
                found = site.sidecar.get(location).json()
            assert found["status"] == "confirmed", found
            fates.append(found["verdict"]["result"])
        assert all(each["status"] == "confirmed" for each in site.sidecar.get(CONFIRMATIONS).json())
    return fates


@pytest.mark.soak
@pytest.mark.parametrize("rate", [0, 1, 50, 500])
@pytest.mark.parametrize("count", [1000])
def test_no_false_return(tmp_path: Path, rate: int, count: int) -> None:
    with Web("one") as web, ThreadPoolExecutor(SITES) as pool:
        for number in range(SITES):
            (tmp_path / str(number)).mkdir()
        fates = list(pool.map(lambda number: commits(tmp_path / str(number), web, rate / SITES, count // SITES), range(SITES)))
    assert sum(map(len, fates)) == count
    if rate >= 500:
        assert all("good" in each for each in fates)
