"""What the process is brought to while it loads another text, and ahead of the file."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.changes.operations import PutText
from haproxy_native.check.check import CheckSettings
from haproxy_native.commit import process
from haproxy_native.commit.change import Change, Reload, Validation
from haproxy_native.commit.commit import commit, prepare
from haproxy_native.commit.events import Event, Validated
from haproxy_native.engine import Engine
from haproxy_native.errors import Conflict, Refused, WriteFailed
from haproxy_native.planning.outcome import Reason
from haproxy_native.planning.servers import Fixed
from haproxy_native.process_state import Doubted, Drifted
from haproxy_native.request_context import NOBODY
from haproxy_native.text.document import Document
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, ByFunction, adding, reload, run, running_engine, substituting, weight

LIGHT = substituting("weight 10", "weight 77")


async def is_live(engine: Engine, edit: Callable[[Document], Document], **more: Any) -> bool:
    context, before = engine.context, engine.document
    assert context.load
    return await process.is_live(context, context.load, Change([ByFunction(edit)], **more, author=NOBODY), before, edit(before))


def test_only_live_changes_are_made_while_haproxy_loads(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine, engine.loading():
            assert await is_live(engine, LIGHT)
            assert not await is_live(engine, adding("more"))
            assert not await is_live(engine, lambda document: document)
            assert not await is_live(engine, LIGHT, reload=Reload.NOW)
            before, after = engine.document, LIGHT(engine.document)
            assert not await process.is_live(
                engine.context, engine.context.load, Change([PutText("", after)], author=NOBODY), before, after
            )
            engine.context.running.step(Doubted(Reason("a test")))
            assert not await is_live(engine, LIGHT)

    run(work())


def test_a_worker_gets_what_its_predecessor_did(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            wanted = LIGHT(engine.document)
            assert await process.apply_missing(engine.context, wanted) == []
            assert (weight(haproxy), engine.running) == ("77", wanted)
            (reason,) = await process.apply_missing(engine.context, adding("more")(wanted))
            assert reason.why
            assert engine.running is wanted

    run(work())


class Checks:
    """Counts how often HAProxy was asked about a text."""

    def __init__(self, engine: Engine) -> None:
        self.count = 0
        engine.context.events.listen(self._take)

    def _take(self, event: Event) -> None:
        self.count += isinstance(event, Validated)


def both(document: Document) -> Document:
    """Other weights for two servers."""
    return substituting("server s2 127.0.0.1:2", "server s2 127.0.0.1:2 weight 5")(LIGHT(document))


def of_second(haproxy: HAProxy) -> str:
    return haproxy.ask_master("@1 get weight app/s2").split()[0]


@pytest.fixture
def two(tmp_path: Path, haproxy_binary: str) -> Iterator[HAProxy]:
    """With a second server, and only HAProxy's own word that the file is accepted."""
    config = CONFIG % free_port() + "  server s2 127.0.0.1:2\n"
    with HAProxy(tmp_path, config, binary=haproxy_binary) as haproxy:
        yield haproxy


