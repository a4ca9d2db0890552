"""Backends that are published when they are healthy: what the file, the worker and the state file say meanwhile and afterwards."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.commit import publication
from haproxy_native.commit.publication import new_backends
from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest, Conflict, Unhealthy
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, backends, run, running_engine, substituting

DEAD = "  server s 127.0.0.1:1 check inter 50ms fall 1\n"


@pytest.fixture
def haproxy(tmp_path: Path) -> Iterator[HAProxy]:
    with HAProxy(tmp_path, CONFIG % free_port(), binary=binaries.exactly("3.4")) as started:
        yield started


def adding(name: str, lines: str = ""):
    return lambda document: document.insert(Section("backend", name, f"backend {name} from base\n{lines}"))


async def write(engine: Engine, edit, **more):
    return await engine.write(edit, version=engine.version(), **more)


async def there(engine: Engine, name: str) -> None:
    """Returns when the worker has the backend."""
    async with asyncio.timeout(10):
        while f"\n{name}\n" not in await engine.runtime.send("show backend") + "\n":
            await asyncio.sleep(0.01)


def test_a_wait_holds_up_nobody_and_is_remembered(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            waiting = asyncio.create_task(write(engine, adding("ill", DEAD), healthy_within=1))
            await there(engine, "ill")
            assert engine.context.running.held_back
            version = engine.version()
            assert (await write(engine, substituting("weight 10", "weight 20"))).live
            with pytest.raises(Unhealthy, match="backend ill has no server that is up after 1 s"):
                await waiting
            assert not engine.context.running.held_back
            assert engine.version() == version + 2
            assert "ill" not in engine.document.text and "weight 20" in engine.document.text
            assert backends(haproxy) == ["app"]

    run(work())


def test_a_caller_that_is_cancelled_ends_nothing(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            waiting = asyncio.create_task(write(engine, adding("ill", DEAD), healthy_within=0.5))
            await there(engine, "ill")
            waiting.cancel()
            while engine.context.works:
                await asyncio.sleep(0.02)
            assert backends(haproxy) == ["app"]
            assert "ill" not in engine.document.text

    run(work())


def test_another_change_that_deletes_it_meanwhile(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            before = engine.document
            waiting = asyncio.create_task(write(engine, adding("brief", DEAD), healthy_within=20))
            await there(engine, "brief")
            assert (await write(engine, lambda document: before)).live
            with pytest.raises(Conflict, match="backend brief was deleted by another change"):
                await waiting
            assert not engine.context.running.held_back

    run(work())


def test_another_change_deletes_it_after_the_last_look(haproxy: HAProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a backend is deleted, HAProxy shows it without servers for a moment."""

    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            before, deleted = engine.document, asyncio.Event()

            async def looks_healthy(*given: object) -> None:
                await deleted.wait()

            monkeypatch.setattr(publication, "_wait", looks_healthy)
            waiting = asyncio.create_task(write(engine, adding("brief", DEAD), healthy_within=20))
            await there(engine, "brief")
            await write(engine, lambda document: before)
            deleted.set()
            with pytest.raises(Conflict, match="backend brief was deleted by another change"):
                await waiting
            assert not engine.context.running.held_back

    run(work())


def test_another_change_of_it_meanwhile_keeps_it(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            waiting = asyncio.create_task(write(engine, adding("kept", DEAD), healthy_within=0.6))
            await there(engine, "kept")
            assert (await write(engine, substituting("127.0.0.1:1 check", "127.0.0.1:2 check"))).live
            with pytest.raises(Unhealthy, match="it is published as it is: .*kept has been changed"):
                await waiting
            assert not engine.context.running.held_back
            assert "UNPUB" not in haproxy.ask("show stat kept 2 -1")

    run(work())


def test_nothing_is_changed_where_it_takes_a_reload(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            before = engine.document.text
            with pytest.raises(BadRequest, match="and this one needs one: balance: the section is new"):
                await write(engine, adding("own", "  balance source\n"), healthy_within=1)
            assert engine.document.text == before
            assert (await write(engine, adding("fine"), healthy_within=1)).live

    run(work())


def test_new_backends() -> None:
    before, new = "backend a\nbackend b\n", 'backend b\nfrontend c\nbackend "d"\nbackend e\n'
    assert list(new_backends(Document.parse(before), Document.parse(new))) == ["d", "e"]
