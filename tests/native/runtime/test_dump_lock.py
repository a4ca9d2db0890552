"""No dump beside a deletion on one worker, and none cut short: counted by a proxy between the client and a real HAProxy."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest

from haproxy_native.errors import RuntimeAbsent, RuntimeFailure
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.socket import DumpLock
from tests.haproxy import binaries
from tests.haproxy.process import SMALL, HAProxy

DUMPS, DELETIONS = ("show servers", "show backend", "show errors"), ("del server", "del backend")


@pytest.fixture
def haproxy(tmp_path: Path) -> Iterator[HAProxy]:
    with HAProxy(tmp_path, SMALL, binary=binaries.newest()) as started:
        yield started


class Recorder:
    """Hands requests on, answers to dumps after `pause` seconds; counts what passes, what overlaps and what is cut short."""

    def __init__(self, place: Path, target: Path, pause: float) -> None:
        self.place, self._target, self._pause = place, target, pause
        self.open: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.most_dumps = 0
        # Dumps are answered as long as this is set.
        self.goes_on = asyncio.Event()
        self.goes_on.set()
        # Once a client has sent all, nothing else refers to the task of its connection.
        self._tasks: set[asyncio.Task[None] | None] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_unix_server(self._one, str(self.place))
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.current_task())
        request = await reader.read(65536)
        kind = next(
            (kind for kind, heads in (("dump", DUMPS), ("deletion", DELETIONS)) if any(each in request.decode() for each in heads)), ""
        )
        self.seen[kind] += 1
        if kind and self.open["deletion" if kind == "dump" else "dump"]:
            self.seen["overlap"] += 1
        self.open[kind] += 1
        self.most_dumps = max(self.most_dumps, self.open["dump"])
        answer = await self._asked(request)
        await asyncio.sleep(self._pause if kind == "dump" else 0)
        if kind == "dump":
            await self.goes_on.wait()
        self.open[kind] -= 1
        writer.write(answer)
        with suppress(ConnectionError):
            await writer.drain()
            writer.close()
            await writer.wait_closed()
            return
        self.seen[f"{kind} cut short"] += 1

    async def _asked(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_unix_connection(str(self._target))
        writer.write(request)
        writer.write_eof()
        try:
            return await reader.read()
        finally:
            writer.close()


def recorded(
    haproxy: HAProxy, work: Callable[[Runtime, Recorder], Awaitable[None]], *, pause: float = 0.005, timeout: float = 20
) -> Recorder:
    async def run() -> Recorder:
        place = haproxy.directory / "proxy.sock"
        async with Recorder(place, haproxy.stats, pause) as recorder:
            runtime = Runtime(timeout=timeout)
            assert await runtime.connect(None, [str(place)], 60, 0.02)
            await work(runtime, recorder)
            return recorder

    return asyncio.run(run())


def test_dumps_and_deletions_take_turns(haproxy: HAProxy) -> None:
    async def change(runtime: Runtime) -> None:
        for number in range(10):
            await commands.apply(runtime, commands.add_server("app", f"n{number}", ("127.0.0.1:9",)))
            await commands.apply(runtime, commands.delete_server("app", f"n{number}"))

    async def look(runtime: Runtime) -> None:
        """Over sockets of its own, as a runtime chooses them."""
        for socket in runtime.sockets():
            for _ in range(25):
                await socket.send("show servers state app")

    async def work(runtime: Runtime, _: Recorder) -> None:
        await asyncio.gather(change(runtime), *(look(runtime) for _ in range(4)))

    recorder = recorded(haproxy, work)
    assert recorder.seen["deletion"] >= 10
    assert recorder.seen["dump"] >= 100
    assert recorder.most_dumps > 1
    assert recorder.seen["overlap"] == 0


def test_a_dump_without_a_reader_goes_on_to_its_end(haproxy: HAProxy) -> None:
    """One whose caller is cancelled, and one that is out of time; the deletion waits for both."""

    async def work(runtime: Runtime, recorder: Recorder) -> None:
        recorder.goes_on.clear()
        cancelled = asyncio.create_task(runtime.servers("app"))
        while not recorder.open["dump"]:
            await asyncio.sleep(0.001)
        cancelled.cancel()
        with suppress(asyncio.CancelledError):
            await cancelled
        await runtime.execute("add server app/new 127.0.0.1:9")
        await runtime.execute("set server app/new state maint")
        with pytest.raises(RuntimeAbsent, match="no answer within"):
            await runtime.servers("app")
        # Waits for the lock until its own time is over.
        with pytest.raises(RuntimeFailure):
            await runtime.execute("del server app/new")
        assert recorder.open["dump"] == 2 and not recorder.seen["deletion"]
        recorder.goes_on.set()
        while recorder.open["dump"] or not recorder.seen["deletion"]:
            with suppress(RuntimeFailure):
                await runtime.execute("del server app/new")

    recorder = recorded(haproxy, work, timeout=1.5)
    assert (recorder.seen["overlap"], recorder.seen["dump cut short"]) == (0, 0)


async def turns() -> None:
    """Every task that can go on does."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_dumps_pass_together_and_a_deletion_that_waits_is_next() -> None:
    order: list[str] = []

    def noted(name: str, until: asyncio.Event | None = None) -> Callable[[], Coroutine[Any, Any, None]]:
        async def work() -> None:
            order.append(name)
            if until:
                await until.wait()
            order.append(f"{name} ended")

        return work

    async def run() -> None:
        lock, dumped, deleted = DumpLock(), asyncio.Event(), asyncio.Event()
        first = [asyncio.create_task(lock.run(["show servers state"], noted(f"dump {number}", dumped))) for number in (1, 2)]
        await turns()
        deletion = asyncio.create_task(lock.run(["disable agent a/b", "del backend a"], noted("deletion", deleted)))
        await turns()
        late = asyncio.create_task(lock.run(["show errors"], noted("late")))
        await lock.run(["show stat"], noted("other"))
        dumped.set()
        await turns()
        deleted.set()
        await asyncio.gather(*first, deletion, late)

    asyncio.run(run())
    assert order[:4] == ["dump 1", "dump 2", "other", "other ended"]
    assert order[6:] == ["deletion", "deletion ended", "late", "late ended"]


def test_a_failure_passes_too_and_leaves_the_gate_open() -> None:
    async def failing() -> None:
        raise OSError("gone")

    async def run() -> None:
        lock = DumpLock()
        for command in ("show backend", "del server a/b", "show backend"):
            with pytest.raises(OSError, match="gone"):
                await lock.run([command], failing)

    asyncio.run(run())
