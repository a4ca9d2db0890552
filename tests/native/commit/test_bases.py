"""Writes on an old version beside others that are being made."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Rebase, Version
from haproxy_native.commit.change import Change, Outcome
from haproxy_native.commit.commit import commit
from haproxy_native.commit.preparation import with_base
from haproxy_native.engine import Engine
from haproxy_native.errors import Stale, TextNotStored
from haproxy_native.request_context import NOBODY
from tests.native.engines import ByFunction, adding, run, running_engine


def backends(engine: Engine) -> list[str]:
    return sorted(each.name for each in engine.document.sections if each.kind == "backend")


def test_of_many_writers_on_one_version_all_are_merged(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\ndefaults base\n")
        async with running_engine(tmp_path) as engine:
            await engine.write([ByFunction(adding("first"))], Version(1), author=NOBODY)
            tries = [engine.write([ByFunction(adding(f"b{number}"))], Rebase(2), author=NOBODY) for number in range(6)]
            results = await asyncio.gather(*tries, return_exceptions=True)
            assert [type(each) for each in results] == [Outcome] * 6
            assert engine.version() == 8
            assert backends(engine) == ["b0", "b1", "b2", "b3", "b4", "b5", "first"]

    run(work())


@pytest.mark.parametrize("number", [0, 5])
def test_the_text_of_an_old_version_is_that_of_its_backup(tmp_path: Path, number: int) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\ndefaults base\n")
        async with running_engine(tmp_path, backups_number=number) as engine:
            await engine.write([ByFunction(adding("first"))], Version(1), author=NOBODY)
            engine.context.unloaded.clear()
            change = Change([ByFunction(adding("second"))], Rebase(1), author=NOBODY)
            if not number:
                with pytest.raises(TextNotStored, match="given version is 1; neither the history nor a backup still has its text"):
                    await with_base(engine.context, change)
                return
            await commit(engine.context, await with_base(engine.context, change))
            assert backends(engine) == ["first", "second"]

    run(work())


def test_a_version_that_has_not_been(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\ndefaults base\n")
        async with running_engine(tmp_path) as engine:
            with pytest.raises(Stale, match="is 1, given version is 7"):
                await engine.write([ByFunction(adding("b"))], Rebase(7), author=NOBODY)

    run(work())
