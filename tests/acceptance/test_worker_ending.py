"""End former workers by closing their sessions, with a real HAProxy. The worker in service and its clients are not affected."""

import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.quick import Quick
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.until import until

WORKERS = "/v3/sidecar/workers"
CONFIG = """\
global
    stats socket {{stats}} level admin expose-fd listeners

defaults plain
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    retries 3

frontend site from plain
    mode tcp
    bind 127.0.0.1:{site}
    default_backend app

backend app from plain
    mode tcp
    server a 127.0.0.1:{one}
"""


@dataclass
class Farm:
    sidecar: Quick
    port: int

    def reload(self) -> None:
        version, defaults = self.sidecar.version(), self.sidecar.get("defaults/plain").json()
        answer = self.sidecar.put("defaults/plain", {**defaults, "retries": defaults["retries"] % 3 + 1}, version=version)
        assert self.sidecar.reloaded(answer)["status"] == "succeeded"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def until_held(self, connections: int) -> None:
        """Wait until the worker in service has accepted this number of connections."""
        until(lambda: self.sidecar.stat("FRONTEND", "site").get("scur") == str(connections), "not accepted")

    def workers(self) -> list[dict[str, Any]]:
        return list(self.sidecar.get(WORKERS).json())

    def ended(self, pid: int, **how: Any) -> dict[str, Any]:
        answer = self.sidecar.delete(f"{WORKERS}/{pid}", **how)
        assert answer.status_code == 202, answer.text
        return dict(self.sidecar.get(answer.headers["Location"], wait="30s").json())


@pytest.fixture(params=["2.6", "3.4"])
def farm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Farm]:
    site = free_port()
    with (
        Web("one") as web,
        HAProxy(tmp_path, CONFIG.format(site=site, one=web.ports["one"]), binary=binaries.exactly(request.param)) as haproxy,
        Quick(haproxy) as sidecar,
    ):
        yield Farm(sidecar, site)


def test_former_workers_end(farm: Farm) -> None:
    with farm.connect() as first, farm.connect() as second:
        farm.until_held(2)
        old = farm.sidecar.haproxy.worker_pid()
        farm.reload()
        with farm.connect() as third:
            found = {each["pid"]: each for each in farm.workers()}
            assert found[old]["sessions"] == {"site": 2} and not found[old]["current"]
            refused = farm.sidecar.delete(f"{WORKERS}/{farm.sidecar.haproxy.worker_pid()}")
            assert refused.status_code == 409 and "is in service" in refused.json()["message"]
            assert farm.sidecar.delete(f"{WORKERS}/1").status_code == 404
            done = farm.ended(old)
            assert done["status"] == "succeeded" and done["progress"] == {"sessions": 0, "connections": 0, "ended": 2}, done
            assert first.recv(1) == second.recv(1) == b""
            assert old not in {each["pid"] for each in farm.workers()}
            third.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert b"one" in third.recv(4096), "the worker in service goes on"


def test_both_conditions_must_hold(farm: Farm) -> None:
    with farm.connect() as first, farm.connect() as second:
        farm.until_held(2)
        old = farm.sidecar.haproxy.worker_pid()
        farm.reload()
        begun = time.monotonic()
        path = farm.sidecar.delete(f"{WORKERS}/{old}", when_sessions_below=2, after="1s").headers["Location"]
        time.sleep(1.5)
        until(lambda: farm.sidecar.get(path).json()["progress"].get("sessions") == 2, "two are not below two")
        farm.sidecar.kill()
        farm.sidecar.start()
        second.close()
        done = farm.sidecar.get(path, wait="30s").json()
        assert done["status"] == "succeeded" and done["progress"]["ended"] == 1, done
        assert first.recv(1) == b"" and time.monotonic() - begun >= 1


def test_without_a_master_socket(tmp_path: Path) -> None:
    config = CONFIG.format(site=free_port(), one=free_port())
    with HAProxy(tmp_path, config, master=False) as haproxy, Quick(haproxy) as sidecar:
        assert sidecar.get(WORKERS).json()[0]["pid"] == haproxy.worker_pid()
        answer = sidecar.delete(f"{WORKERS}/{haproxy.worker_pid()}")
        assert answer.status_code == 409 and "master_runtime" in answer.json()["message"]


def test_a_drain_without_a_master_waits_for_the_former_worker(tmp_path: Path) -> None:
    site = free_port()
    with (
        Web("one") as web,
        HAProxy(tmp_path, CONFIG.format(site=site, one=web.ports["one"]), master=False) as haproxy,
        Quick(
            haproxy, reload={"reload_cmd": f"{sys.executable} -c 'import os, signal; os.kill({haproxy.pid}, signal.SIGUSR2)'"}
        ) as sidecar,
    ):
        farm = Farm(sidecar, site)
        with farm.connect() as held:
            farm.until_held(1)
            farm.reload()
            path = sidecar.post("/v3/sidecar/drains", {"targets": ["app/a"], "then": "maint"}).headers["Location"]
            until(lambda: "former_workers" in sidecar.get(path).json()["progress"])
            found = sidecar.get(path).json()
            assert found["status"] == "running" and found["progress"]["former_workers"] == "unknown", found
            assert found["progress"]["sessions"] == {"backend/app/server/a": 0}
            held.close()
            assert sidecar.get(path, wait="30s").json()["status"] == "succeeded"
