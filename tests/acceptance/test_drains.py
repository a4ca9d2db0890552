"""Drains with real sessions: in the worker in service, in former ones, over a reload and a restart of the sidecar."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.quick import SERVICES, Quick
from tests.acceptance.traffic import Traffic
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

OPERATIONS = "/v3/sidecar/operations"
CONFIG = """\
global
    stats socket {{stats}} level admin expose-fd listeners

defaults plain
    mode http
    option idle-close-on-response
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    retries 3

frontend site from plain
    bind 127.0.0.1:{site}
    use_backend only if {{ path_beg /only }}
    default_backend shop

backend shop from plain
    server web1 127.0.0.1:{one}
    server web2 127.0.0.1:{two}

backend only from plain
    server web1 127.0.0.1:{one}
"""


@dataclass
class Farm:
    sidecar: Quick
    url: str
    web: Web

    def drain(self, *targets: str, **body: Any) -> str:
        answer = self.sidecar.post("/v3/sidecar/drains", {"targets": list(targets), **body})
        assert answer.status_code == 202, answer.text
        return str(answer.headers["Location"])

    def ended(self, path: str) -> dict[str, Any]:
        found = self.sidecar.get(path, wait="30s").json()
        assert found["status"] != "running", found
        return dict(found)

    def state(self, server: str = "web1", backend: str = "shop") -> str:
        found = self.sidecar.get(f"{SERVICES}/runtime/backends/{backend}/servers/{server}")
        assert found.status_code == 200, found.text
        return str(found.json()["admin_state"])

    def until(self, server: str, state: str) -> None:
        deadline = time.monotonic() + 20
        while self.state(server) != state:
            assert time.monotonic() < deadline, self.state(server)
            time.sleep(0.02)

    @contextmanager
    def slow_request(self) -> Iterator[list[str]]:
        """One request to web1 that goes on until `web.release` is set; its answer is in the list then."""
        answers: list[str] = []
        thread = threading.Thread(target=lambda: answers.append(_asked(f"{self.url}/only/slow")), daemon=True)
        thread.start()
        assert self.web.held.wait(10)
        try:
            yield answers
        finally:
            self.web.release.set()
            thread.join(20)

    def reload(self) -> None:
        version, defaults = self.sidecar.version(), self.sidecar.get("defaults/plain").json()
        answer = self.sidecar.put("defaults/plain", {**defaults, "retries": defaults["retries"] % 3 + 1}, version=version)
        assert self.sidecar.reloaded(answer)["status"] == "succeeded"


def _asked(url: str) -> str:
    try:
        return httpx2.get(url, timeout=60).text
    except httpx2.HTTPError as error:
        return type(error).__name__


@pytest.fixture(params=["2.6", "3.4"])
def farm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Farm]:
    site = free_port()
    with Web("one", "two") as web:
        config = CONFIG.format(site=site, one=web.ports["one"], two=web.ports["two"])
        with HAProxy(tmp_path, config, binary=binaries.exactly(request.param)) as haproxy, Quick(haproxy) as sidecar:
            yield Farm(sidecar, f"http://127.0.0.1:{site}", web)


def test_drained_under_traffic_without_a_failed_request(farm: Farm) -> None:
    with Traffic(farm.url, ["/"], ["one", "two"]) as traffic:
        traffic.wait_for(50)
        assert farm.ended(farm.drain("shop/web1", then="maint", keep_ready=1))["status"] == "succeeded"
        before = traffic.answered["one"]
        traffic.wait_for(traffic.count + 50)
        assert traffic.answered["one"] == before and farm.state() == "maint"
    assert traffic.failures == []


def test_sessions_of_a_former_worker_count(farm: Farm) -> None:
    with farm.slow_request() as answers:
        path = farm.drain("backend/only/server/web1", "shop/web1", then="maint", timeout="2m")
        farm.until("web1", "drain")
        farm.reload()
        # In the new worker nobody has begun anything, and the servers are drained again.
        farm.until("web1", "drain")
        found = farm.sidecar.get(path, wait="700ms").json()
        assert found["status"] == "running" and found["progress"]["sessions"]["backend/only/server/web1"] == 1, found
        assert "former_workers" not in found["progress"]
        farm.web.release.set()
        assert farm.ended(path)["status"] == "succeeded"
    assert answers == ["one"] and farm.state() == "maint" and farm.state(backend="only") == "maint"


def test_a_restart_of_the_sidecar_in_the_middle(farm: Farm) -> None:
    with farm.slow_request() as answers:
        path = farm.drain("*@127.0.0.1", keep_ready=0, then="maint", timeout="2m")
        farm.until("web2", "drain")
        farm.sidecar.kill()
        farm.sidecar.start()
        assert farm.sidecar.get(path, wait="500ms").json()["status"] == "running"
        farm.web.release.set()
        assert farm.ended(path)["status"] == "succeeded"
    assert answers == ["one"] and [farm.state("web1"), farm.state("web2")] == ["maint", "maint"]


def test_the_end_of_the_time(farm: Farm) -> None:
    with farm.slow_request() as answers:
        stays = farm.ended(farm.drain("only/web1", timeout="600ms", then="maint"))
        assert stays["status"] == "failed" and "1 sessions are left after 0.6 s" in stays["error"]
        assert farm.state(backend="only") == "drain"
        assert farm.sidecar.put(f"{SERVICES}/runtime/backends/only/servers/web1", {"admin_state": "ready"}).status_code == 200
        restored = farm.ended(farm.drain("only/web1", timeout="0.6", at_timeout="restore"))
        assert restored["status"] == "failed" and farm.state(backend="only") == "ready"
        farm.reload()
        cut = farm.ended(farm.drain("only/web1", timeout="600ms", at_timeout="cut", then="maint"))
        assert cut["status"] == "succeeded" and cut["progress"]["cut"] == 1, cut
    assert answers != ["one"] and farm.state(backend="only") == "maint"


def test_as_many_as_are_to_stay(farm: Farm) -> None:
    def asked(*targets: str, **body: Any) -> tuple[int, str]:
        answer = farm.sidecar.post("/v3/sidecar/drains", {"targets": list(targets), **body})
        return answer.status_code, answer.json().get("message", "")

    with farm.slow_request():
        running = farm.drain("only/web1", "shop/web1")
        farm.until("web1", "drain")
        text = "backend shop would have 0 servers up and ready, and 1 are to stay"
        assert asked("shop/web2", keep_ready=1) == (409, text), "the other one is on its way out"
        assert asked("shop/nobody")[0] == 404 and asked("shop")[0] == 400 and asked()[0] == 422
        assert asked("shop/web2", timeout="soon")[0] == 422 and asked("shop/web2", then="sing")[0] == 422
        assert farm.sidecar.delete(running).status_code == 204
        assert farm.state() == "drain" and farm.state("web2") == "ready"
    assert asked("shop/web2", keep_ready=1)[0] == 409


def test_deleted_from_the_file(farm: Farm) -> None:
    done = farm.ended(farm.drain("shop/web1", then="delete", keep_ready=1))
    assert done["status"] == "succeeded", done
    if reload := done["progress"].get("reload_id"):
        assert farm.sidecar.outcome(reload)["status"] == "succeeded"
    assert "server web1" not in farm.sidecar.text().partition("backend shop")[2].partition("backend only")[0]
    assert farm.sidecar.get(f"{SERVICES}/runtime/backends/shop/servers/web1").status_code == 404
    assert farm.sidecar.get("backends/only/servers/web1").status_code == 200


def test_made_ready_by_others(farm: Farm) -> None:
    with farm.slow_request():
        path = farm.drain("shop/web1", "only/web1")
        farm.until("web1", "drain")
        assert "worker" in farm.sidecar.get(path, wait="500ms").json()["progress"]
        farm.sidecar.haproxy.ask("set server only/web1 state ready")
        assert "made ready by others" in farm.ended(path)["error"]
