"""Drain servers with real sessions: in the present and in former workers, across a reload and a restart of this server."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.farm import Farm, farm_of
from tests.acceptance.quick import SERVICES
from tests.acceptance.traffic import Traffic
from tests.until import until

OPERATIONS = "/v3/sidecar/operations"
LINES = """\
    use_backend only if {{ path_beg /only }}
    default_backend shop

backend shop from plain
    server web1 127.0.0.1:{one}
    server web2 127.0.0.1:{two}

backend only from plain
    server web1 127.0.0.1:{one}
    server web2 127.0.0.1:{two} backup
"""


class Drained(Farm):
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

    def until(self, server: str, state: str, backend: str = "shop") -> None:
        until(lambda: self.state(server, backend) == state, f"{server} does not become {state}")

    def progress(self, path: str, condition: Callable[[dict[str, Any]], bool]) -> None:
        """Wait until the condition is true for the progress of the operation."""
        until(lambda: condition(self.sidecar.get(path).json()["progress"]), self.sidecar.get(path).text)

    @contextmanager
    def slow_request(self) -> Iterator[list[str]]:
        """Send a request to web1 that lasts until `web.release` is set. The yielded list then has its answer."""
        answers: list[str] = []
        thread = threading.Thread(target=lambda: answers.append(_asked(f"{self.url}/only/slow")), daemon=True)
        thread.start()
        assert self.web.held.wait(60)
        try:
            yield answers
        finally:
            self.web.release.set()
            thread.join(60)


def _asked(url: str) -> str:
    try:
        return httpx2.get(url, timeout=60, verify=False).text
    except httpx2.HTTPError as error:
        return type(error).__name__


@pytest.fixture(params=[pytest.param("2.6", marks=pytest.mark.soak), "3.4"])
def farm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Drained]:
    with farm_of(Drained, tmp_path, request.param, LINES, "one", "two") as found:
        yield found


def test_drained_under_traffic_without_a_failed_request(farm: Drained) -> None:
    with Traffic(farm.url, ["/"], ["one", "two"]) as traffic:
        traffic.wait_for(50)
        assert farm.ended(farm.drain("shop/web1", then="maint", keep_ready=1))["status"] == "succeeded"
        before = traffic.answered["one"]
        traffic.wait_for(traffic.count + 50)
        assert traffic.answered["one"] == before and farm.state() == "maint"
    assert traffic.failures == []


@pytest.mark.parametrize("farm", ["2.6", "3.4"], indirect=True)
def test_sessions_of_a_former_worker_count(farm: Drained) -> None:
    with farm.slow_request() as answers:
        path = farm.drain("backend/only/server/web1", "shop/web1", then="maint", timeout="2m")
        farm.until("web1", "drain")
        farm.reload()
        # The new worker has no sessions, and the servers are drained in it again.
        farm.until("web1", "drain")
        farm.progress(path, lambda now: now.get("sessions") == {"backend/only/server/web1": 1, "backend/shop/server/web1": 0})
        found = farm.sidecar.get(path).json()
        assert found["status"] == "running" and "former_workers" not in found["progress"], found
        farm.web.release.set()
        assert farm.ended(path)["status"] == "succeeded"
    assert answers == ["one"] and farm.state() == "maint" and farm.state(backend="only") == "maint"


def test_a_restart_of_the_sidecar_in_the_middle(farm: Drained) -> None:
    with farm.slow_request() as answers:
        path = farm.drain("*@127.0.0.1", keep_ready=0, then="maint", timeout="2m")
        farm.until("web2", "drain")
        farm.sidecar.kill()
        farm.sidecar.start()
        assert farm.sidecar.get(path, wait="500ms").json()["status"] == "running"
        farm.web.release.set()
        assert farm.ended(path)["status"] == "succeeded"
    assert answers == ["one"] and [farm.state("web1"), farm.state("web2")] == ["maint", "maint"]


def test_the_end_of_the_time(farm: Drained) -> None:
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


def test_as_many_as_are_to_stay(farm: Drained) -> None:
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


def test_paused_while_too_few_are_ready(farm: Drained) -> None:
    """`keep_ready` is violated after the start of the drain. The action `then` waits until the condition is met again."""
    with farm.slow_request() as answers:
        path = farm.drain("only/web1", keep_ready=1, then="maint", timeout="2m")
        farm.until("web1", "drain", "only")
        farm.sidecar.haproxy.ask("set server only/web2 state maint")
        farm.web.release.set()
        paused = "backend only would have 0 servers up and ready, and 1 are to stay"
        farm.progress(path, lambda now: now.get("paused") == paused)
        assert farm.sidecar.get(path).json()["status"] == "running"
        assert farm.state(backend="only") == "drain"
    farm.sidecar.haproxy.ask("set server only/web2 state ready")
    done = farm.ended(path)
    assert done["status"] == "succeeded" and done["progress"]["paused"] == "" and answers == ["one"]
    assert farm.state(backend="only") == "maint"


def test_paused_until_its_time_is_over(farm: Drained) -> None:
    with farm.slow_request() as answers:
        path = farm.drain("only/web1", keep_ready=1, at_timeout="cut", timeout="1500ms")
        farm.until("web1", "drain", "only")
        farm.sidecar.haproxy.ask("set server only/web2 state maint")
        done = farm.ended(path)
        assert done["status"] == "failed" and "1 are to stay after 1.5 s; the servers stay drained" in done["error"], done
    assert answers == ["one"], "nothing is cut"


def test_deleted_from_the_file(farm: Drained) -> None:
    done = farm.ended(farm.drain("shop/web1", then="delete", keep_ready=1))
    assert done["status"] == "succeeded", done
    if reload := done["progress"].get("reload_id"):
        assert farm.sidecar.outcome(reload)["status"] == "succeeded"
    assert "server web1" not in farm.sidecar.text().partition("backend shop")[2].partition("backend only")[0]
    assert farm.sidecar.get(f"{SERVICES}/runtime/backends/shop/servers/web1").status_code == 404
    assert farm.sidecar.get("backends/only/servers/web1").status_code == 200


def test_made_ready_by_others(farm: Drained) -> None:
    with farm.slow_request():
        path = farm.drain("shop/web1", "only/web1")
        farm.until("web1", "drain")
        farm.progress(path, lambda now: "worker" in now)
        farm.sidecar.haproxy.ask("set server only/web1 state ready")
        assert "made ready by others" in farm.ended(path)["error"]


@pytest.mark.parametrize(
    ("backends", "each"), [(4, 50), pytest.param(10, 1000, marks=pytest.mark.soak), pytest.param(1000, 10, marks=pytest.mark.soak)]
)
def test_many_servers(tmp_path: Path, backends: int, each: int) -> None:
    """Drain servers by a pattern, and by their names. Other requests are answered during this."""
    names = [f"b{backend}/s{server}" for backend in range(backends) for server in range(each)]
    lines = ["    default_backend b0"]
    for backend in range(backends):
        lines += [f"backend b{backend} from plain", *(f"    server s{server} 10.0.{backend % 250}.1:80" for server in range(each))]
    with farm_of(Drained, tmp_path, "3.4", "\n".join(lines) + "\n") as farm:
        for targets, then, state in ((["*/*"], "nothing", "DRAIN"), (names, "maint", "MAINT")):
            path = farm.drain(*targets, then=then)
            while farm.sidecar.get(path, wait="100ms").json()["status"] == "running":
                farm.sidecar.version()
            assert farm.ended(path)["status"] == "succeeded"
            assert farm.sidecar.haproxy.ask("show stat -1 4 -1").count(f",{state},") == len(names)
        assert len(farm.sidecar.get("/v3/sidecar/overrides").json()) == len(names)
