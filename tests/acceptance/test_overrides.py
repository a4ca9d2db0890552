"""State, weight and address that were set in the process outlive reloads and restarts, of either side; what others set does not."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.quick import SERVICES, Quick
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

PATH = "/v3/sidecar/overrides"
CONFIG = """\
global
    stats socket {{stats}} level admin expose-fd listeners

defaults plain
    mode http
    timeout connect 2s
    timeout client 30s
    timeout server 30s
    retries 3

frontend site from plain
    bind 127.0.0.1:{site}
    default_backend shop

backend shop from plain
    server web1 127.0.0.1:{one} weight 20
    server web2 127.0.0.1:{two} weight 20
    server off 127.0.0.1:{two} disabled
"""


@dataclass
class Farm:
    sidecar: Quick
    url: str
    ports: dict[str, int]

    def set(self, server: str, **values: Any) -> httpx2.Response:
        answer = self.sidecar.put(f"{SERVICES}/runtime/backends/shop/servers/{server}", values)
        assert answer.status_code == 200, answer.text
        return answer

    def shown(self, server: str) -> tuple[str, int, int]:
        found = self.sidecar.server(server, "shop")
        assert found
        return found.forced_state, found.uweight, found.port

    def until(self, server: str, *wanted: Any) -> None:
        deadline = time.monotonic() + 20
        while self.shown(server)[: len(wanted)] != wanted:
            assert time.monotonic() < deadline, (self.shown(server), wanted)
            time.sleep(0.02)

    def listed(self) -> dict[str, dict[str, Any]]:
        found = self.sidecar.get(PATH).json()
        return {f"{each['object'].rpartition('/')[2]} {each['member']} {each['source']}": each["value"] for each in found}

    def reload(self) -> None:
        version, defaults = self.sidecar.version(), self.sidecar.get("defaults/plain").json()
        answer = self.sidecar.put("defaults/plain", {**defaults, "retries": defaults["retries"] % 3 + 1}, version=version)
        assert self.sidecar.reloaded(answer)["status"] == "succeeded"


@pytest.fixture(params=["2.6", "3.4"])
def farm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Farm]:
    site = free_port()
    with Web("one", "two") as web:
        config = CONFIG.format(site=site, one=web.ports["one"], two=web.ports["two"])
        with HAProxy(tmp_path, config, binary=binaries.exactly(request.param)) as haproxy, Quick(haproxy) as sidecar:
            yield Farm(sidecar, f"http://127.0.0.1:{site}", web.ports)


def test_kept_over_reloads_and_restarts(farm: Farm) -> None:
    farm.set("web1", admin_state="drain")
    farm.set("web2", weight=7, address="127.0.0.1", port=farm.ports["one"])
    farm.set("off", admin_state="ready")
    kept = {"web1 admin_state api": "drain", "web2 weight api": 7, "web2 port api": farm.ports["one"], "off admin_state api": "ready"}
    assert farm.listed() == kept
    for _ in range(3):
        farm.reload()
        farm.until("web1", "drain", 20)
        farm.until("web2", "ready", 7, farm.ports["one"])
        farm.until("off", "ready")
        assert farm.listed() == kept
    farm.sidecar.haproxy.kill()
    farm.sidecar.haproxy.start()
    farm.until("web1", "drain", 20)
    farm.until("web2", "ready", 7, farm.ports["one"])
    farm.sidecar.kill()
    farm.sidecar.haproxy.kill()
    farm.sidecar.haproxy.start()
    assert farm.shown("web1") == ("ready", 20, farm.ports["one"])
    farm.sidecar.start()
    farm.until("web1", "drain", 20)
    assert farm.listed() == kept


def test_what_ends_them(farm: Farm) -> None:
    farm.set("web1", weight=7, admin_state="maint")
    farm.set("web2", weight=8)
    same = farm.sidecar.get("backends/shop/servers/web1").json()
    assert farm.sidecar.put("backends/shop/servers/web1", same, version=farm.sidecar.version()).is_success
    assert farm.listed() == {"web1 weight api": 7, "web1 admin_state api": "maint", "web2 weight api": 8}, "the file says what it said"
    assert farm.sidecar.put_server("web1", {"weight": 30}, "shop").is_success
    farm.until("web1", "maint", 30)
    assert farm.listed() == {"web1 admin_state api": "maint", "web2 weight api": 8}
    answer = farm.sidecar.delete(f"{PATH}/backend/shop/server/web1")
    assert answer.status_code == 204 and farm.shown("web1")[:2] == ("ready", 30)
    assert farm.sidecar.delete(f"{PATH}/backend/shop/server/web1").status_code == 404
    farm.reload()
    farm.until("web2", "ready", 8)
    assert farm.shown("web1")[:2] == ("ready", 30)
    assert farm.sidecar.delete("backends/shop/servers/web2", version=farm.sidecar.version()).is_success
    deadline = time.monotonic() + 10
    while farm.listed() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert farm.listed() == {}


def test_the_first_value_is_none(farm: Farm) -> None:
    farm.set("web1", admin_state="drain", weight=3)
    farm.set("web1", admin_state="ready", weight=20)
    assert farm.listed() == {}


def test_what_others_set_ends_with_the_worker(farm: Farm) -> None:
    farm.sidecar.haproxy.ask("set server shop/web1 state drain")
    farm.sidecar.haproxy.ask("set server shop/web2 weight 9")
    farm.set("off", admin_state="ready")
    assert farm.listed() == {"off admin_state api": "ready", "web1 admin_state outside": "drain", "web2 weight outside": 9}
    farm.reload()
    farm.until("off", "ready")
    assert farm.listed() == {"off admin_state api": "ready"} and farm.shown("web1")[:2] == ("ready", 20)


def test_a_drain_stays_over_a_reload(farm: Farm) -> None:
    path = farm.sidecar.post("/v3/sidecar/drains", {"targets": ["shop/web1"]}).headers["Location"]
    assert farm.sidecar.get(path, wait="20s").json()["status"] == "succeeded"
    assert farm.listed() == {"web1 admin_state api": "drain"}
    farm.reload()
    farm.until("web1", "drain")


def test_servers_of_the_process_alone_are_not_kept(farm: Farm) -> None:
    added = f"{SERVICES}/runtime/backends/shop/servers"
    assert farm.sidecar.post(added, {"name": "new", "address": "127.0.0.1", "port": farm.ports["one"]}).status_code == 201
    farm.set("new", admin_state="ready", weight=5)
    farm.reload()
    deadline = time.monotonic() + 10
    while farm.listed() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert farm.listed() == {} and farm.sidecar.server("new", "shop") is None
