"""What sources tell, in the file: HAProxy checks it, and what is wrong with one service is no other's trouble."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from haproxy_native.access.rights import AccessRule, Rights
from haproxy_native.check.check import CheckSettings
from haproxy_native.commit.events import Validated
from haproxy_native.discovery.backends import ServiceEndpoint
from haproxy_native.discovery.definitions import DiscoveryTable, complete_definition
from haproxy_native.discovery.poller import ServiceCatalog
from haproxy_native.discovery.reconciler import Reconciler
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.features.routing_tests.routing_tests import RoutingGate
from haproxy_native.request_context import NOBODY, Author, Request
from haproxy_native.text.document import Document
from tests.native.engines import ByFunction, running_engine

BODY = {"address": "agent", "port": 8500, "enabled": True, "retry_timeout": 1, "defaults": "base"}
DEFINITION = complete_definition(BODY, "7", consul=True)
CONFIG = "defaults base\n  mode http\n  timeout client 5s\n  timeout connect 5s\n  timeout server 5s\n"
CONFIG += "frontend web from base\n  bind 127.0.0.1:8080\n"
ONE, TWO = ServiceEndpoint("10.0.0.1", 80), ServiceEndpoint("10.0.0.2", 80)


class Named:
    prefix = "c-"


class World:
    """An engine over a file of `CONFIG`, and what was found so far."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.standing = engine, NOBODY
        self.restart()

    def restart(self) -> None:
        self.table = DiscoveryTable(self.engine.database)
        self.reconciler = Reconciler(self.engine, Editor(), self.table)

    async def find(self, services: Mapping[str, Sequence[ServiceEndpoint]], **unknown: str) -> tuple[list[str], str | None]:
        found = ServiceCatalog({name: tuple(endpoints) for name, endpoints in services.items()}, unknown)
        return await self.reconciler.apply(DEFINITION, Named(), found, self.standing)

    def served(self) -> dict[str, list[str]]:
        lines = {name: section.lines for name, section in self.engine.document.of_kind("backend")}
        return {
            name: [line.words[2] for line in each if line.words[:1] == ("server",) and "disabled" not in line.words]
            for name, each in lines.items()
        }


def at_work(directory: Path, binary: str, work) -> None:
    (directory / "haproxy.cfg").write_text(CONFIG)

    async def run() -> None:
        async with running_engine(directory, check=CheckSettings(binary)) as engine:
            await work(World(engine))

    asyncio.run(run())


def test_services_come_change_and_go(tmp_path: Path, haproxy_binary: str) -> None:
    async def work(world: World) -> None:
        troubles, reload_id = await world.find({"web": [ONE], "api": [ONE, TWO]})
        assert troubles == [] and reload_id
        assert world.served() == {"c-api": ["10.0.0.1:80", "10.0.0.2:80"], "c-web": ["10.0.0.1:80"]}
        version = world.engine.version()
        await world.find({"web": [ONE], "api": [TWO, ONE]})
        assert world.engine.version() == version, "nothing changed"
        await world.find({"web": [TWO]})
        assert world.served() == {"c-api": [], "c-web": ["10.0.0.2:80"]}
        assert world.engine.version() == version + 1

    at_work(tmp_path, haproxy_binary, work)


def test_with_the_rights_of_who_defined_it(tmp_path: Path, haproxy_binary: str) -> None:
    """A service out of bounds is a trouble of its own."""

    async def work(world: World) -> None:
        world.standing = Author("ann", rights=Rights(("web",), (AccessRule("backend/c-web", frozenset(("create", "change"))),)))
        (trouble,), _ = await world.find({"web": [ONE], "api": [ONE]})
        assert world.served() == {"c-web": ["10.0.0.1:80"]}
        assert trouble.startswith("c-api: ") and "may not create backend/c-api" in trouble

    at_work(tmp_path, haproxy_binary, work)


def test_no_tests_hold_it_up(tmp_path: Path, haproxy_binary: str) -> None:
    """Though a client has begun it, by the call that defined it."""

    async def work(world: World) -> None:
        world.standing = Author("ann", request=Request())
        world.engine.context.observers.append(RoutingGate(None, tmp_path, lambda: True))  # type: ignore[arg-type]
        assert (await world.find({"web": [ONE]}))[0] == [] and world.served() == {"c-web": ["10.0.0.1:80"]}

    at_work(tmp_path, haproxy_binary, work)


