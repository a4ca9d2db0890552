"""Changes side by side: none waits while HAProxy checks the text of another, and none is between the commands of another."""

import asyncio
import os
from functools import partial
from pathlib import Path

import pytest

from haproxy_native.check.check import CheckSettings
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.events import Committed, Event
from haproxy_native.errors import Conflict, RuntimeRefused
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from tests.haproxy.process import HAProxy
from tests.native.engines import adding, run, running_engine, substituting

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


def test_who_is_overtaken_while_haproxy_checks_hears_it_at_once(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_engine(tmp_path, check=gated(tmp_path)) as engine, asyncio.timeout(SECONDS):
            slow = asyncio.create_task(engine.write(adding("slow"), version=1))
            await checks(tmp_path, 1)
            assert (await engine.write(adding("quick"), version=1)).version == 2
            with pytest.raises(Conflict, match="version in configuration file is 2, given version is 1"):
                await slow
            assert not engine.document.find("backend", "slow")

    run(work())


def test_a_change_of_any_version_begins_again(tmp_path: Path) -> None:
    async def work() -> None:
        async with running_engine(tmp_path, check=gated(tmp_path)) as engine, asyncio.timeout(SECONDS):
            slow = asyncio.create_task(engine.amend(adding("slow")))
            await checks(tmp_path, 1)
            await engine.write(adding("quick"), version=1)
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
            slow = asyncio.create_task(engine.write(lambda document: adding("slow")(_with_map(document, tmp_path)), version=1))
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
                await engine.runtime.ask(f"set server app/s1 weight {number}")
                await asyncio.sleep(0)
                seen.append((number, (await engine.runtime.send("get weight app/s1")).split()[0]))

            changes = [change_process(engine.context, "backend/app/server/s1", partial(weigh, number)) for number in range(1, 9)]
            await asyncio.gather(*changes, engine.amend(substituting("weight 10", "weight 77")))
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

            await change_process(engine.context, "map/a.map", lambda: asyncio.sleep(0))
            with pytest.raises(RuntimeRefused):
                await change_process(engine.context, "map/a.map", refuse)
            assert [event.outcome for event in events if isinstance(event, Committed)] == ["runtime", "failed"]
            assert engine.version() == 1

    run(work())


def test_a_change_of_the_process_alone_does_not_wait_for_a_reload(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine, asyncio.timeout(SECONDS), engine.loading():
            await change_process(engine.context, "map/a.map", lambda: asyncio.sleep(0))

    run(work())
