"""Add and delete servers at runtime on every version. Other changes are reloaded, and the record of the reload has the reason."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from tests.acceptance.quick import Quick, is_live
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

CONFIG = """\
global
    stats socket {{stats}} level admin

defaults base
    mode http
    timeout connect 1s
    timeout client 30s
    timeout server 30s

frontend site from base
    bind 127.0.0.1:{site}
    maxconn 100
    use_backend %[path,field(2,/)]

backend app from base
    balance roundrobin
    default-server inter 1h pool-purge-delay 50ms   # 2.8 keeps idle connections even to a server in maintenance
    server one 127.0.0.1:{one}   # the first

backend other from base
    balance roundrobin
    server one 127.0.0.1:{one}

backend fixed from base
    balance static-rr
    server one 127.0.0.1:{one} weight 10
"""


@dataclass
class Stage:
    """HAProxy with this server and web servers."""

    sidecar: Quick
    web: Web
    site: int

    def body(self, name: str, web: str = "two", **members: Any) -> dict[str, Any]:
        return {"name": name, "address": "127.0.0.1", "port": self.web.ports[web], **members}

    def add(self, name: str, web: str = "two", backend: str = "app", **members: Any) -> httpx2.Response:
        return self.sidecar.post(f"backends/{backend}/servers", self.body(name, web, **members), version=self.sidecar.version())

    def delete(self, name: str, backend: str = "app") -> httpx2.Response:
        return self.sidecar.delete(f"backends/{backend}/servers/{name}", version=self.sidecar.version())

    def asked(self, backend: str, times: int = 12) -> set[str]:
        """Return the names of the web servers that answer requests to a backend."""
        with httpx2.Client(base_url=f"http://127.0.0.1:{self.site}", timeout=60, verify=False) as client:
            answers = [client.get(f"/{backend}/x") for _ in range(times)]
        assert {answer.status_code for answer in answers} == {200}
        return {answer.text for answer in answers}

    @contextmanager
    def busy(self) -> Iterator[Future[httpx2.Response]]:
        """Send a request to the server `busy` that lasts until the web servers are released."""
        assert is_live(self.sidecar.put_server("one", {"maintenance": "enabled"}))
        assert is_live(self.add("busy", "three"))
        self.web.held.clear()
        self.web.release.clear()
        with ThreadPoolExecutor() as pool:
            request = pool.submit(httpx2.get, f"http://127.0.0.1:{self.site}/app/slow", timeout=60)
            assert self.web.held.wait(60)
            assert is_live(self.sidecar.put_server("one", {"maintenance": None}))
            try:
                yield request
            finally:
                self.web.release.set()


@pytest.fixture(scope="module", params=binaries.EACH)
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with Web("one", "two", "three") as web:
        site = free_port()
        config = CONFIG.format(site=site, one=web.ports["one"])
        directory, binary = tmp_path_factory.mktemp("servers"), binaries.exactly(request.param)
        with HAProxy(directory, config, binary=binary) as haproxy, Quick(haproxy) as sidecar:
            yield Stage(sidecar, web, site)


@pytest.fixture
def steady(stage: Stage) -> Iterator[Stage]:
    """Assert that the test causes no reload."""
    worker = stage.sidecar.haproxy.worker_pid()
    yield stage
    assert stage.sidecar.haproxy.worker_pid() == worker


def test_a_server_that_is_added_serves_and_one_that_is_deleted_is_gone(steady: Stage) -> None:
    answer = steady.add("new")
    assert answer.status_code == 201, steady.sidecar.why(answer)
    assert steady.asked("app") == {"one", "two"}
    assert steady.sidecar.line("server new ") == f"server new 127.0.0.1:{steady.web.ports['two']}"
    answer = steady.delete("new")
    assert answer.status_code == 204, steady.sidecar.why(answer)
    assert steady.asked("app") == {"one"}
    assert steady.sidecar.server("new") is None
    assert steady.sidecar.line("server new ") == ""


def test_its_checks_are_made(steady: Stage) -> None:
    """A server that does not answer its checks goes down, and one that answers them is up."""
    fast = {"check": "enabled", "inter": 20, "rise": 1, "fall": 1}
    assert is_live(steady.add("good", **fast))
    answer = steady.sidecar.post(
        "backends/app/servers", {"name": "bad", "address": "127.0.0.1", "port": free_port(), **fast}, version=steady.sidecar.version()
    )
    assert is_live(answer), steady.sidecar.why(answer)
    deadline = time.monotonic() + 120
    while steady.sidecar.stat("bad")["status"] != "DOWN" or steady.sidecar.stat("good")["check_status"] not in ("L4OK", "L7OK"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert steady.asked("app") == {"one", "two"}
    assert is_live(steady.sidecar.put_server("bad", {"check": "disabled", "weight": 0}))
    assert (shown := steady.sidecar.server("bad"))
    assert shown.operational_state == "up", "a server without a check counts as up, whatever its last check said"
    assert is_live(steady.sidecar.put_server("bad", {"check": "enabled"}))
    while steady.sidecar.stat("bad")["status"] != "DOWN":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert is_live(steady.delete("bad"))
    assert is_live(steady.delete("good"))


def test_one_added_in_maintenance_waits_until_it_is_ready(steady: Stage) -> None:
    assert is_live(steady.add("parked", maintenance="enabled"))
    assert steady.asked("app") == {"one"}
    assert is_live(steady.sidecar.put_server("parked", {"maintenance": "disabled"}))
    assert steady.asked("app") == {"one", "two"}
    assert is_live(steady.delete("parked"))


def test_a_transaction_of_servers_is_live_as_a_whole(steady: Stage) -> None:
    transaction = steady.sidecar.transaction()
    within = {"transaction_id": transaction}
    for name, web in (("t1", "two"), ("t2", "three")):
        assert steady.sidecar.post("backends/app/servers", steady.body(name, web), **within).status_code == 202
    assert steady.sidecar.put_server("one", {"weight": 5}, **within).status_code == 202
    commit = steady.sidecar.commit(transaction)
    assert is_live(commit), steady.sidecar.why(commit)
    assert steady.asked("app", 60) == {"one", "two", "three"}
    transaction = steady.sidecar.transaction()
    for name in ("t1", "t2"):
        assert steady.sidecar.delete(f"backends/app/servers/{name}", transaction_id=transaction).status_code == 202
    steady.sidecar.put_server("one", {"weight": None}, transaction_id=transaction)
    assert is_live(steady.sidecar.commit(transaction))
    assert steady.asked("app") == {"one"}


def test_a_raw_push_of_servers_is_live(steady: Stage) -> None:
    text = steady.sidecar.get("raw").text
    line = next(each for each in text.splitlines() if "# the first" in each)
    new = f"{line}\n    server pushed 127.0.0.1:{steady.web.ports['three']} check"
    answer = steady.sidecar.post("raw", text.replace(line, new), version=steady.sidecar.version())
    assert answer.status_code == 201, steady.sidecar.why(answer)
    assert steady.asked("app") == {"one", "three"}
    answer = steady.sidecar.post("raw", text, version=steady.sidecar.version())
    assert answer.status_code == 201, steady.sidecar.why(answer)
    assert steady.asked("app") == {"one"}


def test_what_is_written_as_it_stands_does_nothing_but_count(steady: Stage) -> None:
    before, version = steady.sidecar.text(), steady.sidecar.version()
    server = steady.sidecar.put_server("one", {}, "other")
    backend = steady.sidecar.put("backends/other", steady.sidecar.get("backends/other").json(), version=version + 1)
    assert (server.status_code, backend.status_code) == (200, 200), steady.sidecar.why(backend)
    assert steady.sidecar.version() == version + 2
    assert without_comments(steady.sidecar.text()) == without_comments(before)


def without_comments(text: str) -> list[str]:
    """Return the lines of a text without comments, such as the header of the server."""
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_a_frontends_own_limit(steady: Stage) -> None:
    frontend = steady.sidecar.get("frontends/site").json()
    answer = steady.sidecar.put("frontends/site", {**frontend, "maxconn": 101}, version=steady.sidecar.version())
    assert is_live(answer), steady.sidecar.why(answer)
    assert steady.sidecar.stat("FRONTEND", "site")["slim"] == "101"


def test_a_server_in_use_is_deleted_when_its_last_request_has_ended(steady: Stage) -> None:
    with steady.busy() as request, ThreadPoolExecutor() as pool:
        deleting = pool.submit(steady.delete, "busy")
        while (state := steady.sidecar.server("busy")) and state.forced_state != "maint":
            time.sleep(0.01)
        steady.web.release.set()
        answer = deleting.result()
        assert answer.status_code == 204, steady.sidecar.why(answer)
        assert request.result().text == "three"
    assert steady.sidecar.server("busy") is None


def test_one_that_stays_in_use_goes_with_a_reload_and_its_request_is_not_lost(stage: Stage) -> None:
    with stage.busy() as request:
        answer = stage.delete("busy")
        assert stage.sidecar.reloaded(answer)["status"] == "succeeded"
        reason = stage.sidecar.get(f"/v3/sidecar/reloads/{answer.headers['Reload-Id']}").json()["reasons"][0]
        stage.web.release.set()
        assert request.result().text == "three"
    assert "still has connections" in reason["reason"]
    assert reason["section"] == "backend app"
    assert stage.sidecar.server("busy") is None


RELOADING = [
    ("a server for a backend whose balance is fixed", "fixed", "late", {}, "with balance static-rr, HAProxy accepts servers"),
    ("a member that no command changes", "other", "one", {"cookie": "x"}, "cookie"),
]


@pytest.mark.parametrize(("backend", "name", "change", "says"), [row[1:] for row in RELOADING], ids=[row[0] for row in RELOADING])
def test_the_record_of_a_reload_names_line_and_keyword(stage: Stage, backend: str, name: str, change: dict[str, Any], says: str) -> None:
    worker = stage.sidecar.haproxy.worker_pid()
    answer = stage.sidecar.put_server(name, change, backend) if change else stage.add(name, backend=backend)
    assert stage.sidecar.reloaded(answer)["status"] == "succeeded"
    record = stage.sidecar.get(f"/v3/sidecar/reloads/{answer.headers['Reload-Id']}").json()
    reason = record["reasons"][0]
    assert (reason["section"], reason["keyword"]) == (f"backend {backend}", "server")
    assert stage.sidecar.text().splitlines()[reason["line"] - 1].split()[:2] == ["server", name]
    assert says in reason["reason"]
    assert record["verified"] is True
    assert (record["pid_before"], record["pid_after"]) == (worker, stage.sidecar.haproxy.worker_pid())
    assert record["version"] == stage.sidecar.version()
    assert worker != stage.sidecar.haproxy.worker_pid()