def test_what_is_unknown_keeps_its_servers(tmp_path: Path, haproxy_binary: str) -> None:
    async def work(world: World) -> None:
        await world.find({"web": [ONE], "api": [ONE]})
        troubles, _ = await world.find({"web": [TWO]}, api="500")
        assert troubles == ["api: 500"]
        assert world.served() == {"c-api": ["10.0.0.1:80"], "c-web": ["10.0.0.2:80"]}

    at_work(tmp_path, haproxy_binary, work)


def test_what_vanishes_while_nobody_looks_is_noticed(tmp_path: Path, haproxy_binary: str) -> None:
    async def work(world: World) -> None:
        await world.find({"web": [ONE], "api": [ONE]})
        world.restart()
        await world.find({"web": [ONE]})
        assert world.served() == {"c-api": [], "c-web": ["10.0.0.1:80"]}
        assert "c-api" not in world.table.backends("7")
        world.table.forget("7")
        await world.find({})
        assert world.served()["c-web"] == ["10.0.0.1:80"], "of a definition that was deleted, backends stay"

    at_work(tmp_path, haproxy_binary, work)


def test_one_service_in_trouble_keeps_no_other_back(tmp_path: Path, haproxy_binary: str) -> None:
    async def work(world: World) -> None:
        lost = ServiceEndpoint("nobody.invalid", 80)
        troubles, _ = await world.find({"web": [ONE], "lost": [lost], "two words": [ONE], "api": [TWO]})
        assert world.served() == {"c-api": ["10.0.0.2:80"], "c-web": ["10.0.0.1:80"]}
        assert any(each.startswith("c-lost: ") and "nobody.invalid" in each for each in troubles), troubles
        assert any(each.startswith("c-two words: ") for each in troubles)
        assert world.engine.transactions(author=NOBODY) == [], "what nobody asked for leaves nothing to clean up"

    at_work(tmp_path, haproxy_binary, work)


def test_what_others_write_meanwhile_stays(tmp_path: Path, haproxy_binary: str) -> None:
    async def work(world: World) -> None:
        more = "backend mine from base\n"
        other = asyncio.create_task(world.engine.amend([ByFunction(lambda document: Document.parse(document.text + more))], author=NOBODY))
        services = {f"s{number}": [ONE] for number in range(20)}
        assert (await world.find(services))[0] == []
        await other
        assert world.served() == {"mine": []} | {f"c-{name}": ["10.0.0.1:80"] for name in services}

    at_work(tmp_path, haproxy_binary, work)


def test_what_haproxy_refuses_is_not_asked_again_at_once(tmp_path: Path, haproxy_binary: str) -> None:
    async def work(world: World) -> None:
        checks: list[Validated] = []
        world.engine.context.events.listen(lambda event: checks.append(event) if isinstance(event, Validated) else None)
        lost = ServiceEndpoint("nobody.invalid", 80)
        troubles, _ = await world.find({"lost": [lost]})
        assert len(checks) == 1
        assert (await world.find({"lost": [lost]}))[0] == troubles
        assert len(checks) == 1
        assert (await world.find({"lost": [lost], "web": [ONE]}))[0] == troubles
        assert (len(checks), world.served()) == (2, {"c-web": ["10.0.0.1:80"]})
        assert (await world.find({"lost": [TWO], "web": [ONE]}))[0] == []
        assert world.served()["c-lost"] == ["10.0.0.2:80"], "something else is tried at once"

    at_work(tmp_path, haproxy_binary, work)


def test_a_change_by_hand_is_mended(tmp_path: Path, haproxy_binary: str) -> None:
    async def work(world: World) -> None:
        await world.find({"web": [ONE]})
        world.engine.settings.file.write_text(CONFIG)
        await world.engine.notice()
        await world.find({"web": [ONE]})
        assert world.served() == {"c-web": ["10.0.0.1:80"]}

    at_work(tmp_path, haproxy_binary, work)
