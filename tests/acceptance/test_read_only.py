"""Run a read-only server with a real HAProxy: it shows everything, makes plans, and sends HAProxy no command that changes anything."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy.process import HAProxy, free_port
from tests.until import until

CONFIG = """\
frontend site from plain
    bind 127.0.0.1:{site}
    default_backend app

backend app from plain
    server one 127.0.0.1:1 weight 10
"""
SERVER = f"{SERVICES}/runtime/backends/app/servers/one"


@pytest.fixture
def sidecar(tmp_path: Path, haproxy_binary: str) -> Iterator[Quick]:
    config = (PLAIN + CONFIG).format(site=free_port())
    with HAProxy(tmp_path, config, binary=haproxy_binary) as haproxy, Quick(haproxy, dataplaneapi={"read_only": True}) as running:
        yield running


def states(sidecar: Quick) -> list[list[str]]:
    """Return the state of each server, without the seconds since its last change."""
    rows = [line.split() for line in sidecar.haproxy.ask("show servers state").splitlines()]
    return [[*row[:9], *row[10:]] for row in rows]


def test_it_reads_and_plans(sidecar: Quick) -> None:
    text, state = sidecar.text(), states(sidecar)
    beside = sorted(path.name for path in sidecar.haproxy.file.parent.iterdir())
    plan = sidecar.client.post("/v3/sidecar/plan", content=text.replace("weight 10", "weight 20"), headers={"content-type": "text/plain"})
    assert plan.status_code == 200 and plan.json()["commands"] and not plan.json()["reload"], plan.text
    wrong = sidecar.client.post("/v3/sidecar/plan", content=text + "nonsense\n", headers={"content-type": "text/plain"})
    assert wrong.json()["valid"] is False and "haproxy.cfg" in wrong.text and ".haproxy.cfg" not in wrong.text, wrong.text
    for method, path, body in (
        ("PUT", SERVER, {"admin_state": "drain"}),
        ("POST", "/v3/sidecar/drains", {"targets": ["backend/app/server/one"]}),
        ("POST", "/v3/sidecar/reloads", {}),
        ("POST", f"{SERVICES}/transactions?version=1", None),
        ("DELETE", f"{SERVICES}/configuration/backends/app?version=1", None),
    ):
        refused = sidecar.client.request(method, path, json=body)
        assert refused.status_code == 403 and "read-only" in refused.json()["message"], refused.text
    assert sidecar.get("/readyz").status_code == 200
    assert (sidecar.text(), states(sidecar)) == (text, state)
    assert sorted(path.name for path in sidecar.haproxy.file.parent.iterdir()) == beside


def test_sighup_ends_it_and_begins_it(sidecar: Quick) -> None:
    settings = sidecar.file.read_text()
    for value, status in (("false", 200), ("true", 403)):
        sidecar.file.write_text(settings.replace("read_only: true", f"read_only: {value}"))
        sidecar.process.send_signal(signal.SIGHUP)
        until(lambda status=status: sidecar.client.put(SERVER, json={"admin_state": "drain"}).status_code == status)


def test_an_edit_is_in_the_history(sidecar: Quick) -> None:
    sidecar.haproxy.file.write_text(sidecar.haproxy.file.read_text().replace("weight 10", "weight 30"))
    until(lambda: [each["author"] for each in sidecar.get("/v3/sidecar/history").json()] == ["outside"])
    assert "weight 30" in sidecar.haproxy.file.read_text()
