"""Each version of the configuration and of a stored file, restored in random order, has the bytes of its time, also after restarts."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from haproxy_native.changes.file_operations import PutFile
from haproxy_native.commit.change import Change, Validation
from haproxy_native.commit.commit import commit
from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from haproxy_native.history.history import History
from haproxy_native.history.journal import Limits
from haproxy_native.history.reverting import Reverter
from haproxy_native.request_context import NOBODY
from tests.native.engines import push, run, running_engine

LINES = (
    b"  server s%d 127.0.0.1:%d\n",
    b"\t# caf\xc3\xa9 %d %d\n",
    b"# not UTF-8 \xff %d %d\n",
    b"  option httpchk  GET  /%d%d\r\n",
    b"\n%.0d%.0d",
)
RESTART = 500


@asynccontextmanager
async def _engine(directory: Path, entries: int) -> AsyncIterator[tuple[Engine, History, Reverter]]:
    general = Directory(directory / "general", "general_storage_dir")
    async with (
        running_engine(directory, directories={"general": general}) as engine,
        History(engine.context, engine.database, Limits(entries=entries)) as history,
    ):
        yield engine, history, Reverter(history, engine, {})


def _edited(lines: list[bytes], chance: random.Random) -> list[bytes]:
    """The lines with some at one place replaced: by up to two, so that their number stays near 60."""
    place, number = chance.randrange(len(lines) + 1), chance.randrange(3 if len(lines) < 60 else 2)
    new = [chance.choice(LINES) % (chance.randrange(9999), chance.randrange(9999)) for _ in range(number)]
    return lines[:place] + new + lines[place + chance.randrange(3) :]


@pytest.mark.parametrize("versions", [40, pytest.param(10_000, marks=pytest.mark.soak)])
def test_each_version_is_restored_byte_for_byte(tmp_path: Path, versions: int) -> None:
    chance = random.Random(versions)
    file = tmp_path / "general" / "a.http"
    file.parent.mkdir()
    path = tmp_path / "haproxy.cfg"
    path.write_bytes(b"global\n")
    moments: dict[int, tuple[bytes, bytes | None]] = {}

    def found() -> tuple[bytes, bytes | None]:
        """The text below the header, and the file."""
        return path.read_bytes().partition(b"global\n")[2], file.read_bytes() if file.exists() else None

    async def write(number: int) -> None:
        async with _engine(tmp_path, 3 * versions) as (engine, history, _):
            lines = path.read_bytes().partition(b"backend b\n")[2].splitlines(keepends=True)
            for _ in range(number):
                if chance.random() < 0.2:
                    store = engine.stores["general"]
                    put = PutFile(store, file, store.draft(file, chance.randbytes(chance.randrange(300))))
                    await commit(engine.context, Change([put], validation=Validation.NEVER, author=NOBODY))
                else:
                    lines = _edited(lines, chance)
                    await push(engine, b"global\nbackend b\n" + b"".join(lines), keeps_version=True)
                entry = await history.ask(lambda journal: journal.last)
                moments[entry] = found()

    async def restore(entries: list[int]) -> None:
        async with _engine(tmp_path, 3 * versions) as (_, _, back):
            for entry in entries:
                await back.restore(entry, author=NOBODY)
                assert found() == moments[entry], f"entry {entry}"

    for place in range(0, versions, step := min(RESTART, versions // 2)):
        run(write(min(step, versions - place)))
    assert len(moments) > versions * 0.9
    order = list(moments)
    chance.shuffle(order)
    for place in range(0, len(order), step):
        run(restore(order[place : place + step]))
