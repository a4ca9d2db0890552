"""A commit that is cut off anywhere leaves the old state or the new one: file, version and transactions."""

import asyncio
import errno
import os
from pathlib import Path

import pytest

from native.apply.commit import Change
from native.config import header
from native.errors import Conflict, WriteFailed
from native.text.document import Document
from tests.native.config.failing import FailingSystem, fail_with, kill
from tests.native.engines import adding, run, running_engine


async def started(directory: Path) -> None:
    """A managed file of version 2 and an open transaction."""
    (directory / "haproxy.cfg").write_text("global\n")
    async with running_engine(directory, backups_number=2) as engine:
        await engine.write(adding("first"), version=1)
        transaction = engine.start_transaction(2)
        await engine.write(adding("second"), transaction_id=transaction.id)


async def committed(directory: Path, system: FailingSystem) -> None:
    async with running_engine(directory, backups_number=2) as engine:
        engine.site.current.file.system = system
        await engine.commit_transaction(engine.transactions("in_progress")[0].id)


async def state(directory: Path) -> tuple[int, list[str], list[str]]:
    """Version, backends and open transactions, as a new server finds them; file and version agree."""
    async with running_engine(directory) as engine:
        data = engine.raw()
        assert header.checksum_fits(data)
        assert header.version_of(Document.parse(data)) == engine.version()
        assert not [name for name in os.listdir(directory) if name.startswith(".haproxy.cfg")]
        return engine.version(), [name for name, _ in engine.document.of_kind("backend")], [one.status for one in engine.transactions()]


def steps(directory: Path) -> int:
    directory.mkdir()
    run(started(directory))
    system = FailingSystem()
    run(committed(directory, system))
    return len(system.calls)


def test_a_kill_at_any_step(tmp_path: Path) -> None:
    seen = []
    for at in range(steps(tmp_path / "whole")):
        directory = tmp_path / str(at)
        directory.mkdir()
        run(started(directory))
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


def test_a_failure_at_any_step(tmp_path: Path) -> None:
    for at in range(steps(tmp_path / "whole")):
        directory = tmp_path / str(at)
        directory.mkdir()
        run(started(directory))
        try:
            run(committed(directory, FailingSystem(at, fail_with(errno.EIO))))
            told = (3, ["first", "second"], [])
        except WriteFailed:
            told = (2, ["first"], ["in_progress"])
        assert asyncio.run(state(directory)) == told, f"step {at}"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Change(lambda document: document, version=4), "version in configuration file is 5, given version is 4"),
        (
            Change(lambda document: document, version=4, transaction_id="x"),
            "version mismatch, transaction version: 4, configured version: 5",
        ),
    ],
)
def test_who_comes_too_late(change: Change, text: str) -> None:
    with pytest.raises(Conflict) as caught:
        change.compare(5)
    assert caught.value.detail == text
    change.compare(4)
    Change(lambda document: document).compare(5)
