"""Changes side by side: none waits while HAProxy checks the text of another."""

import asyncio
import os
from pathlib import Path

import pytest

from haproxy_native.check.check import CheckSettings
from haproxy_native.errors import Conflict
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from tests.native.engines import adding, run, running_engine

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
