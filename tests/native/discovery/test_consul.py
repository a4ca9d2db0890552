"""Services as a real agent tells them, and what an agent that is in trouble may say instead."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from haproxy_native.discovery import consul
from haproxy_native.discovery.backends import ServiceEndpoint
from haproxy_native.discovery.consul import Consul, endpoints
from haproxy_native.discovery.definitions import complete_definition
from haproxy_native.discovery.poller import ServiceCatalog, SourceFailed
from tests.haproxy.consul import Agent
from tests.haproxy.process import free_port


def definition(port: int, **more) -> dict:
    return complete_definition({"address": "127.0.0.1", "port": port, "enabled": True, "retry_timeout": 1, **more}, "7", consul=True)


def look(port: int, **more) -> ServiceCatalog:
    async def once() -> ServiceCatalog:
        source = Consul(definition(port, **more))
        try:
            return await source.poll()
        finally:
            await source.close()

    return asyncio.run(once())


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    with Agent(tmp_path_factory.mktemp("agent")) as running:
        running.register("web", 81, node="one", checks=("passing", "critical"))
        running.register("web", 82, node="two", checks=("passing", "passing"))
        running.register("web", 83, node="three", checks=())
        running.register("web", 84, node="four", checks=("critical",), address="10.0.0.4")
        running.register("a/b ü", 0)
        yield running


@pytest.mark.parametrize(
    ("policy", "ports"),
    [
        ({}, {81, 82, 83, 84}),
        ({"health_check_policy": "any"}, {81, 82}),
        ({"health_check_policy": "all"}, {82}),
        ({"health_check_policy": "min", "health_check_policy_min": 1}, {81, 82}),
        ({"health_check_policy": "min", "health_check_policy_min": 2}, {82}),
    ],
)
def test_health(agent: Agent, policy: dict, ports: set[int]) -> None:
    assert {each.port for each in look(agent.port, **policy).services["web"]} == ports


@pytest.mark.parametrize(
    ("policy", "services"),
    [
        ({}, {"web", "a/b ü"}),
        ({"service_allowlist": ["web"], "service_denylist": ["web"]}, {"web"}),
        ({"service_denylist": ["web"]}, {"a/b ü"}),
        ({"service_name_regexp": "^w"}, {"web"}),
        ({"service_name_regexp": 'no"ne'}, set()),
    ],
)
def test_admission(agent: Agent, policy: dict, services: set[str]) -> None:
    assert set(look(agent.port, **policy).services) == services


def test_addresses(agent: Agent) -> None:
    found = look(agent.port)
    assert found.services["a/b ü"] == (ServiceEndpoint("127.0.0.1", None),)
    assert ServiceEndpoint("10.0.0.4", 84) in found.services["web"]
    assert found.unknown == {}


CATALOGUE, LIST = b'{"web": [], "consul": []}', b'[{"Node": {"Address": "10.0.0.1"}, "Service": {"Port": 80}, "Checks": []}]'


@pytest.fixture(scope="module")
def odd() -> Iterator[ThreadingHTTPServer]:
    """An HTTP server whose `answers` are (status, headers, body) by path; it keeps what it was asked in `asked`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.server.asked.append((self.path, dict(self.headers)))
            status, headers, body = self.server.answers.get(self.path.partition("?")[0], (404, {}, b""))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *about: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked = []
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((500, {}, b"No cluster leader"), "500 No cluster leader"),
        ((403, {}, b"Permission denied"), "403 Permission denied"),
        ((200, {"X-Consul-KnownLeader": "false"}, CATALOGUE), "the cluster has no leader"),
        ((200, {}, b"<html>"), "/v1/catalog/services"),
        ((200, {}, b"null"), "not a list of services"),
    ],
)
def test_no_conclusions_from_a_bad_answer(odd: ThreadingHTTPServer, answer: tuple, expected: str) -> None:
    odd.answers = {"/v1/catalog/services": answer}
    with pytest.raises(SourceFailed, match=expected):
        look(odd.server_port)


@pytest.mark.parametrize(
    "answer", [(500, {}, b"rpc error"), (200, {}, b"{"), (200, {}, b'[{"Service": {}}]'), (200, {}, b"7"), (200, {}, b"null")]
)
def test_a_service_that_cannot_be_told_is_unknown_not_empty(odd: ThreadingHTTPServer, answer: tuple) -> None:
    odd.answers = {"/v1/catalog/services": (200, {}, CATALOGUE), "/v1/health/service/web": answer}
    found = look(odd.server_port)
    assert found.services == {}
    assert "/v1/health/service/web" in found.unknown["web"]


def test_what_is_sent(odd: ThreadingHTTPServer) -> None:
    odd.answers = {"/v1/catalog/services": (200, {}, CATALOGUE), "/v1/health/service/web": (200, {}, LIST)}
    odd.asked.clear()
    assert look(odd.server_port, token="t", namespace="n", service_name_regexp="w").services == {"web": (ServiceEndpoint("10.0.0.1", 80),)}
    paths = [path for path, _ in odd.asked]
    assert paths[0].startswith("/v1/catalog/services?filter=ServiceName") and paths[0].endswith("&consistent=&ns=n")
    assert paths[1:] == ["/v1/health/service/web?consistent=&ns=n"]
    assert {headers.get("X-Consul-Token") for _, headers in odd.asked} == {"t"}


def test_only_what_an_agent_says_first_or_after_trouble_must_be_consistent(odd: ThreadingHTTPServer) -> None:
    good = {"/v1/catalog/services": (200, {}, CATALOGUE), "/v1/health/service/web": (200, {}, LIST)}
    odd.asked.clear()

    async def work() -> None:
        source = Consul(definition(odd.server_port))
        for answers in (good, good, {}, good):
            odd.answers = answers
            with suppress(SourceFailed):
                await source.poll()
        await source.close()

    asyncio.run(work())
    assert ["consistent" in path for path, _ in odd.asked] == [True, True, False, False, False, True, True]


def test_an_agent_tells_of_changes(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of instances and of their checks."""
    monkeypatch.setattr(consul, "BETWEEN", 0.05)

    async def work() -> None:
        source = Consul(definition(agent.port))
        try:
            for change in (
                lambda: None,
                lambda: agent.register("late", 90, checks=()),
                lambda: agent.register("late", 90, checks=("passing",)),
                lambda: agent.register("late", 90, checks=("critical",)),
                lambda: agent.deregister("late"),
            ):
                await asyncio.to_thread(change)
                async with asyncio.timeout(60):
                    await source.wait_for_change(1000)
                # What one of the two queries has answered, the other may answer too.
                await source.wait_for_change(0.3)
        finally:
            await source.close()

    asyncio.run(work())


def test_nobody_there() -> None:
    with pytest.raises(SourceFailed, match="/v1/catalog/services: "):
        look(free_port())


def test_the_same_endpoint_twice_is_one_server() -> None:
    entry = {"Node": {"Address": "10.0.0.1"}, "Service": {"Port": 80}}
    assert endpoints([entry, entry], "none", 0) == (ServiceEndpoint("10.0.0.1", 80),)
