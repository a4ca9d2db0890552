"""Read values from a worker, and refuse a plan if others have set values in the worker after the plan was made."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.commit.preview import Preview
from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from haproxy_native.errors import ChangedSince
from haproxy_native.features.apply.plans import known_values, servers_of, values, verifier
from haproxy_native.planning.effects import effects
from haproxy_native.text.document import Document
from tests.haproxy.process import HAProxy
from tests.native.engines import run, running_engine

ONE, NEW = "backend/app/server/s1", "backend/other/server/new"
READY = {"state": "ready", "weight": 10, "address": "127.0.0.1", "port": 1}


def previewed(before: str, after: str, *servers: tuple[str, str]) -> Preview:
    found = effects(Document.parse(before), Document.parse(after))
    return Preview("", found, (), (), True, (), servers=servers)


def test_servers_are_those_of_commands_and_those_of_the_configuration() -> None:
    texts = (f"backend b\n  server one 127.0.0.1:1\nlisten l\n  bind :1\n  server x 127.0.0.1:1 weight {each}\n" for each in (1, 2))
    assert servers_of(previewed(*texts, ("app", "s 1/2"))) == {"backend/l/server/x", "backend/app/server/s 1%2F2"}
    assert servers_of(previewed("backend b\n", "backend b\n  balance source\n")) == set()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("set server app/s1 weight 33", "weight of backend/app/server/s1 is 33"),
        ("set server app/s1 state drain", "state of backend/app/server/s1 is drain"),
        ("set server app/s1 addr 127.0.0.9", "address of backend/app/server/s1 is 127.0.0.9"),
    ],
)
def test_a_server_that_others_change(haproxy: HAProxy, command: str, said: str) -> None:
    async def work(engine: Engine) -> None:
        read = await values(engine.context, [ONE, NEW], {})
        assert read == {ONE: READY, NEW: None}
        verify = verifier(engine.context, read, {})
        assert verify
        await verify()
        before = await engine.runtime.servers("app")
        await asyncio.to_thread(haproxy.ask, command)
        # HAProxy sets an address a moment after its answer.
        while [each.settings for each in await engine.runtime.servers("app")] == [each.settings for each in before]:
            await asyncio.sleep(0.01)
        with pytest.raises(ChangedSince, match=said):
            await verify()

    beside(haproxy, work)


def test_a_process_that_does_not_answer(haproxy: HAProxy) -> None:
    async def work(engine: Engine) -> None:
        verify = verifier(engine.context, {ONE: READY}, {})
        await asyncio.to_thread(haproxy.stop)
        assert verify and await known_values(engine.context, previewed("", "", ("app", "s1")), {}) is None
        assert verifier(engine.context, None, {}) is None, "a plan that knew none is for any"
        with pytest.raises(ChangedSince, match="HAProxy does not answer, so its state cannot be compared"):
            await verify()

    beside(haproxy, work)


def test_a_map_that_is_not_loaded(haproxy: HAProxy, tmp_path: Path) -> None:
    async def work(engine: Engine) -> None:
        path = tmp_path / "maps" / "a.map"
        assert await values(engine.context, [], {"map/a.map": (engine.stores["maps"], path)}) == {"map/a.map": None}

    beside(haproxy, work, directories={"maps": Directory(tmp_path / "maps", "maps_dir")})


def beside(haproxy: HAProxy, work, **how) -> None:
    async def test() -> None:
        async with running_engine(haproxy.directory, haproxy, **how) as engine:
            await work(engine)

    run(test())
