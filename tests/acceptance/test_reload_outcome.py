"""Report the real outcome of a reload: with HAProxy or the server killed, a reload command that lies, or a worker that cannot load."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

CONFIG = PLAIN.format() + "backend app from plain\n    server one 127.0.0.1:1\n"
# A section that passes `haproxy -c` and cannot be loaded.
UNKNOWN_RING = "log-forward more\n    bind 127.0.0.1:{port}\n    log ring@nowhere local0\n"


@contextmanager
def beside(
    directory: Path, command: str, *, master: bool = False, sees_master: bool = False, version: str = "3.2", delay: int = 50
) -> Iterator[Quick]:
    """Run HAProxy and a server with a reload command, in which $PID is HAProxy's pid. With `sees_master`, it knows the master socket."""
    pid = directory / "haproxy.pid"
    settings: dict[str, Any] = {"master_worker_mode": not sees_master} if master or sees_master else {}
    script = directory / "reload"
    script.write_text(f"#!/bin/sh\nPID=$(cat {pid})\n{command}\n")
    script.chmod(0o755)
    with (
        HAProxy(directory, CONFIG, binary=binaries.exactly(version), master=master or sees_master) as haproxy,
        Quick(haproxy, settings=settings, reload={"reload_cmd": str(script)}, delay=delay) as sidecar,
    ):
        pid.write_text(str(haproxy.pid))
        yield sidecar


def add(sidecar: Quick, name: str, **more: Any) -> Any:
    return sidecar.post("backends", {"name": name, "from": "plain"}, version=sidecar.version(), **more)


def record(sidecar: Quick, identity: str) -> dict[str, Any]:
    return dict(sidecar.get(f"/v3/sidecar/reloads/{identity}").json())


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_ready(sidecar: Quick) -> bool:
    return sidecar.ask("GET", "/readyz").status_code == 200


def check_that_all_agree(sidecar: Quick, *names: str) -> None:
    """Assert that file and process have these backends in addition to the first."""
    assert [each for each in sidecar.haproxy.ask("show backend").split()[2:] if each != "app"] == list(names)
    assert [each["name"] for each in sidecar.get("backends").json() if each["name"] != "app"] == list(names)
    plan = sidecar.post("/v3/sidecar/plan", sidecar.get("raw").text).json()
    assert not plan["commands"] and not plan["reload"], plan


@pytest.mark.parametrize(
    ("command", "master"),
    [
        ("true", True),
        pytest.param("true", False, marks=pytest.mark.soak),
        pytest.param("kill -USR2 $PID", True, marks=pytest.mark.soak),
        ("kill -USR2 $PID", False),
    ],
)
def test_a_haproxy_that_is_dead_loads_the_file_when_it_starts(tmp_path: Path, command: str, master: bool) -> None:
    with beside(tmp_path, command, master=master) as sidecar:
        # HAProxy has answered, so the server knows that it runs.
        assert is_ready(sidecar)
        sidecar.haproxy.kill()
        identity = add(sidecar, "first").headers["Reload-Id"]
        wait_until(lambda: "when HAProxy starts" in record(sidecar, identity).get("response", ""))
        assert sidecar.get(f"{SERVICES}/reloads/{identity}").json() == {"id": identity, "status": "in_progress"}
        answer = add(sidecar, "second", force_reload=True)
        assert answer.status_code == 202, "writes go on"
        ids = {identity, answer.headers["Reload-Id"]}
        text = sidecar.get("raw").text
        assert sidecar.post("raw", CONFIG.replace("{stats}", str(sidecar.haproxy.stats)), version=sidecar.version()).status_code == 202, (
            "not even what the last worker had loaded is live"
        )
        ids.add(sidecar.post("raw", text, version=sidecar.version()).headers["Reload-Id"])
        assert not is_ready(sidecar)
        sidecar.kill()
        sidecar.start()
        assert {sidecar.get(f"{SERVICES}/reloads/{each}").json()["status"] for each in ids} == {"in_progress"}
        assert "backend first" in sidecar.text() and "backend second" in sidecar.text()
        sidecar.haproxy.start()
        assert {sidecar.outcome(each)["status"] for each in ids} == {"succeeded"}
        found = record(sidecar, identity)
        assert (found["verified"], found["pid_after"]) == (True, sidecar.haproxy.worker_pid())
        check_that_all_agree(sidecar, "first", "second")
        assert is_ready(sidecar)


