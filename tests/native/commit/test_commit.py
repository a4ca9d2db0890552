"""A commit that is cut off anywhere leaves the old state or the new one: file, version and transactions."""

import asyncio
import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.editing import header
from haproxy_native.errors import NativeError, WriteFailed
from haproxy_native.request_context import NOBODY
from haproxy_native.text.document import Document
from tests.native.disk.failing import FailingSystem, fail_with, kill
from tests.native.engines import ByFunction, adding, checksum_fits, run, running_engine


async def started(directory: Path) -> None:
    """A managed file of version 2 and an open transaction."""
    (directory / "haproxy.cfg").write_text("global\n")
    async with running_engine(directory, backups_number=2) as engine:
        await engine.write([ByFunction(adding("first"))], Version(1), author=NOBODY)
        transaction = engine.start_transaction(2, author=NOBODY)
        await engine.write([ByFunction(adding("second"))], transaction_id=transaction.id, author=NOBODY)


@pytest.fixture
def prepared(tmp_path: Path) -> Callable[[int | str], Path]:
    """Return a copy of what `started` leaves, by its name."""
    template = tmp_path / "template"
    template.mkdir()
    run(started(template))
    return lambda name: Path(shutil.copytree(template, tmp_path / str(name)))


async def committed(directory: Path, system: FailingSystem) -> None:
    async with running_engine(directory, backups_number=2) as engine:
        engine.context.current.file.system = system
        await engine.commit_transaction(engine.transactions("in_progress", author=NOBODY)[0].id, author=NOBODY)


async def state(directory: Path) -> tuple[int, list[str], list[str]]:
    """Version, backends and open transactions, as a new server finds them; file and version agree."""
    async with running_engine(directory) as engine:
        data = engine.raw()
        assert checksum_fits(data)
        assert header.version_of(Document.parse(data)) == engine.version()
        assert not [name for name in os.listdir(directory) if name.startswith(".haproxy.cfg")]
        return (
            engine.version(),
            [name for name, _ in engine.document.of_kind("backend")],
            [one.status for one in engine.transactions(author=NOBODY)],
        )


def steps(directory: Path) -> int:
    system = FailingSystem()
    run(committed(directory, system))
    return len(system.calls)


def test_a_kill_at_any_step(prepared: Callable[[int | str], Path]) -> None:
    seen = []
    for at in range(steps(prepared("whole"))):
        directory = prepared(at)
        child = os.fork()
        if child == 0:
            try:
                run(committed(directory, FailingSystem(at, kill, half=True)))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        version, backends, _ = asyncio.run(state(directory))
        seen.append((version, backends))
    assert set(map(str, seen)) == {str((2, ["first"])), str((3, ["first", "second"]))}


def test_a_failure_at_any_step(prepared: Callable[[int | str], Path]) -> None:
    for at in range(steps(prepared("whole"))):
        directory = prepared(at)
        try:
            run(committed(directory, FailingSystem(at, fail_with(errno.EIO))))
            expected = (3, ["first", "second"], [])
        except WriteFailed:
            expected = (2, ["first"], ["in_progress"])
        assert asyncio.run(state(directory)) == expected, f"step {at}"


class Faults:
    """While `on`, call number `at` of those of the whole process that touch a disk fails; `count` is how many there were."""

    names = ("open", "write", "fsync", "replace", "rename", "unlink", "ftruncate", "fchmod", "fchown", "stat", "lstat", "mkdir")

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.on, self.at, self.count = False, -1, 0
        for name in self.names:
            monkeypatch.setattr(os, name, self._watched(getattr(os, name)))

    def _watched(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if self.on:
                self.count += 1
                if self.count - 1 == self.at:
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
            return real(*arguments, **options)

        return call


async def committed_with(faults: Faults, directory: Path) -> None:
    """File, memory and version agree, whatever fails; what was committed or promised before is there, and after a restart too."""
    async with running_engine(directory, backups_number=2, backups=directory / "backups") as engine:
        former, promised = engine.raw(), engine.reloads.pending
        failed = False
        faults.on = True
        try:
            await engine.commit_transaction(engine.transactions("in_progress", author=NOBODY)[0].id, author=NOBODY)
        except NativeError:
            failed = True
        finally:
            faults.on = False
        data, version = engine.raw(), engine.version()
        assert data == engine.document.data
        assert checksum_fits(data)
        assert (header.version_of(engine.document), engine.reloads.pending) == (version, promised)
        assert (data == former, version) == ((True, 2) if failed else (False, 3))
    async with running_engine(directory) as engine:
        assert (engine.raw(), engine.version(), engine.reloads.pending) == (data, version, promised)


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.soak)])
def test_a_failure_of_any_call_of_the_process(prepared: Callable[[int | str], Path], monkeypatch: pytest.MonkeyPatch, every: int) -> None:
    faults = Faults(monkeypatch)
    at = -1
    while at <= faults.count:
        directory = prepared(at)
        faults.at, faults.count = at, 0
        run(committed_with(faults, directory))
        at += every
    assert at > 30
