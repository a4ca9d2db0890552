"""Send PATCH requests with a real HAProxy: they are made at runtime if a PUT would be, and none of many at once is lost."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, Quick, is_live
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

SERVER = "backends/app/servers/one"
PARTS = {"weight": 5, "backup": "enabled", "inter": 1000, "rise": 3, "fall": 4, "cookie": "c", "maxconn": 9, "check": "enabled"}


@pytest.fixture(params=[pytest.param("2.8", marks=pytest.mark.soak), "3.4"])
def sidecar(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Quick]:
    config = PLAIN.format() + f"frontend site from plain\n    bind 127.0.0.1:{free_port()}\n    default_backend app\n\n"
    config += "backend app from plain\n    server one 127.0.0.1:1 weight 10   # the first\n"
    with HAProxy(tmp_path, config, binary=binaries.exactly(request.param)) as haproxy, Quick(haproxy) as running:
        yield running


def patch(sidecar: Quick, body: Any, **query: Any) -> httpx2.Response:
    return sidecar.ask("PATCH", SERVER, body, **query)


def test_a_weight_is_live_and_nothing_else_moves(sidecar: Quick) -> None:
    worker, version = sidecar.haproxy.worker_pid(), sidecar.version()
    answer = patch(sidecar, {"weight": 20})
    assert is_live(answer), sidecar.why(answer)
    assert (server := sidecar.server("one")) is not None
    assert server.weight == 20
    assert "server one 127.0.0.1:1 weight 20   # the first\n" in sidecar.haproxy.file.read_text()
    again = patch(sidecar, {"weight": 20})
    assert (again.status_code, again.json(), sidecar.version()) == (200, sidecar.get(SERVER).json(), version + 1)
    assert sidecar.haproxy.worker_pid() == worker


def test_what_haproxy_refuses_stays_as_it_was(sidecar: Quick) -> None:
    before = sidecar.haproxy.file.read_bytes()
    answer = patch(sidecar, {"track": "app/none"})
    assert (answer.status_code, sidecar.haproxy.file.read_bytes()) == (400, before), answer.text


def test_of_eight_at_once_none_is_lost(sidecar: Quick) -> None:
    with ThreadPoolExecutor(len(PARTS)) as pool:
        answers = list(pool.map(lambda part: patch(sidecar, dict([part])), PARTS.items()))
    assert {answer.status_code for answer in answers} <= {200, 202}, [answer.text for answer in answers]
    server = sidecar.get(SERVER).json()
    assert {name: server.get(name) for name in PARTS} == PARTS
