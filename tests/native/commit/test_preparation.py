"""What a commit prepares without the lock."""

from pathlib import Path

import pytest

from haproxy_native.changes.file_operations import EditFiles
from haproxy_native.commit.change import Change
from haproxy_native.commit.preparation import prepare
from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from haproxy_native.errors import InUse
from haproxy_native.request_context import NOBODY
from haproxy_native.text.section import Section
from tests.native.engines import ByFunction, adding, run, running_engine


def drafts(directory: Path) -> list[str]:
    return [path.name for path in directory.rglob(".*.*")]


@pytest.mark.parametrize(("adds", "has_text"), [(True, True), (False, False)])
def test_text_and_files_as_drafts(tmp_path: Path, adds: bool, has_text: bool) -> None:
    async def work(engine: Engine) -> None:
        path = tmp_path / "maps" / "new.map"
        edit = adding("b") if adds else lambda document: document
        prepared = await prepare(
            engine.context, Change([ByFunction(edit), EditFiles({path: engine.stores["maps"]}, lambda _: {path: b"a 1\n"})], author=NOBODY)
        )
        assert (prepared.text is not None) is has_text and list(prepared.files.drafts) == [path] and not path.exists()
        assert len(drafts(tmp_path)) == (2 if has_text else 1)
        prepared.discard()
        assert drafts(tmp_path) == []

    within(tmp_path, work)


def test_none_is_left_after_a_refusal(tmp_path: Path) -> None:
    async def work(engine: Engine) -> None:
        new, named = (tmp_path / "maps" / name for name in ("new.map", "named.map"))
        named.write_bytes(b"a 1\n")
        naming, maps = Section("frontend", "f", f"frontend f\n  use_backend %[path,map({named})]\n"), engine.stores["maps"]
        files = EditFiles({new: maps, named: maps}, lambda _: {new: b"a 1\n", named: None})
        with pytest.raises(InUse):
            await prepare(engine.context, Change([ByFunction(lambda document: document.insert(naming)), files], author=NOBODY))
        assert drafts(tmp_path) == []

    within(tmp_path, work)


def within(directory: Path, work) -> None:
    (directory / "haproxy.cfg").write_text("global\n")
    (directory / "maps").mkdir()

    async def test() -> None:
        async with running_engine(directory, directories={"maps": Directory(directory / "maps", "maps_dir")}) as engine:
            await work(engine)

    run(test())
