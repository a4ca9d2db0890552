"""Tests in the database, changed by commits."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest, Forbidden, NotFound, Unusable
from haproxy_native.features.routing_tests import table
from haproxy_native.features.routing_tests.table import TestTable
from haproxy_native.request_context import NOBODY
from tests.databases import damage
from tests.native.engines import CONFIG, running_engine

MOST = 20
CASE = {"request": {"url": "http://a/"}, "expect": {"status": 200}}


def working(directory: Path, work: Callable[[Engine, TestTable], Awaitable[None]], **changes: Any) -> None:
    async def run() -> None:
        async with running_engine(directory, **changes) as engine:
            await work(engine, TestTable(engine.context, engine.database))

    (directory / "haproxy.cfg").write_text(CONFIG.format(stats=directory / "s") % 1)
    asyncio.run(run())


def test_kept_and_read_by_others(tmp_path: Path) -> None:
    async def work(engine: Engine, tests: TestTable) -> None:
        assert await tests.put("shop", {"cases": [CASE]}, author=NOBODY)
        assert not await tests.put("shop", {"description": "ü", "cases": [CASE, CASE]}, author=NOBODY)
        assert tests.names() == ["shop"] and len(tests.cases()) == 2
        assert TestTable(engine.context, engine.database).get("shop") == {"name": "shop", "description": "ü", "cases": [CASE, CASE]}
        await tests.delete("shop", author=NOBODY)
        assert tests.names() == [] == TestTable(engine.context, engine.database).names()
        with pytest.raises(NotFound, match="there are: none"):
            await tests.delete("shop", author=NOBODY)

    working(tmp_path, work)


def test_all_together_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST", MOST)

    async def work(engine: Engine, tests: TestTable) -> None:
        await tests.put("large", {"cases": [CASE] * (MOST - 1)}, author=NOBODY)
        await tests.put("one", {"cases": [CASE]}, author=NOBODY)
        with pytest.raises(BadRequest, match=f"the other tests have {MOST} cases"):
            await tests.put("two", {"cases": [CASE]}, author=NOBODY)
        await tests.put("one", {"cases": [CASE]}, author=NOBODY)

    working(tmp_path, work)


def test_a_disk_that_takes_nothing(tmp_path: Path) -> None:
    async def work(engine: Engine, tests: TestTable) -> None:
        await tests.put("shop", {"cases": [CASE]}, author=NOBODY)
        await damage(engine.database)
        with pytest.raises(Unusable):
            await tests.put("shop", {"cases": [CASE, CASE]}, author=NOBODY)
        assert len(tests.cases()) == 1
        later = TestTable(engine.context, engine.database)
        with pytest.raises(Unusable):
            later.cases()

    working(tmp_path, work)


def test_a_server_that_is_read_only(tmp_path: Path) -> None:
    async def work(engine: Engine, tests: TestTable) -> None:
        with pytest.raises(Forbidden):
            await tests.put("shop", {"cases": [CASE]}, author=NOBODY)
        assert tests.names() == []

    working(tmp_path, work, read_only=True)
