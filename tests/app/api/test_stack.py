"""The layers of a request: work without a client ends, in its task and in its thread."""

import asyncio
import threading

import pytest

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.exchange import Exchange
from dataplaneapi.api.stack import while_connected
from dataplaneapi.auth.caller import CallAuthor
from haproxy_native.abandonment import check
from haproxy_native.request_context import Request
from haproxy_native.threads import THREADS, computations, run_in_thread
from tests.app.client import bare_exchange


def exchange(author: CallAuthor | None = None) -> Exchange:
    made = bare_exchange()
    made.author = author
    return made


def leave(exchange: Exchange) -> None:
    """The client of an exchange leaves; it has a hook for that."""
    assert exchange.when_gone
    exchange.when_gone()


async def work(result: int) -> int:
    await asyncio.sleep(0)
    return result


def test_the_result_of_the_work() -> None:
    given = exchange()
    assert asyncio.run(while_connected(given, work(7))) == 7
    assert given.when_gone is None


def test_errors_of_the_work() -> None:
    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(while_connected(exchange(), fails()))


def test_a_task_that_is_cancelled_otherwise() -> None:
    async def run() -> None:
        task = asyncio.create_task(while_connected(exchange(), asyncio.Event().wait()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_a_client_that_leaves() -> None:
    """Computations that run end between two pieces, those that wait never begin, and their threads serve others."""
    begun, ended, stop = threading.Semaphore(0), threading.Semaphore(0), threading.Event()

    def compute() -> None:
        begun.release()
        try:
            while not stop.wait(0):
                check()
        finally:
            ended.release()

    async def run() -> None:
        root = CallAuthor("root", group="users", request=Request())
        each = [exchange(root) for _ in range(THREADS + 3)]
        tasks = [asyncio.create_task(while_connected(given, run_in_thread(compute))) for given in each]
        for _ in range(THREADS):
            await asyncio.to_thread(begun.acquire)
        is_full = len(computations().held) == THREADS
        for given in each:
            leave(given)
        await asyncio.wait(tasks)
        assert is_full and all(isinstance(task.exception(), ApiError) for task in tasks)
        for _ in range(THREADS):
            await asyncio.to_thread(ended.acquire)
        assert not begun.acquire(blocking=False)
        while computations().held:
            await asyncio.sleep(0)
        assert await while_connected(exchange(), run_in_thread(int, "7")) == 7

    try:
        asyncio.run(run())
    finally:
        stop.set()


def test_what_others_wait_for_goes_on() -> None:
    """A task of its own that a request has begun does not end with it."""

    async def run() -> None:
        given = exchange()
        shared: list[asyncio.Task[int]] = []
        go_on = threading.Event()

        def compute() -> int:
            go_on.wait(60)
            check()
            return 7

        async def begin() -> None:
            shared.append(asyncio.create_task(run_in_thread(compute)))
            await asyncio.shield(shared[0])

        task = asyncio.create_task(while_connected(given, begin()))
        while not shared:
            await asyncio.sleep(0)
        leave(given)
        with pytest.raises(ApiError):
            await task
        go_on.set()
        assert await shared[0] == 7

    asyncio.run(run())


def test_a_cleanup_is_not_interrupted() -> None:
    """The client is reported gone twice: when its answer is given up, and when the connection then closes."""

    async def run() -> None:
        given = exchange()
        begun, cleans, go_on, cleaned = asyncio.Event(), asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def work() -> None:
            try:
                begun.set()
                await asyncio.Event().wait()
            finally:
                cleans.set()
                await go_on.wait()
                cleaned.set()

        async def serve() -> int:
            with pytest.raises(ApiError):
                await while_connected(given, work())
            task = asyncio.current_task()
            assert task
            return task.cancelling()

        task = asyncio.create_task(serve())
        await begun.wait()
        leave(given)
        await cleans.wait()
        leave(given)
        await asyncio.sleep(0)
        go_on.set()
        assert await task == 0
        assert cleaned.is_set()

    asyncio.run(run())
