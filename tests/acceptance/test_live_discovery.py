"""Discover services of a real Consul agent with HAProxy 3.4: a backend and its free slots are added without a reload."""

from pathlib import Path

import httpx2
import pytest

from tests.acceptance.effective import differences, effective, fresh
from tests.acceptance.quick import Quick
from tests.acceptance.test_services import CONFIG, DEFINITIONS, until
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.consul import Agent
from tests.haproxy.process import HAProxy, free_port

# The smallest number of slots of a backend.
NAMES = "abcdefghij"
FREE = "127.0.0.1:80 check disabled weight 128"


@pytest.mark.parametrize("count", [len(NAMES), 3])
def test_a_service_comes_without_a_reload(tmp_path: Path, count: int) -> None:
    site, names = free_port(), NAMES[:count]
    with Agent(tmp_path) as agent, Web(*NAMES) as web:
        for name in names:
            agent.register("shop", web.ports[name], node=name)
        config = CONFIG.format(settings="", site=site, agent=agent.port)
        with HAProxy(tmp_path, config, binary=binaries.exactly("3.4")) as haproxy, Quick(haproxy) as sidecar:
            worker = haproxy.worker_pid()
            body = {"address": "127.0.0.1", "port": agent.port, "enabled": True, "retry_timeout": 1, "defaults": "plain"}
            assert sidecar.post(DEFINITIONS, body).status_code == 201
            with httpx2.Client(base_url=f"http://127.0.0.1:{site}", timeout=60, verify=False) as client:
                until(lambda: client.get("/shop/x").status_code == 200, sidecar.text)
                assert client.get("/shop/x").text in names
            assert sidecar.text().count(" check weight") == count
            assert sidecar.text().count(FREE) == len(NAMES) - count
            assert unlike_fresh_ones(haproxy, sidecar.text()) == []
            agent.register("shop", web.ports["j"], node="j")
            until(lambda: str(web.ports["j"]) in sidecar.text(), sidecar.text)
            until(lambda: unlike_fresh_ones(haproxy, sidecar.text()) == [], lambda: unlike_fresh_ones(haproxy, sidecar.text()), 20)
            assert haproxy.worker_pid() == worker
            assert sidecar.get("/v3/services/haproxy/reloads").json() == []
            assert sidecar.get("/v3/sidecar/reload_advice").json()["reloads"] == 0
            backend_goes_after_its_definition(sidecar)


def backend_goes_after_its_definition(sidecar: Quick) -> None:
    """Delete the definition first, because it would add the backend again, and then the backend."""
    (definition,) = sidecar.get(DEFINITIONS).json()
    (name,) = {line.split()[1] for line in sidecar.text().splitlines() if line.startswith("backend consul-")}
    user = f"consul definition {definition['id']}"
    references = sidecar.get("/v3/sidecar/references", object=f"backend/{name}")
    assert references.json().get("used_by") == [user], references.text
    refused = sidecar.delete(f"/v3/services/haproxy/configuration/backends/{name}", version=sidecar.version())
    assert refused.status_code == 409 and user in refused.json()["message"]
    assert sidecar.delete(f"{DEFINITIONS}/{definition['id']}").status_code == 204
    assert sidecar.get("/v3/sidecar/references", object=f"backend/{name}").json()["used_by"] == []
    assert f"its backends stay until you delete them: {name}" in sidecar.log.read_text()


def unlike_fresh_ones(haproxy: HAProxy, text: str) -> list[str]:
    """Return how free slots differ from those of a new process for the file."""
    bind, free = text.partition("bind ")[2].split()[0], [line.split()[1] for line in text.splitlines() if line.endswith(FREE)]
    text = text.replace(str(haproxy.stats), "{stats}").replace(bind, f"127.0.0.1:{free_port()}")
    with fresh(haproxy.directory / "fresh", haproxy.binary, text) as send:
        found = differences(effective(haproxy.ask), effective(send))
    return [each for each in found if any(f"/{name} " in each for name in free)]
