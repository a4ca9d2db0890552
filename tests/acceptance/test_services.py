"""Add, remove, scale and move fifty services of a Consul agent under traffic, and stop the agent in between.

No request may fail. HAProxy reloads only for new backends.
"""

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.acceptance.farm import HEAD
from tests.acceptance.quick import Quick
from tests.acceptance.traffic import Traffic
from tests.acceptance.web import Web
from tests.haproxy.consul import Agent
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import Sidecar

CONFIG = (
    HEAD
    + """\
    use_backend consul-backend-127.0.0.1-{agent}-%[path,field(2,/)]
"""
)
NAMES = tuple("abcdef")
# Bits of a server's state: set by an operator, inherited, or without an address. A further bit is that it was configured so.
MAINTENANCE = 0x01 | 0x02 | 0x20
DEFINITIONS = "/v3/service_discovery/consul"


@dataclass
class World:
    """The services and their instances: `placed[service][node]` is the name of a web server."""

    agent: Agent
    web: Web
    sidecar: Sidecar
    identity: str
    dice: random.Random = field(default_factory=lambda: random.Random(50))
    placed: dict[str, dict[str, str]] = field(default_factory=dict)

    def place(self, service: str, node: str) -> None:
        self.placed.setdefault(service, {})[node] = name = self.dice.choice(NAMES)
        self.agent.register(service, self.web.ports[name], node=node)

    def remove(self, service: str, node: str) -> None:
        del self.placed[service][node]
        self.agent.deregister(service, node=node)

    def churn(self) -> None:
        """Change one service. Services with even numbers always have an instance."""
        service = self.dice.choice(sorted(self.placed))
        nodes = sorted(self.placed[service])
        spare = len(nodes) > (0 if int(service[1:]) % 2 else 1)
        if spare and self.dice.random() < 0.4:
            self.remove(service, self.dice.choice(nodes))
        else:
            self.place(service, f"n{self.dice.randrange(14)}")

    def wanted(self) -> dict[str, set[str]]:
        return {
            f"consul-backend-127.0.0.1-{self.agent.port}-{service}": {f"127.0.0.1:{self.web.ports[name]}" for name in nodes.values()}
            for service, nodes in self.placed.items()
        }

    def running(self) -> dict[str, set[str]]:
        """Return the servers in the running process."""
        found: dict[str, set[str]] = {}
        for row in self.sidecar.haproxy.ask("show servers state").splitlines()[2:]:
            columns = row.split()
            if len(columns) > 18:
                serving = found.setdefault(columns[1], set())
                serving |= {f"{columns[4]}:{columns[18]}"} if not int(columns[6]) & MAINTENANCE else set()
        return found

    def status(self) -> dict:
        return self.sidecar.get(f"{DEFINITIONS}/{self.identity}").json().get("status", {})

    def reloads(self) -> list[dict]:
        return self.sidecar.get("/v3/services/haproxy/reloads").json()


@pytest.fixture
def world(tmp_path: Path, haproxy_binary: str) -> Iterator[World]:
    with Agent(tmp_path) as agent, Web(*NAMES) as web:
        config = CONFIG.format(settings="", site=free_port(), agent=agent.port)
        with HAProxy(tmp_path, config, binary=haproxy_binary) as haproxy, Quick(haproxy, delay=None) as sidecar:
            body = {"address": "127.0.0.1", "port": agent.port, "enabled": True, "retry_timeout": 1, "defaults": "plain"}
            made = sidecar.post(DEFINITIONS, body)
            assert made.status_code == 201, made.text
            yield World(agent, web, sidecar, made.json()["id"])


def until(true: Callable[[], bool], tell: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, tell()
        time.sleep(0.1)


def follows(world: World) -> None:
    until(lambda: world.running() == world.wanted(), lambda: (world.status(), set_of(world.running()) ^ set_of(world.wanted())))


def set_of(endpoints: dict[str, set[str]]) -> set[tuple[str, str]]:
    return {(name, each) for name, served in endpoints.items() for each in served or ("nobody",)}


def run(world: World, changes: int) -> None:
    for number in range(50):
        for node in range(1 + number % 3):
            world.place(f"s{number}", f"n{node}")
    follows(world)
    worker = world.sidecar.haproxy.worker_pid()
    site = world.sidecar.haproxy.file.read_text().partition("bind ")[2].split()[0]
    paths = [f"/s{number}/x" for number in range(0, 50, 2)]
    with Traffic(f"http://{site}", paths, NAMES) as traffic:
        for number in range(changes):
            if number == changes // 2:
                go_away(world)
            world.churn()
            time.sleep(0.05)
        follows(world)
        traffic.wait_for(traffic.count + 50)
        assert world.sidecar.haproxy.worker_pid() == worker, "no change of a service that is known may reload"
        world.place("s99", "n1")
        follows(world)
        assert world.sidecar.haproxy.worker_pid() != worker, "a new backend needs a reload"
        traffic.wait_for(traffic.count + 50)
    assert traffic.failures == []
    print(
        f"{changes} changes of services, {traffic.count} requests, 1 reload for the first backends, 0 for the changes, 1 for a new backend"
    )


def go_away(world: World) -> None:
    """Stop the agent. This is reported, no backend loses its servers, and discovery continues when the agent is back."""
    follows(world)
    world.agent.stop()
    until(lambda: world.status().get("state") == "failing", world.status)
    assert "/v1/catalog/services" in world.status()["last_error"]
    assert world.running() == world.wanted()
    world.agent.start()
    assert world.running() == world.wanted()
    until(lambda: world.status().get("state") == "working", world.status)
    assert world.running() == world.wanted()


def test_services_under_traffic(world: World) -> None:
    run(world, 60)


@pytest.mark.soak
def test_services_under_traffic_for_long(world: World) -> None:
    run(world, 1000)
