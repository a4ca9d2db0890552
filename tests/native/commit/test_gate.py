"""What a change has to pass beside HAProxy's check: asked without the locks, about what is then published, and about nothing else."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from haproxy_native.access.rights import predefined, rights_of
from haproxy_native.changes.expect import Version
from haproxy_native.commit.change import Candidate
from haproxy_native.commit.ports import Observer
from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from haproxy_native.errors import BreaksTests, Forbidden
from haproxy_native.request_context import NOBODY, Author
from tests.native.engines import CONFIG, ByFunction, adding, running_engine, substituting


@dataclass
class Recording(Observer):
    """A gate that refuses what `refuses` says, and calls `meanwhile` once."""

    engine: Engine
    refuses: Callable[[Candidate], bool] = lambda candidate: False
    meanwhile: Callable[[], Awaitable[object]] | None = None
    asked: list[tuple[bytes, dict[str, bytes | None]]] = field(default_factory=list)
    is_wanted: bool = True
    wrong: Sequence[str] = ()

    def judges(self, by: Author) -> bool:
        return self.is_wanted

    async def judge(self, candidate: Candidate) -> Sequence[str]:
        assert not self.engine.context.lock.locked() and not self.engine.context.stored_lock.locked()
        files = {path.name: content.read_bytes() if content else None for path, content in candidate.files.items()}
        self.asked.append((candidate.after.data, files))
        if work := self.meanwhile:
            self.meanwhile, self.is_wanted = None, False
            try:
                await work()
            finally:
                self.is_wanted = True
        if self.refuses(candidate):
            raise BreaksTests("no")
        return self.wrong


def working(directory: Path, work: Callable[[Engine, Recording], Awaitable[None]]) -> None:
    async def run() -> None:
        async with running_engine(directory, directories={"maps": Directory(directory / "maps", "maps_dir")}) as engine:
            gate = Recording(engine)
            engine.context.observers.append(gate)
            await work(engine, gate)

    (directory / "haproxy.cfg").write_text(CONFIG.format(stats=directory / "s") % 1)
    asyncio.run(run())


def test_a_change_that_is_refused(tmp_path: Path) -> None:
    async def work(engine: Engine, gate: Recording) -> None:
        before, there = engine.document, sorted(os.listdir(tmp_path))
        gate.refuses = lambda candidate: True
        with pytest.raises(BreaksTests):
            await engine.write([ByFunction(adding("shop"))], Version(1), author=NOBODY)
        assert engine.document is before and engine.version() == 1 and sorted(os.listdir(tmp_path)) == there
        gate.refuses = lambda candidate: False
        await engine.write([ByFunction(adding("shop"))], Version(1), author=NOBODY)
        assert [b"backend shop" in text for text, _ in gate.asked] == [True, True] and engine.version() == 2

    working(tmp_path, work)


def test_it_is_asked_about_what_is_published(tmp_path: Path) -> None:
    async def work(engine: Engine, gate: Recording) -> None:
        gate.meanwhile = lambda: engine.amend([ByFunction(substituting("timeout client 5s", "timeout client 6s"))], author=NOBODY)
        await engine.amend([ByFunction(adding("shop"))], author=NOBODY)
        assert [b"timeout client 6s" in text for text, _ in gate.asked] == [False, True]
        assert b"timeout client 6s" in engine.document.data and b"backend shop" in engine.document.data

    working(tmp_path, work)


async def stored(engine: Engine, content: bytes, author: Author = NOBODY) -> None:
    upload = engine.stores["maps"].upload_new("paths.map", author=author)
    try:
        await upload.append(content)
        await upload.commit(engine.context)
    finally:
        upload.discard()


def test_a_stored_file(tmp_path: Path) -> None:
    async def work(engine: Engine, gate: Recording) -> None:
        gate.refuses = lambda candidate: True
        with pytest.raises(BreaksTests):
            await stored(engine, b"/a a\n")
        assert os.listdir(tmp_path / "maps") == []
        gate.refuses, gate.meanwhile = lambda candidate: False, lambda: engine.amend([ByFunction(adding("shop"))], author=NOBODY)
        await stored(engine, b"/b b\n")
        assert os.listdir(tmp_path / "maps") == ["paths.map"]
        asked = [(b"shop" in text, files["paths.map"]) for text, files in gate.asked]
        assert asked == [(False, b"/a a\n"), (False, b"/b b\n"), (True, b"/b b\n")], "the second on a configuration that was gone"
        await engine.stores["maps"].delete(engine.context, "paths.map", author=NOBODY)
        assert gate.asked[-1][1] == {"paths.map": None} and os.listdir(tmp_path / "maps") == []

    working(tmp_path, work)


def test_who_may_not_make_a_change_is_shown_no_tests(tmp_path: Path) -> None:
    async def work(engine: Engine, gate: Recording) -> None:
        ann = Author("ann", rights=rights_of([("viewer", predefined(())["viewer"])]))
        with pytest.raises(Forbidden):
            await stored(engine, b"/a a\n", ann)
        with pytest.raises(Forbidden):
            await engine.amend([ByFunction(adding("shop"))], author=ann)
        assert gate.asked == [] and not (tmp_path / "maps").exists()

    working(tmp_path, work)


def test_what_goes_back_is_not_asked_about(tmp_path: Path) -> None:
    async def work(engine: Engine, gate: Recording) -> None:
        gate.is_wanted = False
        await engine.amend([ByFunction(adding("shop"))], author=NOBODY)
        assert gate.asked == []

    working(tmp_path, work)
