"""Splits beside an engine: what is stored, and what stays as it was when HAProxy refuses the lines."""

from pathlib import Path

import pytest

from haproxy_native.check.check import CheckSettings
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import InUse, NotFound, Refused
from haproxy_native.features.splits.rules import LinesMissing
from haproxy_native.features.splits.splits import Splits
from haproxy_native.request_context import NOBODY
from haproxy_native.workers.workers import Workers
from tests.haproxy.process import HAProxy
from tests.native.engines import ByFunction, run, running_engine, substituting


def maps(directory: Path) -> dict[str, Directory]:
    return {"maps": Directory(directory / "maps", "maps_dir")}


def maps_of(directory: Path) -> list[Path]:
    return list(directory.glob("maps/split_*"))


def test_lines_and_map(haproxy: HAProxy, tmp_path: Path) -> None:
    async def story() -> None:
        async with running_engine(tmp_path, haproxy, directories=maps(tmp_path)) as engine:
            splits = Splits(engine, Editor(), Workers(engine))
            with pytest.raises(LinesMissing):
                await splits.put("a", "random", {"app": 1}, author=NOBODY)
            assert maps_of(tmp_path) == []
            await splits.put("a", "random", {"app": 1}, "web", author=NOBODY)
            status = await splits.status("a")
            assert (status.shares, status.frontends, status.complete) == ({"app": 100}, ["web"], True)
            assert status.requests == {"app": 0}
            path = tmp_path / "maps/split_a.map"
            await engine.amend(
                [ByFunction(substituting("default_backend app", f"http-request set-header X %[rand(9),map_int({path})]"))], author=NOBODY
            )
            with pytest.raises(InUse):
                await splits.delete("a", author=NOBODY)
            await engine.amend([ByFunction(substituting("http-request set-header", "#"))], author=NOBODY)
            await splits.delete("a", author=NOBODY)
            assert not path.exists() and "use_backend" not in engine.document.text
            with pytest.raises(NotFound):
                await splits.status("a")
            await engine.reloads.force(())

    run(story())


def test_no_map_is_left_where_haproxy_refuses_the_lines(haproxy: HAProxy, tmp_path: Path) -> None:
    async def story() -> None:
        refusing = CheckSettings(haproxy.binary, command="false")
        async with running_engine(tmp_path, haproxy, directories=maps(tmp_path), check=refusing) as engine:
            with pytest.raises(Refused):
                await Splits(engine, Editor(), Workers(engine)).put("a", "random", {"app": 1}, "web", author=NOBODY)
            assert maps_of(tmp_path) == []

    run(story())


def test_without_a_directory(haproxy: HAProxy, tmp_path: Path) -> None:
    async def story() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            with pytest.raises(NotFound, match="maps_dir"):
                await Splits(engine, Editor(), Workers(engine)).status("a")

    run(story())
