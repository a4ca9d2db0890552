"""Services of a real Consul agent that come to a HAProxy 3.4: a backend of full slots comes without a reload."""

from pathlib import Path

import httpx2

from tests.acceptance.quick import Quick
from tests.acceptance.test_services import CONFIG, DEFINITIONS, until
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.consul import Agent
from tests.haproxy.process import HAProxy, free_port

# As many as a backend has slots at least.
NAMES = "abcdefghij"


def test_a_service_comes_without_a_reload(tmp_path: Path) -> None:
    site = free_port()
    with Agent(tmp_path) as agent, Web(*NAMES) as web:
        for name in NAMES:
            agent.register("shop", web.ports[name], node=name)
        config = CONFIG.format(site=site, agent=agent.port)
        with HAProxy(tmp_path, config, binary=binaries.exactly("3.4")) as haproxy, Quick(haproxy) as sidecar:
            worker = haproxy.worker_pid()
            body = {"address": "127.0.0.1", "port": agent.port, "enabled": True, "retry_timeout": 1, "defaults": "plain"}
            assert sidecar.post(DEFINITIONS, body).status_code == 201
            with httpx2.Client(base_url=f"http://127.0.0.1:{site}") as client:
                until(lambda: client.get("/shop/x").status_code == 200, sidecar.text)
                assert client.get("/shop/x").text in NAMES
            assert sidecar.text().count(" check weight") == len(NAMES)
            assert haproxy.worker_pid() == worker
            assert sidecar.get("/v3/services/haproxy/reloads").json() == []
            assert sidecar.get("/v3/sidecar/reload_advice").json()["reloads"] == 0
