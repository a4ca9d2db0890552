"""Calls that are kept for a day."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dataplaneapi.api import idempotency
from dataplaneapi.api.idempotency import LARGEST, CallStore, StoredCall
from haproxy_native.disk.database import Database
from haproxy_native.errors import Unusable
from tests.databases import damage

NAME, OTHER = "0123-abc", "0123-def"


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "state")


def ended(began: StoredCall) -> StoredCall:
    return replace(began, request="12ab", status=201, headers=(("Content-Type", "x"),), ignored=(("X-I", "y"),), body=b"\xff\0 body")


def names(database: Database) -> list[str]:
    return [name for (name,) in database.read(lambda state: state.execute("SELECT name FROM call ORDER BY began").fetchall())]


def test_a_call_is_known_while_it_is_made_and_with_its_answer(database: Database) -> None:
    async def work() -> None:
        store = CallStore(database)
        assert await store.find(NAME) is None
        began = await store.begin(NAME)
        assert await CallStore(database).find(NAME) == began
        await store.end(NAME, ended(began), is_secret=False)
        assert await CallStore(database).find(NAME) == ended(began)
        store.delete(NAME)
        assert await store.find(NAME) is None

    asyncio.run(work())


def test_a_secret_is_in_memory_alone(database: Database) -> None:
    async def work() -> None:
        store = CallStore(database)
        call = replace(ended(await store.begin(NAME)), body=b"the-secret")
        await store.end(NAME, call, is_secret=True)
        assert await store.find(NAME) == call
        assert await CallStore(database).find(NAME) == replace(call, body=None)

    asyncio.run(work())


def test_a_long_answer_is_not_kept(database: Database) -> None:
    async def work() -> None:
        store = CallStore(database)
        call = replace(ended(await store.begin(NAME)), body=b"x" * (LARGEST + 1))
        await store.end(NAME, call, is_secret=True)
        assert await store.find(NAME) == replace(call, body=None)

    asyncio.run(work())


def test_it_is_kept_for_a_day(database: Database) -> None:
    async def work() -> None:
        store = CallStore(database, clock := Clock())
        await store.end(NAME, ended(await store.begin(NAME)), is_secret=True)
        clock.now += 86399
        assert await store.find(NAME) is not None
        clock.now += 2
        assert await store.find(NAME) is None
        await store.begin(OTHER)

    asyncio.run(work())
    assert names(database) == [OTHER]


def test_the_oldest_of_a_caller_go(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "MOST_OF_ONE", 3)

    async def work() -> None:
        store = CallStore(database)
        for name in ["one-a", "two-a", "two-b", "two-c", "two-d"]:
            await store.begin(name)

    asyncio.run(work())
    assert names(database) == ["one-a", "two-b", "two-c", "two-d"]


@pytest.mark.parametrize(("name", "most"), [("MOST", 3), ("MOST_BYTES", 800)])
def test_the_oldest_of_all_go(database: Database, monkeypatch: pytest.MonkeyPatch, name: str, most: int) -> None:
    monkeypatch.setattr(idempotency, name, most)
    made = ["a-1", "a-2", "a-3", "a-4", "a-5", "a-6"]

    async def work() -> None:
        store = CallStore(database)
        for each in made:
            await store.end(each, replace(await store.begin(each), status=201, body=b"x" * 100), is_secret=False)

    asyncio.run(work())
    left = names(database)
    assert left == made[-len(left) :] and 2 <= len(left) <= 4


def test_what_cannot_be_noted_is_not_begun(database: Database) -> None:
    database.directory.write_text("a file")
    for work in (CallStore(database).begin(NAME), CallStore(database).find(NAME)):
        with pytest.raises(Unusable, match="nothing was done"):
            asyncio.run(work)


def test_an_answer_that_the_disk_does_not_take_is_in_memory(database: Database) -> None:
    async def work() -> None:
        store = CallStore(database)
        call = ended(await store.begin(NAME))
        await damage(database)
        await store.end(NAME, call, is_secret=False)
        assert await store.find(NAME) == call

    asyncio.run(work())
