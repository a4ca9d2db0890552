"""Replace a backend under traffic (HAProxy 3.4): add a new one, shift the traffic in steps, and delete the old one, without a reload."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.quick import Quick, is_live
from tests.acceptance.traffic import Traffic
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.until import until

SPLIT = "/v3/sidecar/splits/shop"
CONFIG = """\
global
    stats socket {{stats}} level admin expose-fd listeners

defaults base
    mode http
    balance roundrobin
    option idle-close-on-response
    timeout connect 2s
    timeout client 30s
    timeout server 30s
    default-server inter 20ms rise 2 fall 1

frontend site from base
    bind 127.0.0.1:{site}
    default_backend last

backend blue from base
    server s 127.0.0.1:{blue} check

backend last from base
    server s 127.0.0.1:{last}
"""
REQUESTS = 1500


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[tuple[Quick, Web, str]]:
    site = free_port()
    with Web("blue", "green", "last") as web:
        config = CONFIG.format(site=site, blue=web.ports["blue"], last=web.ports["last"])
        with HAProxy(tmp_path, config, binary=binaries.exactly("3.4")) as haproxy, Quick(haproxy) as sidecar:
            yield sidecar, web, f"http://127.0.0.1:{site}"


def test_blue_and_green(stage: tuple[Quick, Web, str]) -> None:
    sidecar, web, url = stage

    def split(**weights: int) -> None:
        answer = sidecar.put(SPLIT, {"by": "random", "weights": weights})
        assert is_live(answer), sidecar.why(answer)

    def share() -> float:
        with httpx2.Client(base_url=url, timeout=60, verify=False) as client:
            found = Counter(client.get("/").text for _ in range(REQUESTS))
        assert found.keys() <= {"blue", "green"}, found
        return 100 * found["green"] / REQUESTS

    # The lines of the split are added once, by a reload.
    installed = sidecar.put(SPLIT, {"by": "random", "weights": {"blue": 1}}, frontend="site")
    assert sidecar.reloaded(installed)["status"] == "succeeded"
    worker = sidecar.haproxy.worker_pid()
    # The counters are complete if no process has ended.
    until(lambda: len(sidecar.get("/v3/sidecar/workers").json()) == 1)
    with Traffic(url, ["/"], ["blue", "green"]) as traffic:
        server: dict[str, Any] = {"name": "s", "address": "127.0.0.1", "port": web.ports["green"], "check": "enabled"}
        body = {"name": "green", "from": "base", "servers": {"s": server}}
        answer = sidecar.post("backends", body, version=sidecar.version(), full_section=True)
        assert answer.status_code == 201 and is_live(answer), sidecar.why(answer)
        until(lambda: sidecar.stat("s", "green").get("check_status") == "L4OK")
        for wanted in (5, 50):
            split(blue=100 - wanted, green=wanted)
            # Three standard deviations for this number of requests, in addition to two percent.
            assert abs(share() - wanted) <= 2 + 300 * (wanted * (100 - wanted) / 1e4 / REQUESTS) ** 0.5
            counted = sidecar.get(SPLIT).json()
            total = sum(counted["requests"].values())
            assert counted["complete"] and total >= REQUESTS
        split(green=1)
        assert share() == 100
        drained = sidecar.post("/v3/sidecar/drains", {"targets": ["blue/*"], "then": "maint"}).headers["Location"]
        assert sidecar.get(drained, wait="20s").json()["status"] == "succeeded"
        gone = sidecar.delete("backends/blue", version=sidecar.version())
        assert gone.status_code == 204, sidecar.why(gone)
        traffic.wait_for(traffic.count + 50)
    assert traffic.failures == []
    assert sidecar.haproxy.worker_pid() == worker, "without a reload"
    assert "backend blue" not in sidecar.text() and "blue" not in sidecar.haproxy.ask("show backend")
    assert sidecar.get("/v3/sidecar/overrides").json() == [], "with the backend goes what was set of its servers"
