"""Keep states, weights and addresses that were set in the process across reloads and restarts of both sides, but not values of others."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.farm import Farm, farm_of
from tests.acceptance.quick import SERVICES
from tests.acceptance.traffic import Traffic
from tests.until import until

PATH = "/v3/sidecar/overrides"
LINES = """\
    default_backend shop

backend shop from plain
    server web1 127.0.0.1:{one} weight 20
    server web2 127.0.0.1:{two} weight 20
    server off 127.0.0.1:{two} disabled
"""


class Kept(Farm):
    def set(self, server: str, **values: Any) -> httpx2.Response:
        answer = self.sidecar.put(f"{SERVICES}/runtime/backends/shop/servers/{server}", values)
        assert answer.status_code == 200, answer.text
        return answer

    def shown(self, server: str) -> tuple[str, int, int]:
        found = self.sidecar.server(server, "shop")
        assert found
        return found.forced_state, found.uweight, found.port

    def until(self, server: str, *wanted: Any) -> None:
        until(lambda: self.shown(server)[: len(wanted)] == wanted, f"{server} does not become {wanted}")

    def listed(self) -> dict[str, dict[str, Any]]:
        found = self.sidecar.get(PATH).json()
        return {f"{each['object'].rpartition('/')[2]} {each['member']} {each['source']}": each["value"] for each in found}


@pytest.fixture(params=[pytest.param("2.6", marks=pytest.mark.soak), "3.4"])
def farm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    with farm_of(Kept, tmp_path, request.param, LINES, "one", "two") as found:
        yield found


@pytest.fixture(params=[pytest.param("2.6", marks=pytest.mark.soak), "3.4"])
def stated(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    """Run a server with a server-state file."""
    lines = "    default_backend shop\n\ndefaults kept from plain\n    load-server-state-from-file global\n" + LINES.partition("shop\n")[2]
    lines = lines.replace("backend shop from plain", "backend shop from kept")
    with farm_of(Kept, tmp_path, request.param, lines, "one", "two", settings=f"server-state-file {tmp_path}/states") as found:
        yield found


def test_no_request_meets_a_drained_server(stated: Kept) -> None:
    """The server stays drained across reloads by this server and by others, and across a restart."""
    stated.set("web1", admin_state="drain")
    stated.set("off", admin_state="maint")
    with Traffic(stated.url, ["/"], ["one", "two"], clients=8, pause=0.001) as traffic:
        traffic.wait_for(200)
        before = traffic.answered["one"]
        for _ in range(2):
            stated.reload()
            stated.until("web1", "drain", 20)
            traffic.wait_for(traffic.count + 100)
        worker = stated.sidecar.haproxy.worker_pid()
        stated.sidecar.haproxy.ask_master("reload")
        while stated.sidecar.haproxy.worker_pid() == worker:
            time.sleep(0.01)
        traffic.wait_for(traffic.count + 100)
        assert traffic.failures == [] and traffic.answered["one"] == before
    assert {each["in_new_worker"] for each in stated.sidecar.get(PATH).json()} == {"from_start"}
    stated.sidecar.kill()
    stated.sidecar.haproxy.kill()
    stated.sidecar.haproxy.start()
    assert stated.shown("web1")[0] == "drain" and stated.shown("off")[0] == "maint"
    stated.sidecar.start()
    assert stated.sidecar.delete(f"{PATH}/backend/shop/server/web1").status_code == 204
    stated.sidecar.haproxy.kill()
    stated.sidecar.haproxy.start()
    assert stated.shown("web1")[0] == "ready", "what has ended is in the file no more"
    stated.until("off", "maint")


def test_a_port_that_the_configuration_changes(stated: Kept) -> None:
    """A former state file, with lines of others, does not restore the former port."""
    stated.set("web2", admin_state="drain")
    (stated.sidecar.haproxy.directory / "states").write_text(stated.sidecar.haproxy.ask("show servers state"))
    assert stated.sidecar.put_server("web2", {"port": stated.web.ports["one"]}, "shop").is_success
    stated.reload()
    stated.until("web2", "drain", 20, stated.web.ports["one"])


@pytest.mark.parametrize("farm", ["2.6", "3.4"], indirect=True)
def test_kept_over_reloads_and_restarts(farm: Kept) -> None:
    farm.set("web1", admin_state="drain")
    farm.set("web2", weight=7, address="127.0.0.1", port=farm.web.ports["one"])
    farm.set("off", admin_state="ready")
    kept = {"web1 admin_state api": "drain", "web2 weight api": 7, "web2 port api": farm.web.ports["one"], "off admin_state api": "ready"}
    assert farm.listed() == kept
    for _ in range(2):
        farm.reload()
        farm.until("web1", "drain", 20)
        farm.until("web2", "ready", 7, farm.web.ports["one"])
        farm.until("off", "ready")
        assert farm.listed() == kept
    farm.sidecar.haproxy.kill()
    farm.sidecar.haproxy.start()
    farm.until("web1", "drain", 20)
    farm.until("web2", "ready", 7, farm.web.ports["one"])
    farm.sidecar.kill()
    farm.sidecar.haproxy.kill()
    farm.sidecar.haproxy.start()
    assert farm.shown("web1") == ("ready", 20, farm.web.ports["one"])
    farm.sidecar.start()
    farm.until("web1", "drain", 20)
    assert farm.listed() == kept


def test_what_ends_them(farm: Kept) -> None:
    farm.set("web1", weight=7, admin_state="maint")
    farm.set("web2", weight=8)
    same = farm.sidecar.get("backends/shop/servers/web1").json()
    assert farm.sidecar.put("backends/shop/servers/web1", same, version=farm.sidecar.version()).is_success
    assert farm.listed() == {"web1 weight api": 7, "web1 admin_state api": "maint", "web2 weight api": 8}, "the file says what it said"
    assert farm.sidecar.put_server("web1", {"weight": 30}, "shop").is_success
    farm.until("web1", "maint", 30)
    until(lambda: farm.listed() == {"web1 admin_state api": "maint", "web2 weight api": 8})
    answer = farm.sidecar.delete(f"{PATH}/backend/shop/server/web1")
    assert answer.status_code == 204 and farm.shown("web1")[:2] == ("ready", 30)
    assert farm.sidecar.delete(f"{PATH}/backend/shop/server/web1").status_code == 404
    farm.reload()
    farm.until("web2", "ready", 8)
    assert farm.shown("web1")[:2] == ("ready", 30)
    assert farm.sidecar.delete("backends/shop/servers/web2", version=farm.sidecar.version()).is_success
    until(lambda: farm.listed() == {})


def test_the_first_value_is_none(farm: Kept) -> None:
    farm.set("web1", admin_state="drain", weight=3)
    farm.set("web1", admin_state="ready", weight=20)
    assert farm.listed() == {}


def test_what_others_set_ends_with_the_worker(farm: Kept) -> None:
    farm.sidecar.haproxy.ask("set server shop/web1 state drain")
    farm.sidecar.haproxy.ask("set server shop/web2 weight 9")
    farm.set("off", admin_state="ready")
    assert farm.listed() == {"off admin_state api": "ready", "web1 admin_state outside": "drain", "web2 weight outside": 9}
    farm.reload()
    farm.until("off", "ready")
    assert farm.listed() == {"off admin_state api": "ready"} and farm.shown("web1")[:2] == ("ready", 20)


def test_a_drain_stays_over_a_reload(farm: Kept) -> None:
    path = farm.sidecar.post("/v3/sidecar/drains", {"targets": ["shop/web1"]}).headers["Location"]
    assert farm.sidecar.get(path, wait="20s").json()["status"] == "succeeded"
    assert farm.listed() == {"web1 admin_state api": "drain"}
    farm.reload()
    farm.until("web1", "drain")


def test_servers_of_the_process_alone_are_not_kept(farm: Kept) -> None:
    added = f"{SERVICES}/runtime/backends/shop/servers"
    assert farm.sidecar.post(added, {"name": "new", "address": "127.0.0.1", "port": farm.web.ports["one"]}).status_code == 201
    farm.set("new", admin_state="ready", weight=5)
    farm.reload()
    until(lambda: farm.listed() == {})
    assert farm.sidecar.server("new", "shop") is None
