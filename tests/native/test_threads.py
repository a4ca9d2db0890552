"""Run long computations in threads: the event loop continues, and their exceptions reach the caller."""

import asyncio
import os
import threading
from contextvars import ContextVar

import pytest

from haproxy_native.threads import run_in_thread, run_in_thread_if

named: ContextVar[str] = ContextVar("named", default="")


def test_the_loop_goes_on() -> None:
    async def work() -> None:
        done = threading.Event()
        waiting = asyncio.create_task(run_in_thread(done.wait, 30))
        await asyncio.sleep(0)
        assert not waiting.done()
        done.set()
        assert await waiting

    asyncio.run(work())


def test_context_and_errors() -> None:
    async def work() -> None:
        named.set("request")
        assert await run_in_thread(named.get) == "request"
        with pytest.raises(ZeroDivisionError):
            await run_in_thread(lambda: 1 // 0)

    asyncio.run(work())


def test_what_is_small_is_done_at_once() -> None:
    async def work() -> None:
        here = threading.get_ident()
        assert await run_in_thread_if(False, threading.get_ident) == here != await run_in_thread_if(True, threading.get_ident)

    asyncio.run(work())


def test_a_forked_process_has_threads_of_its_own() -> None:
    asyncio.run(run_in_thread(int))
    pid = os.fork()
    if not pid:
        os._exit(asyncio.run(asyncio.wait_for(run_in_thread(int, "7"), 60)))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_a_computation_that_raises_stop_iteration_ends() -> None:
    """A future accepts no StopIteration, and its awaiter would wait forever."""
    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(asyncio.wait_for(run_in_thread(next, iter(())), 60))
