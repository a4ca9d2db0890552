"""About the server itself."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from dataplaneapi.handlers.information import machine
from tests.acceptance.quick import Quick
from tests.app.client import Client, serving
from tests.haproxy.process import HAProxy


def test_version(client: Client) -> None:
    shown = client.get("/v3/info").json
    assert shown["api"]["version"].startswith("v3.")
    assert shown["system"] == {}


def test_the_version_can_be_set(tmp_path: Path) -> None:
    with serving(tmp_path, api_version="v3.2.4") as client:
        assert client.get("/v3/info").json["api"]["version"] == "v3.2.4 sidecar"


def test_the_machine_where_it_is_allowed(tmp_path: Path) -> None:
    with serving(tmp_path, show_system_info=True) as client:
        assert client.get("/v3/info").json["system"].keys() == machine().keys()


def test_facts() -> None:
    facts = machine()
    assert facts["cpu_info"]["num_cpus"] >= 1
    assert 0 < facts["mem_info"]["dataplaneapi_memory"] < facts["mem_info"]["total_memory"]
    assert facts["uptime"] > 0
    assert facts["os_string"].startswith("Linux ")


STATES = {"": "unknown", "true": "up", "false": "down", "/no/such/program": "down", "sh -c 'exit 3'": "down"}
STATES |= {"echo true": "up", "echo false": "down"}


@pytest.mark.parametrize(("command", "state"), STATES.items())
def test_health(tmp_path: Path, command: str, state: str) -> None:
    with serving(tmp_path, status_cmd=command) as client:
        assert client.get("/v3/health").json == {"haproxy": state}


def test_a_status_command_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dataplaneapi.handlers.information.STATUS_SECONDS", 0.05)
    with serving(tmp_path, status_cmd="sleep 60") as client:
        before = len(asyncio.all_tasks(client.runner.get_loop()))
        assert client.get("/v3/health").json == {"haproxy": "down"}
        assert len(asyncio.all_tasks(client.runner.get_loop())) == before


def test_health_without_a_command_is_that_of_the_socket(tmp_path: Path) -> None:
    config = "global\n  stats socket {stats} level admin\ndefaults\n  mode http\n  timeout client 1s\n"
    with HAProxy(tmp_path, config, master=False) as haproxy, Quick(haproxy) as sidecar:
        assert sidecar.get("/v3/health").json() == {"haproxy": "up"}
        haproxy.kill()
        assert sidecar.get("/v3/health").json() == {"haproxy": "down"}
        haproxy.start()
        assert sidecar.get("/v3/health").json() == {"haproxy": "up"}
        os.kill(haproxy.worker_pid(), signal.SIGSTOP)
        assert sidecar.get("/v3/health").json() == {"haproxy": "down"}


def test_both_documents(client: Client) -> None:
    swagger, openapi = client.get("/v3/specification").json, client.get("/v3/specification_openapiv3").json
    assert (swagger["swagger"], openapi["openapi"][:2]) == ("2.0", "3.")
    assert swagger["paths"].keys() == openapi["paths"].keys()
