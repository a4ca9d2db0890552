"""Files that HAProxy reads at its start: file and process stay together, whatever becomes of the reload."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.commit.change import Reload
from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from tests.databases import former_contents
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, reload, run, running_engine
from tests.native.storage.test_store import store_file

GOOD, BETTER = b"HTTP/1.0 503 Good\r\n\r\n", b"HTTP/1.0 503 Better\r\n\r\n"
BAD = b""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, haproxy_binary: str) -> Iterator[HAProxy]:
    directory = tmp_path_factory.mktemp("general")
    (directory / "files").mkdir()
    (directory / "files" / "503.http").write_bytes(GOOD)
    config = CONFIG % free_port() + f"  errorfile 503 {directory}/files/503.http\n"
    with HAProxy(directory, config, binary=haproxy_binary) as haproxy:
        yield haproxy


def beside(haproxy: HAProxy, work) -> None:
    """`work(engine, path)` with an engine that has just started."""
    directory = haproxy.directory / "files"
    (directory / "503.http").write_bytes(GOOD)

    async def test() -> None:
        async with running_engine(haproxy.directory, haproxy, directories={"general": Directory(directory, "dir")}) as engine:
            await reload(engine)
            await work(engine, directory / "503.http")

    run(test())


def content_of(path: Path) -> bytes:
    return path.read_bytes()


async def put(engine: Engine, content: bytes, **how):
    return await store_file(engine, engine.stores["general"], "503.http", content, **how)


def test_a_reload_makes_it_so(running: HAProxy) -> None:
    async def work(engine: Engine, path: Path) -> None:
        outcome = await put(engine, BETTER)
        assert not outcome.live
        assert outcome.reload_id
        assert "reads 503.http only when it starts" in outcome.reasons[0].why
        assert engine.context.ledger.waits
        assert (await reload(engine)).status == "succeeded"
        assert (content_of(path), engine.context.ledger.entries) == (BETTER, {})
        await engine.database.catch_up()
        assert former_contents(engine.database.directory) == 0

    beside(running, work)


def test_a_failed_reload_puts_the_file_back(running: HAProxy) -> None:
    async def work(engine: Engine, path: Path) -> None:
        await put(engine, BETTER)
        await put(engine, b"x" * 100_000)
        assert (await reload(engine)).status == "failed"
        assert (content_of(path), engine.context.ledger.entries) == (GOOD, {})
        assert (await reload(engine)).status == "succeeded"

    beside(running, work)


def test_who_skips_the_reload_gets_none_and_the_next_one_reads_it(running: HAProxy) -> None:
    async def work(engine: Engine, path: Path) -> None:
        outcome = await put(engine, BETTER, reload=Reload.NONE)
        assert (outcome.reload_id, engine.reloads.pending) == (None, None)
        assert engine.context.ledger.entries[str(path)].state == "skipped"
        assert (await reload(engine)).status == "succeeded"
        assert not engine.context.ledger.entries

    beside(running, work)


def test_a_forced_reload_is_over_when_the_answer_comes(running: HAProxy) -> None:
    async def work(engine: Engine, path: Path) -> None:
        before = running.worker_pid()
        assert (await put(engine, BETTER, reload=Reload.NOW)).live
        assert running.worker_pid() != before
        assert not engine.context.ledger.entries

    beside(running, work)


def test_somebody_elses_reload_takes_what_is_on_disk(running: HAProxy) -> None:
    async def work(engine: Engine, path: Path) -> None:
        await put(engine, BETTER, reload=Reload.NONE)
        assert (await engine.runtime.master.reload()).success
        await put(engine, b"x" * 100_000)
        await reload(engine)
        assert content_of(path) == BETTER

    beside(running, work)


def test_a_promise_is_kept_across_a_restart(running: HAProxy) -> None:
    async def promise(engine: Engine, path: Path) -> None:
        await put(engine, BETTER)

    async def keep() -> None:
        directories = {"general": Directory(running.directory / "files", "dir")}
        async with running_engine(running.directory, running, directories=directories) as engine:
            assert engine.reloads.pending
            assert engine.context.ledger.waits
            assert (await reload(engine)).status == "succeeded"
            assert not engine.context.ledger.entries

    beside(running, promise)
    run(keep())