def test_a_weight_is_not_checked(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            checks = Checks(engine)
            outcome = await engine.write([ByFunction(LIGHT)], Version(1), author=NOBODY)
            assert (outcome.live, outcome.version, weight(haproxy), checks.count) == (True, 2, "77", 0)
            assert "weight 77" in haproxy.file.read_text()
            assert engine.context.running.is_current
            await engine.write([ByFunction(substituting("weight 77", "weight 78 # new"))], Version(2), author=NOBODY)
            assert (weight(haproxy), checks.count) == ("78", 1)
        async with running_engine(haproxy.directory, haproxy) as engine:
            checks = Checks(engine)
            assert (await engine.write([ByFunction(substituting("weight 78", "weight 79"))], Version(3), author=NOBODY)).live
            assert checks.count == 0

    run(work())


async def checks_of(haproxy: HAProxy, engine: Engine, **more: bool) -> int:
    checks = Checks(engine)
    await commit(engine.context, Change([ByFunction(LIGHT)], **more, author=NOBODY))
    assert (weight(haproxy), "weight 77" in haproxy.file.read_text()) == ("77", True)
    return checks.count


@pytest.mark.parametrize("more", [{"validation": Validation.ALWAYS}, {"reload": Reload.NOW}])
def test_a_change_that_asks_for_more_is_checked(haproxy: HAProxy, more: dict[str, bool]) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            assert await checks_of(haproxy, engine, **more) == 1

    run(work())


def test_a_command_of_the_operators_is_always_run(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy, check=CheckSettings(command="true")) as engine:
            assert await checks_of(haproxy, engine) == 1

    run(work())


@pytest.mark.parametrize("what", ["waits", "doubt", "drift", "edited"])
def test_a_process_that_does_otherwise_judges_nothing(haproxy: HAProxy, what: str) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            running = engine.context.running
            if what == "waits":
                await engine.write([ByFunction(adding("more"))], Version(1), author=NOBODY)
            elif what == "doubt":
                running.step(Doubted(Reason("a test")))
            elif what == "drift":
                running.step(Drifted("app/s1", "10", "20"))
            else:
                haproxy.file.write_text(haproxy.file.read_text() + "# by hand\n")
                await engine.notice()
            assert not process.may_judge(engine.context, Change([ByFunction(LIGHT)], author=NOBODY), engine.document)
            assert (await prepare(engine.context, Change([ByFunction(LIGHT)], author=NOBODY))).plan is None

    run(work())


def of_refusing(haproxy: HAProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend whose servers' weights HAProxy changes only by a reload, which no plan knows beforehand."""
    monkeypatch.setattr("haproxy_native.planning.plan.fixed", lambda *_: Fixed())
    haproxy.stop()
    with haproxy.file.open("a") as file:
        file.write("backend fixed from base\n  balance static-rr\n  server s3 127.0.0.1:3 weight 30\n")
    haproxy.start()


def test_what_is_refused_is_taken_back_and_judged_by_a_check(two: HAProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    of_refusing(two, monkeypatch)

    def edit(document: Document) -> Document:
        return substituting("weight 30", "weight 33")(both(document))

    async def work() -> None:
        async with running_engine(two.directory, two) as engine:
            before = two.file.read_bytes()
            genuine, engine.context.check = engine.context.check, replace(engine.context.check, binary="false")
            with pytest.raises(Refused):
                await engine.write([ByFunction(edit)], Version(1), author=NOBODY)
            assert (two.file.read_bytes(), weight(two), of_second(two), engine.context.pending) == (before, "10", "1", None)
            assert engine.context.running.is_current
            engine.context.check = genuine
            outcome = await engine.write([ByFunction(edit)], Version(1), author=NOBODY)
            assert outcome.reload_id
            assert "static LB algorithm" in str(outcome.reasons[0])
            assert (await reload(engine)).status == "succeeded"
            assert (weight(two), of_second(two)) == ("77", "5")

    run(work())


def test_a_process_that_cannot_be_brought_back_is_reloaded(two: HAProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has lost the second of two servers since the plan."""
    monkeypatch.setattr("haproxy_native.commit.process.observable", lambda *_: set())

    async def work() -> None:
        async with running_engine(two.directory, two) as engine:
            two.ask("set server app/s2 state maint")
            assert "deleted" in two.ask("del server app/s2")
            before = two.file.read_bytes()
            engine.context.check = replace(engine.context.check, binary="false")
            with pytest.raises(Refused):
                await engine.write([ByFunction(both)], Version(1), author=NOBODY)
            assert (two.file.read_bytes(), weight(two)) == (before, "10")
            assert engine.context.pending
            assert (await reload(engine)).status == "succeeded"
            assert (weight(two), of_second(two)) == ("10", "1")

    run(work())


class Edited:
    """`os`, but for another process that edits the file after the commands were sent, or a disk that is full by then."""

    def __init__(self, file: Path, *, full: bool) -> None:
        self.file, self.full = file, full

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)

    def fsync(self, handle: int) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "no space left on device")
        self.file.write_text(self.file.read_text() + "# by hand\n")
        os.fsync(handle)


@pytest.mark.parametrize("full", [True, False])
def test_the_commands_are_taken_back_where_the_file_cannot_be_replaced(two: HAProxy, full: bool) -> None:
    async def work() -> None:
        async with running_engine(two.directory, two) as engine:
            engine.context.current.file.system = Edited(two.file, full=full)
            with pytest.raises(WriteFailed if full else Conflict):
                await engine.write([ByFunction(both)], Version(1), author=NOBODY)
            engine.context.current.file.system = os
            assert (weight(two), of_second(two), engine.context.pending) == ("10", "1", None)
            assert "weight 77" not in two.file.read_text()
            assert engine.context.running.reasons() == []

    run(work())


def test_a_worker_that_ends_with_its_commands(two: HAProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """HAProxy is restarted between the commands and the file: then the new worker is brought to the file as any other."""

    async def work() -> None:
        async with running_engine(two.directory, two) as engine:
            genuine, context = engine.context.observe, engine.context

            async def observe() -> None:
                if context.running.is_trying and weight(two) == "77":
                    two.kill()
                    two.start()
                await genuine()

            monkeypatch.setattr(context, "observe", observe)
            assert (await engine.write([ByFunction(both)], Version(1), author=NOBODY)).live
            assert (weight(two), of_second(two)) == ("77", "5")
            assert context.running.is_current

    run(work())


@pytest.mark.parametrize("replaced", [False, True])
def test_a_kill_between_the_commands_and_what_follows(two: HAProxy, replaced: bool) -> None:
    """The next engine reloads, and goes back to no earlier text if that fails."""

    async def work() -> None:
        async with running_engine(two.directory, two) as engine:
            assert (await engine.write([ByFunction(substituting("weight 10", "weight 11"))], Version(1), author=NOBODY)).live
            context = engine.context
            prepared = await prepare(context, Change([ByFunction(substituting("weight 11", "weight 77"))], author=NOBODY))
            assert prepared.plan and prepared.text
            with suppress(KeyboardInterrupt):
                async with process.sending_commands(context, prepared.plan, prepared.before, prepared.text.stamped):
                    assert weight(two) == "77"
                    if replaced:
                        await context.current.install(prepared.text.stamped, prepared.text.draft, prepared.text.banner)
                    raise KeyboardInterrupt
            prepared.discard()
        async with running_engine(two.directory, two) as engine:
            assert engine.running is None
            assert engine.context.pending
            good = engine.context.running.last_good
            assert good
            assert good.text == engine.document.text
            assert (await reload(engine)).status == "succeeded"
            assert weight(two) == ("77" if replaced else "11")
            assert engine.context.running.is_current

    run(work())
