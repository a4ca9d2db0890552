"""A stored file through the commit: file and process, or neither; also where the process ended half-way."""

import asyncio
import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from haproxy_native.changes.file_operations import Drafted, FollowProcess, PutFile
from haproxy_native.commit.change import Change, Reload, Validation
from haproxy_native.commit.commit import commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.publication import resume
from haproxy_native.disk.file import ConfigFile
from haproxy_native.engine import Engine
from haproxy_native.errors import RefusedAtRuntime, RuntimeAbsent, RuntimeRefused, WriteFailed
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.request_context import NOBODY
from haproxy_native.runtime.client import Runtime
from tests.native.engines import UNKNOWN, run, running_engine

NOTHING = b"nothing"


@dataclass
class Process:
    """What a worker would have of one file; `refuses` content, or answers nothing where it is `gone`."""

    path: Path
    has: bytes | None = b"old"
    refuses: bytes | None = NOTHING
    gone: bool = False
    published: list[bytes | None] = field(default_factory=list)

    @property
    def texts(self) -> Sequence[str]:
        return ["set it"]

    async def apply(self, runtime: Runtime) -> None:
        content = content_of(self.path)
        self.published.append(content)
        if self.gone:
            raise RuntimeAbsent("nobody there")
        if content == self.refuses:
            raise RuntimeRefused("no such thing", "set it")
        self.has = content

    async def undo(self, runtime: Runtime) -> None:
        raise AssertionError("a single step is never taken back")


@dataclass
class OneFile:
    """A store whose worker takes contents."""

    process: Process
    name: str = "one"
    kind: str = "one"

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        return FilePlan([self.process], used=True)


class Full:
    """A system that runs out of space at the last moment."""

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)

    def replace(self, *_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def content_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def changing(tmp_path: Path, work) -> None:
    (tmp_path / "haproxy.cfg").write_text("global\n")
    path = tmp_path / "one.txt"
    path.write_bytes(b"old")

    async def test() -> None:
        async with running_engine(tmp_path) as engine:
            await work(engine, path, Process(path))

    run(test())


def change(path: Path, process: Process, content: bytes | None, **more) -> Change:
    draft = None if content is None else ConfigFile(path, path.parent).draft(content, UNKNOWN)
    return Change([PutFile(OneFile(process), path, draft)], validation=Validation.NEVER, **more, author=NOBODY)


@pytest.mark.parametrize("content", [b"new", None])
def test_file_and_process(tmp_path: Path, content: bytes | None) -> None:
    async def work(engine: Engine, path: Path, process: Process) -> None:
        assert (await commit(engine.context, change(path, process, content))).live
        assert process.has == content == content_of(path)
        assert not engine.context.ledger.entries

    changing(tmp_path, work)


@pytest.mark.parametrize("content", [b"new", None])
def test_or_neither(tmp_path: Path, content: bytes | None) -> None:
    async def work(engine: Engine, path: Path, process: Process) -> None:
        process.refuses = content
        with pytest.raises(RefusedAtRuntime, match="refused by HAProxy: no such thing"):
            await commit(engine.context, change(path, process, content))
        assert process.has == b"old" == content_of(path)
        assert not engine.context.ledger.entries
        assert engine.reloads.pending is None

    changing(tmp_path, work)


def test_when_nobody_knows_a_reload_decides(tmp_path: Path) -> None:
    async def work(engine: Engine, path: Path, process: Process) -> None:
        process.gone = True
        outcome = await commit(engine.context, change(path, process, b"new", reload=Reload.LATER))
        assert outcome.reload_id
        assert "it is unknown whether HAProxy has accepted one.txt: nobody there" in outcome.reasons[0].why
        assert (content_of(path), engine.context.ledger.waits) == (b"new", True)

    changing(tmp_path, work)


def test_a_file_may_be_changed_without_the_worker(tmp_path: Path) -> None:
    async def work(engine: Engine, path: Path, process: Process) -> None:
        outcome = await commit(engine.context, change(path, process, b"new", reload=Reload.NONE))
        assert (outcome.live, process.published, content_of(path)) == (False, [], b"new")
        await commit(engine.context, change(path, process, b"newer"))
        assert (process.has, engine.context.ledger.entries) == (b"newer", {})

    changing(tmp_path, work)


@pytest.mark.parametrize(
    ("reached", "refuses", "left"),
    [(False, NOTHING, b"old"), (True, NOTHING, b"new"), (True, b"new", b"old")],
    ids=["before", "finished", "undone"],
)
def test_what_a_crash_cut_off(tmp_path: Path, reached: bool, refuses: bytes, left: bytes) -> None:
    async def work(engine: Engine, path: Path, process: Process) -> None:
        process.refuses = refuses
        await engine.context.ledger.begin({path: "one"})
        if reached:
            write(path, b"new")
        await asyncio.to_thread(engine.context.ledger.open)
        engine.context.stores = {"one": OneFile(process)}
        await resume(engine.context)
        assert process.has == content_of(path) == left
        assert not engine.context.ledger.entries

    changing(tmp_path, work)


@pytest.mark.parametrize(("reached", "left"), [(0, b"old"), (1, b"old"), (2, b"new")])
def test_files_that_are_read_together_are_changed_together(tmp_path: Path, reached: int, left: bytes) -> None:
    """`reached`: how many of them a crash let through."""

    async def work(engine: Engine, path: Path, process: Process) -> None:
        key = tmp_path / "one.txt.key"
        key.write_bytes(b"old")
        drafts = {each: ConfigFile(each, tmp_path).draft(b"new", UNKNOWN) for each in (key, path)}
        await engine.context.ledger.begin(dict.fromkeys(drafts, "one"))
        for draft in list(drafts.values())[:reached]:
            draft.install()
        for draft in drafts.values():
            draft.discard()
        await asyncio.to_thread(engine.context.ledger.open)
        engine.context.stores = {"one": OneFile(process)}
        await resume(engine.context)
        assert (content_of(key), content_of(path), process.has) == (left, left, left)
        assert not engine.context.ledger.entries

    changing(tmp_path, work)


def test_none_of_them_is_changed_where_one_cannot_be(tmp_path: Path) -> None:
    async def work(engine: Engine, path: Path, process: Process) -> None:
        key = tmp_path / "one.txt.key"
        key.write_bytes(b"old")

        async def drafted() -> Drafted:
            drafts = {each: ConfigFile(each, tmp_path, system).draft(b"new", UNKNOWN) for each, system in ((key, os), (path, Full()))}
            return Drafted(drafts, dict.fromkeys(drafts, OneFile(process)))

        with pytest.raises(WriteFailed, match="make room"):
            await commit(engine.context, Change([FollowProcess("one/one.txt", drafted)], validation=Validation.NEVER, author=NOBODY))
        assert (content_of(key), content_of(path), process.published) == (b"old", b"old", [])
        assert not [name for name in os.listdir(tmp_path) if name.startswith(".one")]
        assert not engine.context.ledger.entries

    changing(tmp_path, work)


def test_after_a_crash_without_a_worker_a_reload_is_owed(tmp_path: Path) -> None:
    async def work(engine: Engine, path: Path, process: Process) -> None:
        process.gone = True
        await engine.context.ledger.begin({path: "one"})
        write(path, b"new")
        engine.context.stores = {"one": OneFile(process)}
        await resume(engine.context)
        assert engine.context.ledger.waits

    changing(tmp_path, work)
