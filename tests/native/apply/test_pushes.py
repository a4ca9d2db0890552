"""Pushes that were planned: as they were shown, or not at all."""

import os
from pathlib import Path

import pytest

from haproxy_native.apply.pushes import LARGEST, Push, Pushes
from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from haproxy_native.errors import Conflict, Missing, Moved
from haproxy_native.storage.coming import Coming
from tests.native.engines import adding, run, running_engine

TEXT = b"# _version=7\nglobal\n    maxconn 5\n\nbackend b\n"


def within(directory: Path, work) -> None:
    (directory / "haproxy.cfg").write_text("global\n")
    (directory / "maps").mkdir()

    async def test() -> None:
        async with running_engine(directory, directories={"maps": Directory(directory / "maps", "maps_dir")}) as engine:
            await work(engine, Pushes(engine), directory / "maps" / "a.map")

    run(test())


def test_as_it_was_kept(tmp_path: Path) -> None:
    async def work(engine: Engine, pushes: Pushes, path) -> None:
        content = tmp_path / "content"
        content.write_bytes(b"\xff 1\n")
        push = Push.of({"": TEXT}, [Coming(engine.stores["maps"], path, content)])
        assert push and Push.from_bytes(push.as_bytes()) == push == Push({"": TEXT}, [("maps", "a.map", b"\xff 1\n")])
        moves = await pushes.moves(push)
        outcome = await pushes.carry_out(push, moves, {}, engine.version())
        assert outcome.version == 2 and path.read_bytes() == b"\xff 1\n" and engine.document.text.count("_version") == 1

    within(tmp_path, work)


def test_what_is_too_large_is_not_kept(tmp_path: Path) -> None:
    async def work(engine: Engine, pushes: Pushes, path) -> None:
        content = tmp_path / "content"
        coming = [Coming(engine.stores["maps"], path, content)]
        for file, other in ((content, path), (path, content)):
            other.unlink(missing_ok=True)
            file.touch()
            os.truncate(file, LARGEST - len(TEXT) + 1)
            assert Push.of({"": TEXT}, coming) is None
        assert Push.of({"": TEXT}, []) is not None

    within(tmp_path, work)


def test_what_has_moved(tmp_path: Path) -> None:
    async def work(engine: Engine, pushes: Pushes, path) -> None:
        push = Push({"": TEXT}, [("maps", "a.map", b"x 1\n")])
        moves = await pushes.moves(push)
        path.write_bytes(b"by hand 1\n")
        with pytest.raises(Moved, match="map/a.map has been changed since the plan was made"):
            await pushes.carry_out(push, moves, None, None)
        path.unlink()
        await engine.amend(adding("other"))
        with pytest.raises(Moved, match="haproxy.cfg has been changed since"):
            await pushes.carry_out(push, moves, None, None)
        with pytest.raises(Conflict, match="given version is 1"):
            await pushes.carry_out(push, moves, None, 1)
        with pytest.raises(Missing, match="no store general any more"):
            await pushes.moves(Push({}, [("general", "x", b"")]))
        assert not path.exists() and "other" in engine.document.text

    within(tmp_path, work)
