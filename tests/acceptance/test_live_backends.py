"""Add and delete backends at runtime (HAProxy 3.4), by every kind of call. Before 3.4 a reload does this, with the reason."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.effective import differences, effective, fresh
from tests.acceptance.quick import SERVICES, Quick, is_live
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

CONFIG = """\
global
    stats socket {{stats}} level admin

defaults base
    mode http
    balance roundrobin
    timeout connect 1s
    timeout client 30s
    timeout server 30s
    default-server inter 20ms rise 1 fall 1

frontend site from base
    bind 127.0.0.1:{site}
    use_backend %[path,map({maps}/routes.map)] if {{ path,map({maps}/routes.map) -m found }}
    use_backend %[path,field(2,/)]
    default_backend app

backend app from base
    server one 127.0.0.1:{one}

backend filed from base
    balance leastconn
    server-template t 2 127.0.0.1:{two}
"""


@dataclass
class Stage:
    """HAProxy with this server and web servers."""

    sidecar: Quick
    web: Web
    site: int

    def server(self, web: str = "two", **members: Any) -> dict[str, Any]:
        return {"name": web, "address": "127.0.0.1", "port": self.web.ports[web], **members}

    def add(self, name: str, **members: Any) -> httpx2.Response:
        """Add a backend with its servers in one call."""
        servers = members.pop("servers", None) or {"two": self.server()}
        body = {"name": name, "from": "base", "servers": servers, **members}
        return self.sidecar.post("backends", body, version=self.sidecar.version(), full_section=True)

    def delete(self, name: str) -> httpx2.Response:
        return self.sidecar.delete(f"backends/{name}", version=self.sidecar.version())

    def asked(self, path: str) -> str:
        return httpx2.get(f"http://127.0.0.1:{self.site}{path}", timeout=60, verify=False).text

    def running(self) -> set[str]:
        return set(self.sidecar.haproxy.ask("show backend").split()[2:])

    def why(self, answer: httpx2.Response) -> dict[str, Any]:
        """Wait until the reload of an answer has succeeded, and return its first reason."""
        assert self.sidecar.reloaded(answer)["status"] == "succeeded"
        return dict(self.sidecar.get(f"/v3/sidecar/reloads/{answer.headers['Reload-Id']}").json()["reasons"][0])

    @contextmanager
    def busy(self, backend: str) -> Iterator[Future[httpx2.Response]]:
        """Send a request to a server of the backend that lasts until the web servers are released."""
        self.web.held.clear()
        self.web.release.clear()
        with ThreadPoolExecutor() as pool:
            request = pool.submit(httpx2.get, f"http://127.0.0.1:{self.site}/{backend}/slow", timeout=60)
            assert self.web.held.wait(60)
            try:
                yield request
            finally:
                self.web.release.set()


def staged(version: str, directory: Path, *, purges: bool = False, **settings: Any) -> Iterator[Stage]:
    """Start HAProxy and the server. `purges`: with `tune.defaults.purge`."""
    maps = directory / "maps_dir"
    maps.mkdir()
    (maps / "routes.map").write_text("/first app\n")
    with Web("one", "two") as web:
        site = free_port()
        config = CONFIG.format(site=site, maps=maps, **web.ports)
        if purges:
            config = config.replace("global\n", "global\n    tune.defaults.purge\n")
        with HAProxy(directory, config, binary=binaries.exactly(version)) as haproxy, Quick(haproxy, **settings) as sidecar:
            yield Stage(sidecar, web, site)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    yield from staged("3.4", tmp_path_factory.mktemp("backends"))


@pytest.fixture
def steady(stage: Stage) -> Iterator[Stage]:
    """Assert that the test causes no reload, and that the backends afterwards are the same as before."""
    worker, before = stage.sidecar.haproxy.worker_pid(), stage.running()
    yield stage
    assert (stage.sidecar.haproxy.worker_pid(), stage.running()) == (worker, before)


def test_one_that_comes_serves_and_one_that_goes_is_gone(steady: Stage) -> None:
    answer = steady.add("shop")
    assert answer.status_code == 201, steady.sidecar.why(answer)
    assert steady.asked("/shop/x") == "two"
    answer = steady.delete("shop")
    assert answer.status_code == 204, steady.sidecar.why(answer)
    assert steady.asked("/shop/x") == "one"
    assert "backend shop" not in steady.sidecar.text()


def test_one_by_one(steady: Stage) -> None:
    """The backend is added first, then its servers. It inherits from the last defaults section above it."""
    answer = steady.sidecar.post("backends", {"name": "small", "mode": "http"}, version=steady.sidecar.version())
    assert answer.status_code == 201, steady.sidecar.why(answer)
    answer = steady.sidecar.post("backends/small/servers", steady.server(), version=steady.sidecar.version())
    assert answer.status_code == 201, steady.sidecar.why(answer)
    assert steady.asked("/small/x") == "two"
    assert is_live(steady.sidecar.delete("backends/small/servers/two", version=steady.sidecar.version()))
    assert is_live(steady.delete("small"))


def test_one_that_says_again_what_it_inherits(steady: Stage) -> None:
    answer = steady.add("again", balance={"algorithm": "roundrobin"}, connect_timeout=1000, server_timeout=30000)
    assert is_live(answer), steady.sidecar.why(answer)
    assert "balance roundrobin" in steady.sidecar.text().partition("backend again")[2]
    assert steady.sidecar.stat("BACKEND", "again")["algo"] == "roundrobin"
    assert is_live(steady.delete("again"))


def test_one_from_a_named_defaults_section_with_cookies_checks_and_rules(stage: Stage) -> None:
    """The added backend behaves as in a new process for the same file."""
    haproxy, before = stage.sidecar.haproxy, stage.sidecar.text()
    rule = "http-request return status 200 content-type text/plain string own if { path_end /own }"
    own = f"    option httpchk GET /\n    cookie S insert indirect\n    {rule}\n"
    base = before.partition("defaults base\n")[2].partition("\n\n")[0]
    shared = before.replace("frontend site", f"defaults tenants\n{own}{base}\n\nfrontend site", 1)
    assert stage.sidecar.reloaded(stage.sidecar.post("raw", shared, skip_version=True))["status"] == "succeeded"
    answer = stage.add("tenant", **{"from": "tenants"}, servers={"two": stage.server(cookie="s2")})
    assert is_live(answer), stage.why(answer)
    assert (stage.asked("/tenant"), stage.asked("/tenant/own")) == ("two", "own")
    text = stage.sidecar.text().replace(str(haproxy.stats), "{stats}").replace(f":{stage.site}\n", f":{free_port()}\n")
    with fresh(haproxy.directory / "fresh", haproxy.binary, text) as send:
        # Nothing counts the computed fullconn of a backend without minconn.
        assert [each for each in differences(effective(haproxy.ask), effective(send)) if " slim:" not in each] == []
    stage.sidecar.reloaded(stage.sidecar.post("raw", before, skip_version=True))


def test_in_a_transaction(steady: Stage) -> None:
    transaction = steady.sidecar.transaction()
    for name in ("t1", "t2"):
        body = {"name": name, "from": "base", "servers": {"two": steady.server(check="enabled")}}
        assert steady.sidecar.post("backends", body, transaction_id=transaction, full_section=True).status_code == 202
    answer = steady.sidecar.commit(transaction)
    assert is_live(answer), steady.sidecar.why(answer)
    assert [steady.asked(f"/{name}/x") for name in ("t1", "t2")] == ["two", "two"]
    transaction = steady.sidecar.transaction()
    for name in ("t1", "t2"):
        assert steady.sidecar.delete(f"backends/{name}", transaction_id=transaction).status_code == 202
    answer = steady.sidecar.commit(transaction)
    assert is_live(answer), steady.sidecar.why(answer)


def test_by_a_raw_push(steady: Stage) -> None:
    text = steady.sidecar.get("raw").text
    pushed = f"{text}\nbackend pushed from base\n    server two 127.0.0.1:{steady.web.ports['two']} check\n"
    answer = steady.sidecar.post("raw", pushed, version=steady.sidecar.version())
    assert answer.status_code == 201, steady.sidecar.why(answer)
    assert steady.asked("/pushed/x") == "two"
    answer = steady.sidecar.post("raw", text, version=steady.sidecar.version())
    assert answer.status_code == 201, steady.sidecar.why(answer)


def test_a_map_entry_that_names_it_is_live(steady: Stage) -> None:
    assert is_live(steady.add("mapped"))
    entries = f"{SERVICES}/runtime/maps/routes.map/entries"
    answer = steady.sidecar.post(entries, {"key": "/m", "value": "mapped"}, force_sync=True)
    assert answer.status_code == 201, answer.text
    assert steady.asked("/m") == "two"
    assert steady.sidecar.delete(f"{entries}/%2Fm", force_sync=True).status_code == 204
    answer = steady.delete("mapped")
    assert answer.status_code == 204, steady.sidecar.why(answer)


def test_one_of_the_file_with_a_template_goes(stage: Stage) -> None:
    worker, body = stage.sidecar.haproxy.worker_pid(), stage.sidecar.get("backends/filed", full_section=True).json()
    answer = stage.delete("filed")
    assert answer.status_code == 204, stage.sidecar.why(answer)
    assert stage.sidecar.haproxy.worker_pid() == worker
    assert "filed" not in stage.running()
    answer = stage.sidecar.post("backends", body, version=stage.sidecar.version(), full_section=True)
    reason = stage.why(answer)
    assert reason["keyword"] == "balance"
    assert "server-template" in reason["reason"]


def test_a_request_in_time_holds_the_deletion_up(steady: Stage) -> None:
    assert is_live(steady.add("slow"))
    with steady.busy("slow") as request, ThreadPoolExecutor() as pool:
        deleting = pool.submit(steady.delete, "slow")
        while "UNPUB" not in steady.sidecar.stat("BACKEND", "slow")["status"]:
            time.sleep(0.01)
        assert steady.asked("/slow/x") == "one", "an unpublished backend is passed over"
        steady.web.release.set()
        answer = deleting.result()
        assert answer.status_code == 204, steady.sidecar.why(answer)
        assert request.result().text == "two"


def test_a_longer_one_is_left_to_a_reload(stage: Stage) -> None:
    assert is_live(stage.add("long"))
    with stage.busy("long") as request:
        answer = stage.delete("long")
        assert answer.status_code == 202
        reason = stage.why(answer)
        stage.web.release.set()
        assert request.result().text == "two"
    assert "1 on server two" in reason["reason"]
    assert reason["section"] == "backend long" and reason["remedy"].startswith("drain the servers")
    assert "long" not in stage.running()


REASONS = [
    ("default_backend", "default_backend {}\n", "frontend site"),
    ("use_backend", "default_backend app\n    use_backend {} if TRUE\n", "frontend site"),
]


@pytest.mark.parametrize(("keyword", "lines", "section"), REASONS)
def test_a_rule_that_names_it_needs_a_reload(stage: Stage, keyword: str, lines: str, section: str) -> None:
    before = stage.sidecar.get("raw").text
    changed = before.replace("default_backend app\n", lines.format("ruled")) + "\nbackend ruled from base\n"
    reason = stage.why(stage.sidecar.post("raw", changed, version=stage.sidecar.version()))
    assert (reason["section"], reason["keyword"]) == (section, keyword)
    assert stage.sidecar.text().splitlines()[reason["line"] - 1].split()[:2] == [keyword, "ruled"]
    assert stage.why(stage.sidecar.post("raw", before, version=stage.sidecar.version()))["section"] == section


def test_a_stored_map_that_names_it_keeps_it_to_the_reload(stage: Stage) -> None:
    assert is_live(stage.add("held"))
    entries = f"{SERVICES}/runtime/maps/routes.map/entries"
    assert stage.sidecar.post(entries, {"key": "/h", "value": "held"}, force_sync=True).status_code == 201
    reason = stage.why(stage.delete("held"))
    assert "/h in map routes.map names it" in reason["reason"] and "map entries" in reason["remedy"]
    assert stage.sidecar.delete(f"{entries}/%2Fh", force_sync=True).status_code == 204


def test_what_haproxy_keeps_until_a_reload(stage: Stage) -> None:
    assert stage.sidecar.reloaded(stage.add("tabled", stick_table={"type": "ip", "size": 1024}))
    without = stage.sidecar.text().partition("backend tabled")[0]
    planned = stage.sidecar.post("/v3/sidecar/plan", without).json()["reasons"][0]
    reason = stage.why(stage.delete("tabled"))
    assert reason["keyword"] == planned["keyword"] == "stick-table"
    assert "cannot delete a backend with such a line" in reason["reason"]
    assert reason["section"] == "backend tabled"


def test_a_server_that_the_process_alone_has_is_not_lost_unseen(stage: Stage) -> None:
    assert is_live(stage.add("shared"))
    stage.sidecar.haproxy.ask("add server shared/strange 127.0.0.1:9")
    reason = stage.why(stage.delete("shared"))
    assert "has server strange in" in reason["reason"]


def test_what_haproxy_would_refuse_is_known_beforehand(stage: Stage) -> None:
    """The load balancing of its defaults section permits no added servers."""
    text = stage.sidecar.get("raw").text
    hashed = text.replace("frontend site", "defaults hashed from base\n    balance source\n\nfrontend site", 1)
    assert stage.sidecar.reloaded(stage.sidecar.post("raw", hashed, version=stage.sidecar.version()))
    added = f"{hashed}\nbackend fixed from hashed\n    server two 127.0.0.1:9\n"
    planned = stage.sidecar.post("/v3/sidecar/plan", added).json()["reasons"][0]
    answer = stage.sidecar.post("raw", added, version=stage.sidecar.version())
    assert answer.status_code == 202
    reason = stage.why(answer)
    assert (reason["section"], reason["keyword"]) == ("backend fixed", "server")
    assert planned["reason"] == reason["reason"]
    assert "with balance source, HAProxy accepts servers only when it loads the file" in reason["reason"]
    assert stage.sidecar.reloaded(stage.sidecar.post("raw", text, version=stage.sidecar.version()))["status"] == "succeeded"


def test_one_that_meets_a_change_that_waits_for_its_reload(tmp_path: Path) -> None:
    """The backend is added and deleted at once. The later reload loads the file."""
    for stage in staged("3.4", tmp_path, delay=3_600_000):
        worker = stage.sidecar.haproxy.worker_pid()
        text = stage.sidecar.get("raw").text.replace("balance leastconn", "balance source")
        answer = stage.sidecar.post("raw", text, version=stage.sidecar.version())
        assert answer.status_code == 202
        for name in ("shop", "stays"):
            answer = stage.add(name)
            assert is_live(answer), answer.text
            assert stage.asked(f"/{name}/x") == "two"
        answer = stage.delete("shop")
        assert is_live(answer), answer.text
        assert stage.running() == {"app", "filed", "stays"}
        assert stage.sidecar.haproxy.worker_pid() == worker
        own = stage.add("own", stick_table={"type": "ip", "size": 1024})
        assert own.status_code == 202
        assert stage.delete("own").status_code == 202, "what waits is not in the process"
        stage.sidecar.post("backends", {"name": "last"}, version=stage.sidecar.version(), force_reload=True)
        assert stage.sidecar.haproxy.worker_pid() != worker
        assert stage.running() == {"app", "filed", "stays", "last"}
        assert stage.asked("/stays/x") == "two"


def test_one_from_a_defaults_section_that_haproxy_has_dropped(tmp_path: Path) -> None:
    """HAProxy drops `base`, although other sections inherit from it. It refuses the command, and a reload adds the backend."""
    for stage in staged("3.4", tmp_path, purges=True):
        for name in ("shop", "next"):
            answer = stage.add(name)
            assert answer.status_code == 202, answer.text
            assert "Cannot find default proxy 'base'" in stage.why(answer)["reason"]
            assert stage.asked(f"/{name}/x") == "two" and name in stage.running()


@pytest.mark.parametrize("version", binaries.EACH)
def test_before_a_reload_does_it(version: str, tmp_path: Path) -> None:
    for stage in staged(version, tmp_path):
        reason = stage.why(stage.add("shop"))
        assert (reason["section"], reason["keyword"]) == ("backend shop", "backend")
        assert "cannot add backends" in reason["reason"]
        assert stage.asked("/shop/x") == "two"
        reason = stage.why(stage.delete("shop"))
        assert "cannot delete backends" in reason["reason"]
        assert stage.asked("/shop/x") == "one"
