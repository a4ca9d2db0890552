"""After a refused reload the file is what runs, or what others made of it."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.commit import after_reload
from haproxy_native.commit.current import Overtaken
from haproxy_native.editing import header
from haproxy_native.engine import Engine
from haproxy_native.errors import WriteFailed
from haproxy_native.request_context import NOBODY
from tests.native.engines import ByFunction, adding, run, running_engine


async def restored(engine: Engine, said: str = "") -> int | None:
    """The version of the file after a reload that fails."""
    record = replace(engine.reloads.records.issue(), response=said)
    return (await after_reload.handle_failure(engine.context, record)).restored_version


def test_back_to_what_is_known_to_run(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("# mine\nglobal\n")
        async with running_engine(tmp_path, backups_number=5) as engine:
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            await engine.write([ByFunction(adding("c"))], Version(2), author=NOBODY)
            async with engine.loading():
                assert await restored(engine) == 4
            assert header.same_text(engine.document, engine.context.running.last_good)
            assert engine.raw().endswith(b"# mine\nglobal\n")
            assert engine.version() == 4
            assert b"backend c" in engine.raw(version=3), "the refused text can still be read"

    run(work())


@pytest.mark.parametrize("error", [WriteFailed("no space left"), Overtaken()])
def test_what_cannot_be_put_back_leaves_no_draft(tmp_path: Path, monkeypatch, caplog, error: Exception) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine:
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            before = engine.raw(), sorted(os.listdir(tmp_path))

            async def install(*_: object) -> None:
                raise error

            monkeypatch.setattr(engine.context.current, "install", install)
            async with engine.loading():
                assert await restored(engine) is None
            assert (engine.raw(), sorted(os.listdir(tmp_path))) == before
            assert engine.version() == 2

    run(work())
    assert str(error) in caplog.text


def test_nothing_to_go_back_to(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine:
            async with engine.loading():
                assert await restored(engine) is None
            assert engine.raw() == b"global\n"

    run(work())


@pytest.mark.parametrize("noticed", [False, True])
def test_an_outsider_s_mending_is_not_undone(tmp_path: Path, noticed: bool) -> None:
    """Nor where it was noticed while HAProxy read the file."""

    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine:
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            async with engine.loading():
                (tmp_path / "haproxy.cfg").write_text("global\n# mended\n")
                assert not noticed or await engine.notice()
                assert await restored(engine) is None
            assert engine.raw() == b"global\n# mended\n"
            assert engine.version() == 3

    run(work())


def test_a_success_makes_it_the_running_document(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine:
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            assert engine.running is None
            async with engine.loading():
                await after_reload.handle_success(engine.context)
            assert engine.running is engine.document
            assert engine.context.running.last_good.data == (tmp_path / "haproxy.cfg.lkg").read_bytes() == engine.raw()

    run(work())