@pytest.mark.parametrize("version", [pytest.param("2.6", marks=pytest.mark.soak), "3.2"])
def test_a_start_that_fails_is_told_and_can_be_mended(tmp_path: Path, version: str) -> None:
    """HAProxy ends after it has opened its sockets."""
    with socket.create_server(("127.0.0.1", 0)) as other, beside(tmp_path, "true", master=True, version=version) as sidecar:
        assert is_ready(sidecar)
        sidecar.haproxy.kill()
        assert sidecar.post("frontends", {"name": "taken", "from": "plain"}, version=sidecar.version()).status_code == 202
        body = {"name": "b", "address": "127.0.0.1", "port": other.getsockname()[1]}
        identity = sidecar.post("frontends/taken/binds", body, version=sidecar.version()).headers["Reload-Id"]
        wait_until(lambda: "when HAProxy starts" in record(sidecar, identity).get("response", ""))
        assert "was started" not in record(sidecar, identity)["response"]
        with pytest.raises(AssertionError, match="HAProxy ended"):
            sidecar.haproxy.start()
        wait_until(lambda: "and does not answer; its own log says why" in record(sidecar, identity)["response"])
        assert record(sidecar, identity)["status"] == "in_progress"
        assert "HAProxy was started at " in sidecar.ask("GET", "/readyz").json()["parts"]["reload"]["reason"]
        assert sidecar.delete("frontends/taken", version=sidecar.version()).status_code == 202, "mended through the API"
        sidecar.haproxy.start()
        assert sidecar.outcome(identity)["status"] == "succeeded"
        assert is_ready(sidecar)


def test_what_a_dead_worker_had_loaded_is_not_live(tmp_path: Path) -> None:
    """Changes are not made at runtime, also before a reload has found that the worker is dead."""
    with beside(tmp_path, "true", delay=60_000) as sidecar:
        text = sidecar.get("raw").text
        sidecar.haproxy.kill()
        assert add(sidecar, "first").status_code == 202
        answer = sidecar.post("raw", text, version=sidecar.version())
        assert (answer.status_code, record(sidecar, answer.headers["Reload-Id"])["status"]) == (202, "in_progress")


def test_a_master_that_was_never_seen_may_come_later(tmp_path: Path) -> None:
    haproxy = HAProxy(tmp_path, CONFIG, binary=binaries.exactly("3.2"))
    with Quick(haproxy) as sidecar:
        identity = add(sidecar, "first").headers["Reload-Id"]
        wait_until(lambda: "when HAProxy starts" in record(sidecar, identity).get("response", ""))
        with haproxy:
            assert (outcome := sidecar.outcome(identity))["status"] == "succeeded", outcome
            check_that_all_agree(sidecar, "first")


# The server is killed after the new worker answers, before it answers, or before HAProxy is reloaded.
@pytest.mark.parametrize(
    "command",
    [
        "kill -USR2 $PID; touch reached; sleep 2",
        pytest.param("touch reached; sleep 1; kill -USR2 $PID", marks=pytest.mark.soak),
        "touch reached; sleep 2",
    ],
)
def test_a_server_killed_while_the_command_runs_tells_the_outcome(tmp_path: Path, command: str) -> None:
    marker = tmp_path / "reached"
    with beside(tmp_path, f"[ -e {marker} ] && {{ kill -USR2 $PID; exit; }}\n{command.replace('reached', str(marker))}") as sidecar:
        before = sidecar.haproxy.worker_pid()
        identity = add(sidecar, "first").headers["Reload-Id"]
        wait_until(marker.exists)
        if command.startswith("kill"):
            wait_until(lambda: sidecar.haproxy.worker_pid() != before)
        sidecar.kill()
        sidecar.start()
        assert (outcome := sidecar.outcome(identity))["status"] == "succeeded", outcome
        check_that_all_agree(sidecar, "first")


@pytest.mark.parametrize("sees_master", [True, False])
def test_a_command_that_reloads_and_fails_has_reloaded(tmp_path: Path, sees_master: bool) -> None:
    with beside(tmp_path, "kill -USR2 $PID; exit 1", sees_master=sees_master) as sidecar:
        assert sidecar.reloaded(add(sidecar, "first"))["status"] == "succeeded"
        assert add(sidecar, "second", force_reload=True).status_code == 201
        check_that_all_agree(sidecar, "first", "second")


@pytest.mark.parametrize("version", [*(pytest.param(each, marks=pytest.mark.soak) for each in ("2.8", "3.2")), "3.4"])
def test_haproxy_says_why_a_worker_cannot_load(tmp_path: Path, version: str) -> None:
    with beside(tmp_path, "kill -USR2 $PID", sees_master=True, version=version) as sidecar:
        text = sidecar.text() + UNKNOWN_RING.format(port=free_port())
        answer = sidecar.post("raw", text, version=1, force_reload=True)
        assert answer.status_code == 400
        assert "uses unknown ring named 'nowhere'" in answer.json()["message"]
        line = next(line for line in sidecar.log.read_text().splitlines() if "Reload failed: " in line)
        assert "uses unknown ring named 'nowhere'" in line
        assert "log-forward" not in sidecar.text()
        check_that_all_agree(sidecar)
