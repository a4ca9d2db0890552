"""Changes side by side: none waits for a check of another, a live one not for a reload either, and none is between
the commands of another."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.check.check import CheckSettings
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.events import Committed, Event
from haproxy_native.engine import Engine
from haproxy_native.errors import Conflict, ReloadFailed, RuntimeRefused
from haproxy_native.reload.strategies import ReloadClaim, Strategy
from haproxy_native.request_context import NOBODY
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import ByFunction, adding, push, run, running_engine, substituting, weight

SECONDS = 30
# Waits for the gate where the text speaks of a slow one, and counts the checks.
GATED = "sh -c 'echo >> {place}/checks; ! grep -q slow $DATAPLANEAPI_TRANSACTION_FILE || read x < {place}/gate'"


def gated(place: Path) -> CheckSettings:
    (place / "haproxy.cfg").write_text("global\n")
    os.mkfifo(place / "gate")
    return CheckSettings(command=GATED.format(place=place))


async def checks(place: Path, number: int) -> None:
    """Returns when so many checks have begun."""
    file = place / "checks"
    while not file.exists() or len(file.read_text()) < number:
        await asyncio.sleep(0.01)


class Gate(Strategy):
    """A strategy that begins when it may, and ends when it may."""

    def __init__(self, inner: Strategy) -> None:
        self._inner, self.begun, self.go, self.end = inner, asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.end.set()

    async def run(self) -> ReloadClaim:
        self.begun.set()
        await self.go.wait()
        outcome = await self._inner.run()
        await self.end.wait()
        return outcome


def test_who_is_overtaken_while_haproxy_checks_hears_it_at_once(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_engine(tmp_path, check=gated(tmp_path)) as engine, asyncio.timeout(SECONDS):
            slow = asyncio.create_task(engine.write([ByFunction(adding("slow"))], Version(1), author=NOBODY))
            await checks(tmp_path, 1)
            assert (await engine.write([ByFunction(adding("quick"))], Version(1), author=NOBODY)).version == 2
            with pytest.raises(Conflict, match="version in configuration file is 2, given version is 1"):
                await slow
            assert not engine.document.find("backend", "slow")

    run(work())


def test_a_change_of_any_version_begins_again(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_engine(tmp_path, check=gated(tmp_path)) as engine, asyncio.timeout(SECONDS):
            slow = asyncio.create_task(engine.amend([ByFunction(adding("slow"))], author=NOBODY))
            await checks(tmp_path, 1)
            await engine.write([ByFunction(adding("quick"))], Version(1), author=NOBODY)
            await checks(tmp_path, 3)
            opened = await asyncio.to_thread((tmp_path / "gate").open, "w")
            with opened:
                opened.write("go\n")
            assert (await slow).version == 3
            assert [section.name for section in engine.document.sections[1:]] == ["quick", "slow"]

    run(work())


def test_a_text_is_checked_again_when_a_file_that_it_names_has_changed(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_engine(tmp_path, check=gated(tmp_path)) as engine, asyncio.timeout(SECONDS):
            slow = asyncio.create_task(
                engine.write([ByFunction(lambda document: adding("slow")(_with_map(document, tmp_path)))], Version(1), author=NOBODY)
            )
            for number in range(2):
                await checks(tmp_path, number + 1)
                with await asyncio.to_thread((tmp_path / "gate").open, "w") as opened:
                    # The one that the text refers to changes during the first check.
                    engine.context.note_published(tmp_path / ("other.map" if number else "hosts.map"))
                    opened.write("go\n")
            assert (await slow).version == 2
            assert len((tmp_path / "checks").read_text()) == 2

    run(work())


def _with_map(document: Document, place: Path) -> Document:
    text = f"backend maps\n  use-server s if {{ src,map({place}/hosts.map) -m found }}\n"
    return document.insert(Section("backend", "maps", text))


def test_no_change_is_between_the_commands_of_another(haproxy: HAProxy) -> None:
    """Not of the process alone, nor of a commit: each finds the weight that it has set."""

    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine, asyncio.timeout(SECONDS):
            seen: list[tuple[int, str]] = []

            async def weigh(number: int) -> None:
                await engine.runtime.execute(f"set server app/s1 weight {number}")
                await asyncio.sleep(0)
                seen.append((number, (await engine.runtime.send("get weight app/s1")).split()[0]))

            changes = [
                change_process(engine.context, "backend/app/server/s1", partial(weigh, number), author=NOBODY) for number in range(1, 9)
            ]
            await asyncio.gather(*changes, engine.amend([ByFunction(substituting("weight 10", "weight 77"))], author=NOBODY))
            assert [int(there) for _, there in seen] == [number for number, _ in seen]
            assert len(seen) == 8

    run(work())


def test_what_is_done_to_the_process_alone_is_an_event(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine:
            events: list[Event] = []
            engine.context.events.listen(events.append)

            async def refuse() -> None:
                raise RuntimeRefused("no", "set map")

            await change_process(engine.context, "map/a.map", lambda: asyncio.sleep(0), author=NOBODY)
            with pytest.raises(RuntimeRefused):
                await change_process(engine.context, "map/a.map", refuse, author=NOBODY)
            assert [event.outcome for event in events if isinstance(event, Committed)] == ["runtime", "failed"]
            assert engine.version() == 1

    run(work())


def test_a_change_of_the_process_alone_does_not_wait_for_a_reload(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine, asyncio.timeout(SECONDS), engine.loading():
            await change_process(engine.context, "map/a.map", lambda: asyncio.sleep(0), author=NOBODY)

    run(work())


@asynccontextmanager
async def loading(engine: Engine) -> AsyncIterator[Gate]:
    """A change whose reload has begun to read the file, and waits at the gate."""
    gate = engine.reloads._strategy = Gate(engine.reloads._strategy)
    await engine.write([ByFunction(adding("first"))], Version(engine.version()), author=NOBODY)
    waiting = asyncio.create_task(engine.reloads.force(()))
    await gate.begun.wait()
    yield gate
    gate.go.set()
    gate.end.set()
    await asyncio.wait([waiting])
    if not waiting.cancelled():
        waiting.exception()


@pytest.mark.parametrize("before_the_worker", [True, False])
def test_what_is_live_while_haproxy_loads_is_live_in_the_new_worker(haproxy: HAProxy, before_the_worker: bool) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine, asyncio.timeout(SECONDS):
            former = (await engine.runtime.worker()).pid
            async with loading(engine) as gate:
                if not before_the_worker:
                    gate.end.clear()
                    gate.go.set()
                    while (await engine.runtime.worker()).pid == former:
                        await asyncio.sleep(0.01)
                outcome = await engine.write([ByFunction(substituting("weight 10", "weight 77"))], Version(engine.version()), author=NOBODY)
                assert outcome.live or outcome.reload_id
            if outcome.live:
                assert weight(haproxy) == "77"
                assert engine.context.running.is_current
                assert engine.reloads.pending is None
            else:
                await engine.reloads.force(())
            assert weight(haproxy) == "77"
            assert "backend first" in haproxy.file.read_text()

    run(work())


def test_what_needs_a_reload_waits_for_the_one_at_work(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine, asyncio.timeout(SECONDS):
            async with loading(engine):
                writing = asyncio.create_task(engine.amend([ByFunction(adding("second"))], author=NOBODY))
                live = await engine.amend([ByFunction(substituting("weight 10", "weight 77"))], author=NOBODY)
                assert (live.live, writing.done()) == (True, False)
            outcome = await writing
            assert engine.reloads.pending == outcome.reload_id
            await engine.reloads.force(())
            assert engine.reloads.records.get(outcome.reload_id).status == "succeeded"
            assert {"first", "second"} <= set(haproxy.ask("show backend").split())
            assert (weight(haproxy), engine.context.running.is_current) == ("77", True)

    run(work())


def test_a_refused_text_takes_nothing_live_with_it(haproxy: HAProxy) -> None:
    """The port of the new frontend is taken: HAProxy checks the text, and cannot load it."""

    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine, asyncio.timeout(SECONDS):
            gate = engine.reloads._strategy = Gate(engine.reloads._strategy)
            ring = f"log-forward more\n    bind 127.0.0.1:{free_port()}\n    log ring@nowhere local0\n"
            await push(engine, haproxy.file.read_bytes() + ring.encode(), version=engine.version())
            waiting = asyncio.create_task(engine.reloads.force(()))
            await gate.begun.wait()
            assert (await engine.write([ByFunction(substituting("weight 10", "weight 77"))], Version(engine.version()), author=NOBODY)).live
            gate.go.set()
            with pytest.raises(ReloadFailed):
                await waiting
            text = haproxy.file.read_text()
            assert "weight 77" in text
            assert "ring@nowhere" not in text
            assert weight(haproxy) == "77"
            assert engine.context.running.is_current

    run(work())
