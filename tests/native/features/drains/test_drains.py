"""Drains as operations, beside a real HAProxy; sessions and reloads are in tests/acceptance/test_drains.py."""

from pathlib import Path

import pytest

from haproxy_native.disk.database import Database
from haproxy_native.editing.editor import Editor
from haproxy_native.features.drains.drains import DELETE, DRAIN, Drain, Drains, TooFewReady
from haproxy_native.operations.operations import Operations
from haproxy_native.request_context import NOBODY
from haproxy_native.workers.workers import Workers
from tests.haproxy.process import HAProxy
from tests.native.engines import run, running_engine

OBJECT = "backend/app/server/s1"


def test_deleted_from_the_file_or_from_the_process(haproxy: HAProxy, tmp_path: Path) -> None:
    async def story() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            drains = Drains(engine, Editor(), Workers(engine))
            async with Operations(Database(tmp_path / "operations"), {DRAIN: drains.work}) as operations:

                async def done(target: str) -> None:
                    begun = await drains.begin(operations, [target], lambda servers: Drain(servers, timeout=20, then=DELETE), author=NOBODY)
                    assert (await operations.wait_until_ended(begun.id, 20)).status == "succeeded"

                await engine.runtime.execute("add server app/added 127.0.0.1:9")
                await done("app/added")
                assert {each.name for each in await engine.runtime.servers("app")} == {"s1"}
                assert engine.version() == 1, "the file has not had it"
                with pytest.raises(TooFewReady):
                    await drains.begin(operations, [OBJECT], lambda servers: Drain(servers, keep_ready=1), author=NOBODY)
                await done("app/s1")
                assert "server s1" not in engine.document.text and engine.version() == 2
                assert await engine.runtime.servers("app") == []

    run(story())
