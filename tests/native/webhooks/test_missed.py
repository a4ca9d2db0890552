"""Changes of a real engine with a history, whose events no queue has."""

import asyncio
import json
import math
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from haproxy_native.commit.commit import commit
from haproxy_native.commit.file_change import FileChange
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.editor import Editor
from haproxy_native.event_stream.past import StreamEvent
from haproxy_native.event_stream.stream import CONFIG, OPERATION, STORAGE, EventStream
from haproxy_native.history.history import History
from haproxy_native.request_context import Author, author
from haproxy_native.webhooks.missed import key, missed
from haproxy_native.webhooks.webhook import Webhook
from haproxy_native.webhooks.webhooks import Webhooks
from tests.native.engines import adding, run, running_engine
from tests.receiver import SECRET, Receiver


@asynccontextmanager
async def recorded(directory: Path):
    if not (directory / "haproxy.cfg").exists():
        (directory / "haproxy.cfg").write_text("global\n")
    (directory / "general").mkdir(exist_ok=True)
    kept = {"general": Directory(directory / "general", "general_storage_dir")}
    async with running_engine(directory, directories=kept) as engine, History(engine.context, Editor(), directory / "history") as history:
        yield engine, history


async def delivered(room: Webhooks, receiver: Receiver, number: int) -> None:
    """Until so many events have been, and none waits."""
    await asyncio.to_thread(receiver.until, lambda each: len(each.taken) >= number)
    while any(count for count, _ in (await room.waiting()).values()):
        await asyncio.sleep(0.01)


def bodies(events: list[StreamEvent]) -> list[dict[str, Any]]:
    return [json.loads(each.body) for each in events]


def test_what_names_an_event() -> None:
    assert key(StreamEvent.of(1, CONFIG, "backend/b", {"version": 7, "request_id": "r"})) == "version 7"
    assert key(StreamEvent.of(1, STORAGE, "map/a", {"request_id": "r"})) == "r map/a"
    assert key(StreamEvent.of(1, STORAGE, "map/a", {})) == key(StreamEvent.of(1, OPERATION, "operation/1", {"version": 7})) == ""


def test_changes_and_files_as_events(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            author.set(Author("ann", "192.0.2.1", "r-1", "why"))
            await engine.write(adding("b"), version=1)
            store = engine.stores["general"]
            path = store.directory / "a.txt"
            await commit(engine.context, FileChange(store, path, store.draft(path, b"a\n")))
            found = await missed(history, (), 0, math.inf)
            change, file = bodies(found)
            assert (change["type"], change["object"], found[0].objects) == (CONFIG, "backend/b", ["configuration", "backend/b"])
            expected = {"version": 2, "author": "ann", "address": "192.0.2.1", "request_id": "r-1", "message": "why"}
            assert change["data"].items() >= expected.items() and change["data"]["effects"][0]["object"] == "backend/b"
            assert (file["type"], file["object"], file["data"]["change"]) == (STORAGE, "general/a.txt", "created")
            assert len({each["id"] for each in (change, file)}) == 2 and change["time"].endswith("Z")
            assert bodies(await missed(history, {"version 2"}, 0, math.inf)) == [file]
            assert bodies(await missed(history, {"r-1 general/a.txt"}, 0, math.inf)) == [change]
            assert await missed(history, (), time.time() + 9, math.inf) == await missed(history, (), 0, 1) == []

    run(work())


def test_a_change_whose_event_was_never_written_is_sent_after_the_next_start(tmp_path: Path) -> None:
    async def work() -> None:
        with Receiver() as receiver:
            webhook = Webhook("a", receiver.url, SECRET, types=(CONFIG,))
            async with recorded(tmp_path) as (engine, history):

                def opened(*webhooks: Webhook) -> Webhooks:
                    # A stream that nothing is published to: each event is lost on its way.
                    return Webhooks(EventStream(), tmp_path / "webhooks", "//here", webhooks, missed=partial(missed, history))

                await engine.write(adding("before"), version=1)
                async with opened(webhook) as room:
                    await room.waiting()
                    await engine.write(adding("lost"), version=2)
                both = (webhook, replace(webhook, name="late"))
                async with opened(*both) as room:
                    await delivered(room, receiver, 1)
                    await engine.write(adding("other"), version=3)
                async with opened(*both) as room:
                    await delivered(room, receiver, 3)
                async with opened(*both) as room:
                    await delivered(room, receiver, 3)
                assert receiver.subjects == ["backend/lost", "backend/other", "backend/other"]

    run(work())


def test_an_edit_while_no_server_ran(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            await engine.write(adding("b"), version=1)
        path = tmp_path / "haproxy.cfg"
        await asyncio.to_thread(path.write_text, path.read_text() + "\nbackend by_hand\n")
        async with recorded(tmp_path) as (engine, history):
            (found,) = bodies(await missed(history, {"version 2"}, 0, 1.0 * 2**40))
            assert (found["object"], found["data"]["outcome"], found["data"]["version"]) == ("backend/by_hand", "outside", 2)
            assert await missed(history, {"version 2", found["id"]}, 0, 0) == []
            assert bodies(await missed(history, {"version 2"}, 0, 0)) == [found], "it is entered after the start"

    run(work())
