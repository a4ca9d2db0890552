import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.events import Reloaded
from haproxy_native.editing.editor import Editor
from haproxy_native.features.events.sources import MOST_EFFECTS, Changes
from haproxy_native.features.events.stream import CERTIFICATE, CONFIG, RELOAD, STORAGE, EventFilter, EventStream
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.text.document import Document
from tests.native.engines import ByFunction, adding, reload, run, running_engine, substituting

TEXT = "global\n\nuserlist people\n  user anna insecure-password hidden\n"


class Read:
    def __init__(self, subscription: Any) -> None:
        self._subscription = subscription

    async def next(self) -> dict[str, Any]:
        (event,) = await self._subscription.read(60)
        return dict(json.loads(event.body))


@asynccontextmanager
async def published(directory: Path):
    (directory / "haproxy.cfg").write_text(TEXT)
    async with running_engine(directory) as engine:
        stream = EventStream()
        changes = Changes(stream, Editor(), engine.context)
        engine.context.events.listen(changes.on_event)
        running = asyncio.create_task(changes.run())
        with stream.subscription(EventFilter()) as subscription:
            yield engine, Read(subscription)
        running.cancel()


def test_a_change_of_the_configuration(tmp_path: Path) -> None:
    async def work() -> None:
        async with published(tmp_path) as (engine, read):
            await engine.write([ByFunction(adding("b"))], Version(1), author=Author("ann", "192.0.2.1", "r-1", "why"))
            event = await read.next()
            assert (event["type"], event["object"]) == (CONFIG, "backend/b")
            data = event["data"]
            assert data.pop("reload_id") and data.pop("effects")[0]["object"] == "backend/b"
            assert data == {"version": 2, "outcome": "scheduled", "author": "ann", "address": "192.0.2.1", "request_id": "r-1"} | {
                "message": "why",
                "objects": ["backend/b"],
            }
            await reload(engine)
            event = await read.next()
            assert event["type"] == RELOAD and event["data"]["status"] == "succeeded" and event["object"] == f"reload/{event['data']['id']}"

    run(work())


def test_secrets_are_masked(tmp_path: Path) -> None:
    async def work() -> None:
        async with published(tmp_path) as (engine, read):
            await engine.write([ByFunction(substituting("hidden", "concealed"))], Version(1), author=NOBODY)
            text = json.dumps(await read.next())
            assert "hidden" not in text and "concealed" not in text and text.count("<masked>") == 2

    run(work())


def test_secrets_in_what_haproxy_says_are_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with published(tmp_path) as (engine, read):
            said = "[ALERT] (1) : config : parsing [a.cfg:2] : 'hidden' is not a number."
            record = replace(await reload(engine), response=said)
            await read.next()
            monkeypatch.setattr(type(engine.context.reloads.records), "get", lambda *_: record)
            engine.context.events.publish(Reloaded(record.id, "failed", 0.0, ()))
            text = (await read.next())["data"]["response"]
            assert text == "[ALERT] (1) : config : parsing [a.cfg:2] : '<masked>' is not a number."

    run(work())


def test_large_changes_are_shortened(tmp_path: Path) -> None:
    def edit(document: Document) -> Document:
        for number in range(MOST_EFFECTS + 1):
            document = adding(f"b{number}")(document)
        return document

    async def work() -> None:
        async with published(tmp_path) as (engine, read):
            await engine.write([ByFunction(edit)], Version(1), author=NOBODY)
            event = await read.next()
            assert event["object"] == "configuration" and event["data"]["shortened"]
            assert (len(event["data"]["objects"]), len(event["data"]["effects"])) == (MOST_EFFECTS + 1, MOST_EFFECTS)

    run(work())


def test_an_edit_by_others(tmp_path: Path) -> None:
    async def work() -> None:
        async with published(tmp_path) as (engine, read):
            (tmp_path / "haproxy.cfg").write_text(TEXT + "backend b\n")
            assert await engine.notice()
            event = await read.next()
            assert event["object"] == "backend/b" and event["data"]["outcome"] == "outside"
            assert event["data"]["owner"]

    run(work())


def test_the_process_alone(tmp_path: Path) -> None:
    async def work() -> None:
        async with published(tmp_path) as (engine, read):

            async def apply() -> None:
                return None

            for object_, type_ in (("map/hosts.map", STORAGE), ("certificate/a.pem", CERTIFICATE)):
                await change_process(engine.context, object_, apply, author=NOBODY)
                event = await read.next()
                assert (event["type"], event["object"], event["data"]["outcome"]) == (type_, object_, "runtime")

    run(work())
