"""Renaming beside an engine: what is stored goes with the text, or stays with it."""

from pathlib import Path

import pytest

from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest
from haproxy_native.references.naming import Naming
from haproxy_native.request_context import NOBODY
from haproxy_native.storage import list_files
from haproxy_native.storage.list_files import Split
from tests.haproxy.process import HAProxy
from tests.native.engines import ByFunction, run, running_engine, substituting


def directories(directory: Path) -> dict[str, Directory]:
    return {"maps": Directory(directory / "maps", "maps_dir"), "general": Directory(directory / "general", "general_storage_dir")}


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


async def with_map(engine: Engine, path: Path, text: str) -> None:
    written(path, text)
    await engine.amend(
        [ByFunction(substituting("default_backend app", f"use_backend %[path,map({path},app)]\n  default_backend app"))], author=NOBODY
    )


def test_maps_and_splits_go_with_the_text(haproxy: HAProxy, tmp_path: Path) -> None:
    async def story() -> None:
        path = tmp_path / "maps/split_a.map"
        text = list_files.format_split(Split("random", {"app": 1.0}, 1.0, {"1": {"app": 3}}), ["app", "app"])
        async with running_engine(tmp_path, haproxy, directories=directories(tmp_path)) as engine:
            await with_map(engine, path, text)
            before, naming = engine.document.text, Naming(engine)
            renaming = await naming.renaming("backend/app", "shop", engine.document, author=NOBODY)
            assert {each.object for each in renaming.places} == {"frontend/web", "backend/app", "map/split_a.map"}
            planned = await naming.plan(renaming)
            assert planned.valid and [file.path for file in planned.files] == [path] and path.read_text() == text
            await naming.rename(renaming)
            assert path.read_text() == text.replace("app", "shop") and "backend app" not in engine.document.text
            await naming.rename(await naming.renaming("backend/shop", "app", engine.document, author=NOBODY))
            assert path.read_text() == text and engine.document.text.partition("\n")[2].endswith(before.partition("global")[2])

    run(story())


def test_a_map_that_is_not_stored_is_not_followed(haproxy: HAProxy, tmp_path: Path) -> None:
    async def story() -> None:
        path = tmp_path / "elsewhere/a.map"
        async with running_engine(tmp_path, haproxy, directories=directories(tmp_path)) as engine:
            await with_map(engine, path, "/a app\n")
            renaming = await Naming(engine).renaming("backend/app", "shop", engine.document, author=NOBODY)
            assert [(each.object, each.file, each.line, each.why) for each in renaming.lost] == [
                ("file", str(path), 1, "the map is not a stored file")
            ]
            await Naming(engine).rename(renaming)
            assert path.read_text() == "/a app\n"

    run(story())


def test_transactions(haproxy: HAProxy, tmp_path: Path) -> None:
    async def story() -> None:
        async with running_engine(tmp_path, haproxy, directories=directories(tmp_path)) as engine:
            naming, id_ = Naming(engine), engine.start_transaction(engine.version(), author=NOBODY).id
            await naming.rename(await naming.renaming("backend/app", "shop", engine.read(id_), transaction_id=id_, author=NOBODY))
            assert (await naming.references("backend/shop", engine.read(id_))).places and "backend app" in engine.document.text
            await with_map(engine, tmp_path / "maps/a.map", "/a app\n")
            id_ = engine.start_transaction(engine.version(), author=NOBODY).id
            with pytest.raises(BadRequest, match=r"the renaming also changes a\.map"):
                await naming.renaming("backend/app", "shop", engine.read(id_), transaction_id=id_, author=NOBODY)

    run(story())
