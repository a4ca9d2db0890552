"""How many shadows run, and how long."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from haproxy_native.access.rights import Rights
from haproxy_native.request_context import Author, Request
from haproxy_native.shadow import shadows
from haproxy_native.shadow.process import ShadowProcess
from haproxy_native.shadow.shadows import Shadows
from haproxy_native.shares import Account
from haproxy_native.text.document import Document

TEXT = "frontend a\n    mode http\n    timeout client 5s\n    bind :80\n    http-request return status {}\n"


class Started:
    """Stands for a shadow that runs. `close` ends when `go_on` is set."""

    is_spent = ended = False

    def __init__(self) -> None:
        self.closing, self.go_on, self.closed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def close(self) -> None:
        self.closing.set()
        await self.go_on.wait()
        self.closed.set()


def running(binary: str, home: Path, work: Callable[[Shadows], Awaitable[None]]) -> None:
    async def run() -> None:
        kept = Shadows(binary, home, list)
        try:
            await work(kept)
        finally:
            await kept.close()

    asyncio.run(run())


ROOT = Account("root")


def document(status: int) -> tuple[Document, bytes]:
    return Document.parse(TEXT.format(status)), b"%d" % status


def test_one_is_used_again(haproxy_binary: str, tmp_path: Path) -> None:
    async def work(kept: Shadows) -> None:
        async with kept.use(*document(200), caller=Account()) as one:
            pass
        async with kept.use(*document(200), caller=Account()) as again, kept.use(*document(404), caller=Account()) as other:
            assert again is one and other is not one
        await one._haproxy.end()
        async with kept.use(*document(200), caller=Account()) as new:
            assert new is not one and not new.ended

    running(haproxy_binary, tmp_path, work)


def test_few_run_at_once(haproxy_binary: str, tmp_path: Path) -> None:
    async def work(kept: Shadows) -> None:
        async with kept.use(*document(200), caller=ROOT) as first:
            async with kept.use(*document(404), caller=ROOT) as second:
                third = asyncio.create_task(kept.use(*document(403), caller=ROOT).__aenter__())
                await asyncio.sleep(0)
                assert not third.done()
            assert not (await third).ended
            assert second.ended and not first.ended

    running(haproxy_binary, tmp_path, work)


def test_a_caller_with_some_rights_has_one_text_at_a_time(haproxy_binary: str, tmp_path: Path) -> None:
    """Another with all rights waits for none of its texts, and whoever uses the same text goes along."""

    async def work(kept: Shadows) -> None:
        def ask(name: str, status: int, rights: Rights | None = None) -> AbstractAsyncContextManager[ShadowProcess]:
            return kept.use(*document(status), caller=Account.from_author(Author(name, request=Request(), group="users", rights=rights)))

        async with ask("ann", 200, Rights()) as first:
            tasks = [asyncio.create_task(ask(name, status, Rights()).__aenter__()) for name, status in (("ann", 404), ("ben", 403))]
            await asyncio.sleep(0)
            async with ask("ben", 200, Rights()) as again, ask("root", 500) as other:
                assert again is first and not other.ended and not any(task.done() for task in tasks)
        # The slots were released, and both have their turn.
        done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert len(done) == 1 and not done.pop().result().ended
        waiting.pop().cancel()

    running(haproxy_binary, tmp_path, work)


def test_an_idle_one_ends(haproxy_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadows, "IDLE_SECONDS", 0.05)

    async def work(kept: Shadows) -> None:
        async with kept.use(*document(200), caller=Account()) as one:
            await asyncio.sleep(0.2)
            assert not one.ended
        async with asyncio.timeout(60):
            while not one.ended:
                await asyncio.sleep(0.01)

    running(haproxy_binary, tmp_path, work)


def test_one_that_makes_room_ends_although_the_caller_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Started] = []

    async def start(*_: object, **__: object) -> Started:
        started.append(Started())
        return started[-1]

    monkeypatch.setattr(shadows, "start", start)

    async def work(kept: Shadows) -> None:
        async with asyncio.timeout(60):
            for status in range(shadows.MOST):
                async with kept.use(*document(status), caller=Account()):
                    pass
            asks = asyncio.create_task(kept.use(*document(404), caller=Account()).__aenter__())
            await started[0].closing.wait()
            asks.cancel()
            await asyncio.wait([asks])
            for each in started:
                each.go_on.set()
            await started[0].closed.wait()

    running("", tmp_path, work)


def test_one_that_starts_ends_with_the_last_who_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts, ended = asyncio.Event(), asyncio.Event()

    async def start(*_: object, **__: object) -> Started:
        try:
            starts.set()
            await asyncio.Event().wait()
        finally:
            ended.set()
        return Started()

    monkeypatch.setattr(shadows, "start", start)

    async def work(kept: Shadows) -> None:
        async with asyncio.timeout(60):
            asks = [asyncio.create_task(kept.use(*document(200), caller=Account()).__aenter__()) for _ in range(2)]
            await starts.wait()
            asks[0].cancel()
            await asyncio.wait([asks[0]])
            assert not ended.is_set()
            asks[1].cancel()
            await ended.wait()

    running("", tmp_path, work)
