"""Map files that follow by themselves."""

import asyncio

from haproxy_native.commit.change import Reload
from haproxy_native.engine import Engine
from haproxy_native.storage.list_store import MapStore
from haproxy_native.storage.live_lists import LiveMap, MapSync
from tests.native.engines import reload
from tests.native.storage.live import OWN, Beside, put


def sync(engine: Engine, live: LiveMap, seconds: float = 0.01) -> MapSync:
    assert isinstance(live.store, MapStore)
    return MapSync(engine.context, live.store, seconds)


def test_only_what_has_changed_is_written(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        assert await sync(engine, live).once() == []
        await live.set("two", "three words here")
        assert await sync(engine, live).once() == [str(maps.file)]
        assert maps.file.read_text() == OWN.replace("two words", "three words here")
        await live.delete("one")
        assert await sync(engine, live).once() == [str(maps.file)]

    maps.with_engine(work)


def test_what_we_have_written_is_known_to_the_next_process(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        await live.set("one", "2")
        assert await sync(engine, live).once() == [str(maps.file)]

    async def next_process(engine: Engine, live: LiveMap) -> None:
        await live.set("one", "3")
        assert await sync(engine, live).once() == [str(maps.file)]

    maps.with_engine(work)
    maps.again(next_process)


def test_files_newer_than_the_process_are_left_alone(maps: Beside, caplog) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        await put(engine, "pushed 1\n", reload=Reload.NONE)
        await live.add("x", "y")
        assert await sync(engine, live).once() == []
        await reload(engine)
        edited(maps)
        await live.add("x", "y")
        rounds = sync(engine, live)
        assert [await rounds.once(), await rounds.once()] == [[], []]
        assert maps.file.read_text() == "edited 1\n"
        assert caplog.text.count("is newer than the map that HAProxy has loaded") == 1
        await reload(engine)
        await live.add("x", "y")
        assert await rounds.once() == [str(maps.file)]

    maps.with_engine(work)


def edited(maps: Beside) -> None:
    maps.file.write_text("edited 1\n")


def test_it_goes_on_whatever_happens(maps: Beside, caplog) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        await live.add("#hash", "no line can hold it")
        task = asyncio.create_task(sync(engine, live).run())
        while "cannot contain the key" not in caplog.text:
            await asyncio.sleep(0.01)
        await live.delete("#hash")
        await live.add("x", "y")
        while "x y" not in content(maps):
            await asyncio.sleep(0.01)
        task.cancel()

    maps.with_engine(work)


def content(maps: Beside) -> str:
    return maps.file.read_text()
