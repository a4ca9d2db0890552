"""A change that does anything else than planned is refused, before it is prepared."""

from pathlib import Path

import pytest

from haproxy_native.apply.expected_changes import moves_now, unmoved
from haproxy_native.commit.change import Change, FileEdits
from haproxy_native.commit.commit import commit
from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from haproxy_native.errors import Moved
from tests.native.engines import adding, run, running_engine


def test_texts_and_files_as_they_were_planned(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text("global\n")
    (tmp_path / "maps").mkdir()
    path = tmp_path / "maps" / "a.map"

    async def work(engine: Engine) -> None:
        edits = FileEdits({path: engine.stores["maps"]}, lambda now: {path: (now[path] or b"") + b"x 1\n"})
        change = Change(adding("b"), files=edits)
        moves = moves_now(engine, change)
        assert set(moves) == {"haproxy.cfg", "map/a.map"}
        path.write_text("y 2\n")
        with pytest.raises(Moved, match="^map/a.map has been changed since the plan was made"):
            await commit(engine.context, unmoved(change, moves, "haproxy.cfg"))
        assert engine.version() == 1
        path.unlink()
        await engine.amend(adding("c"))
        with pytest.raises(Moved, match="^haproxy.cfg has been changed since"):
            await commit(engine.context, unmoved(change, moves, "haproxy.cfg"))
        await commit(engine.context, unmoved(change, moves_now(engine, change), "haproxy.cfg"))
        assert path.read_text() == "x 1\n" and engine.document.find("backend", "b")

    async def test() -> None:
        async with running_engine(tmp_path, directories={"maps": Directory(tmp_path / "maps", "maps_dir")}) as engine:
            await work(engine)

    run(test())
