"""Check that the memory of a page with 5,000 servers does not grow. `make bench` measures its other figures (bench/page.py)."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from bench.page import SOURCES, Mortal, beside_5000
from tests.acceptance.farm import Farm
from tests.page.browser import Operator

pytestmark = pytest.mark.soak
MINUTES = float(os.environ.get("SOAK_MINUTES", "60"))


@pytest.fixture(params=SOURCES)
def farm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Farm]:
    with beside_5000(tmp_path, request.param, Mortal()) as found:
        yield found


def heap(operator: Operator) -> int:
    """Bytes of JavaScript objects after a collection of garbage."""
    session = operator.context.new_cdp_session(operator.page)
    session.send("HeapProfiler.collectGarbage")
    used = int(session.send("Runtime.getHeapUsage")["usedSize"])
    session.detach()
    return used


def test_memory_stays_flat(browser: Browser, farm: Farm) -> None:
    anna = Operator(browser, str(farm.sidecar.client.base_url)).open().sign_in()
    anna.page.locator("a.row").first.wait_for()
    end, grown = time.monotonic() + 60 * MINUTES, []
    while time.monotonic() < end:
        farm.sidecar.haproxy.ask("set server farm7/node3 state maint; set server farm7/node3 state ready")
        time.sleep(5)
        grown.append(heap(anna))
    anna.context.close()
    # The lines of the last minutes fill first.
    if len(grown) > 60:
        print(f"memory: {grown[50] / 2**20:.1f} to {grown[-1] / 2**20:.1f} MiB")
        assert grown[-1] <= 1.1 * grown[50]
