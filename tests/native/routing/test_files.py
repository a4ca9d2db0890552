"""Tests on disk, changed by commits."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest, Forbidden, NotFound, Unusable, WriteFailed
from haproxy_native.routing.case import MOST
from haproxy_native.routing.files import TestFiles
from tests.native.engines import CONFIG, running_engine

CASE = {"request": {"url": "http://a/"}, "expect": {"status": 200}}


def working(directory: Path, work: Callable[[Engine, TestFiles], Awaitable[None]], **changes: Any) -> None:
    async def run() -> None:
        async with running_engine(directory, **changes) as engine:
            await work(engine, TestFiles(engine.context, directory / "tests"))

    (directory / "haproxy.cfg").write_text(CONFIG.format(stats=directory / "s") % 1)
    asyncio.run(run())


def test_kept_and_read_by_others(tmp_path: Path) -> None:
    async def work(engine: Engine, files: TestFiles) -> None:
        assert await files.put("shop", {"cases": [CASE]}) and not await files.put("shop", {"description": "ü", "cases": [CASE, CASE]})
        assert files.names() == ["shop"] and len(files.cases()) == 2
        assert TestFiles(engine.context, tmp_path / "tests").get("shop") == {"name": "shop", "description": "ü", "cases": [CASE, CASE]}
        assert (tmp_path / "tests/shop.json").stat().st_mode & 0o777 == 0o600
        await files.delete("shop")
        assert files.names() == []
        with pytest.raises(NotFound, match="there are: none"):
            await files.delete("shop")

    working(tmp_path, work)


def test_a_file_that_others_have_broken(tmp_path: Path) -> None:
    async def work(engine: Engine, files: TestFiles) -> None:
        await files.put("shop", {"cases": [CASE]})
        for broken in ("{", "[]", '{"cases": [{}]}', '{"cases": [{"request": {"url": "x:"}, "expect": {"status": 1}}]}'):
            (tmp_path / "tests/shop.json").write_text(broken)
            with pytest.raises(Unusable, match="PUT /v3/sidecar/tests/shop replaces it"):
                files.cases()
        await files.put("shop", {"cases": [CASE]})
        assert len(files.cases(["shop"])) == 1

    working(tmp_path, work)


def test_all_together_have_an_end(tmp_path: Path) -> None:
    async def work(engine: Engine, files: TestFiles) -> None:
        await files.put("large", {"cases": [CASE] * (MOST - 1)})
        await files.put("one", {"cases": [CASE]})
        with pytest.raises(BadRequest, match=f"the other tests have {MOST} cases"):
            await files.put("two", {"cases": [CASE]})
        await files.put("one", {"cases": [CASE]})

    working(tmp_path, work)


def test_a_disk_that_takes_nothing(tmp_path: Path) -> None:
    async def work(engine: Engine, files: TestFiles) -> None:
        (tmp_path / "tests").write_text("in the way")
        with pytest.raises((WriteFailed, Unusable)):
            await files.put("shop", {"cases": [CASE]})

    working(tmp_path, work)


def test_a_server_that_is_read_only(tmp_path: Path) -> None:
    async def work(engine: Engine, files: TestFiles) -> None:
        with pytest.raises(Forbidden):
            await files.put("shop", {"cases": [CASE]})
        assert files.names() == []

    working(tmp_path, work, read_only=True)
