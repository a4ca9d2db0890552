"""Long computations in threads: the loop goes on meanwhile, and what they raise arrives."""

import asyncio
import gc
import os
import threading
from contextvars import ContextVar

import pytest

from haproxy_native import beside as beside_module
from haproxy_native.beside import beside, beside_if

named: ContextVar[str] = ContextVar("named", default="")


def test_the_loop_goes_on() -> None:
    async def work() -> None:
        done = threading.Event()
        waiting = asyncio.create_task(beside(done.wait, 30))
        await asyncio.sleep(0)
        assert not waiting.done()
        done.set()
        assert await waiting

    asyncio.run(work())


def test_context_and_errors() -> None:
    async def work() -> None:
        named.set("request")
        assert await beside(named.get) == "request"
        with pytest.raises(ZeroDivisionError):
            await beside(lambda: 1 // 0)

    asyncio.run(work())


def test_what_is_small_is_done_at_once() -> None:
    async def work() -> None:
        here = threading.get_ident()
        assert await beside_if(False, threading.get_ident) == here != await beside_if(True, threading.get_ident)

    asyncio.run(work())


def test_a_forked_process_has_threads_of_its_own() -> None:
    asyncio.run(beside(int))
    pid = os.fork()
    if not pid:
        os._exit(asyncio.run(asyncio.wait_for(beside(int, "7"), 30)))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_no_garbage_is_collected_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection would hold the interpreter for as long as it takes."""
    # Work that an earlier test has left behind may still be under way.
    monkeypatch.setattr(beside_module, "_uncollected", beside_module._Uncollected())

    async def work() -> list[bool]:
        begun, done = threading.Event(), threading.Event()
        first = asyncio.create_task(beside(lambda: begun.set() or (done.wait(30) and gc.isenabled())))
        await asyncio.to_thread(begun.wait, 30)
        second = await beside(gc.isenabled)
        between = gc.isenabled()
        done.set()
        return [second, between, await first]

    gc.enable()
    assert asyncio.run(work()) == [False, False, False]
    assert gc.isenabled()
    gc.disable()
    try:
        asyncio.run(beside(int))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_garbage_of_small_computations_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is frozen would take its memory for minutes."""
    monkeypatch.setattr(beside_module, "_uncollected", beside_module._Uncollected())

    def cycle() -> None:
        ring: list[object] = []
        ring.append(ring)

    try:
        asyncio.run(beside(int))
        frozen = gc.get_freeze_count()
        for _ in range(1000):
            asyncio.run(beside(cycle))
        assert gc.get_freeze_count() <= frozen
    finally:
        gc.unfreeze()


def test_what_stays_is_left_out_of_collections_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside_module, "_uncollected", beside_module._Uncollected())
    try:
        gc.unfreeze()
        for _ in range(100):
            asyncio.run(beside(int))
        frozen = gc.get_freeze_count()
        assert frozen
        kept = asyncio.run(beside(lambda: [[] for _ in range(50_000)]))
        assert gc.get_freeze_count() > frozen + len(kept) - 1000
        monkeypatch.setattr(beside_module, "UNFROZEN_SECONDS", 0.0)
        asyncio.run(beside(int))
        assert not gc.get_freeze_count()
    finally:
        gc.unfreeze()
