"""docs/locks.md lists what is awaited under the locks of a commit; each kind of change is made with a real HAProxy and compared."""

import re
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.commit.change import Change, MemberChange, Reload, Validation
from haproxy_native.commit.commit import change_process, commit
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import ReloadFailed
from haproxy_native.features.overrides.overrides import Overrides
from haproxy_native.history.history import History
from haproxy_native.request_context import NOBODY
from haproxy_native.storage.live_lists import LiveMap
from haproxy_native.text.document import Document
from tests.native.commit.locked import NAMES, Awaited, watched
from tests.native.engines import ByFunction, reload, substituting
from tests.native.storage.live import Beside, beside, put

PAGE = Path(__file__).parents[3] / "docs" / "locks.md"
ORDER = tuple(NAMES.values())
BACKEND = b"\nbackend app\n  server s1 127.0.0.1:1 weight 10\n"


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory, haproxy_binary: str):
    with beside(tmp_path_factory.mktemp("maps"), haproxy_binary) as running:
        yield running


def with_text(text: bytes) -> ByFunction:
    return ByFunction(lambda document: Document.parse(document.data + text))


async def every_change(engine: Engine, live: LiveMap) -> None:
    """One of each kind: live, with a reload, in a file, in the process, of several at once, and one that HAProxy refuses to load."""

    await engine.write([with_text(BACKEND)], Version(engine.version()), reload=Reload.NOW, author=NOBODY)
    await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(engine.version()), author=NOBODY)
    await engine.write([with_text(b"\nbackend b\n")], Version(engine.version()), author=NOBODY)
    await reload(engine)
    await put(engine, "one 1\n")
    await live.set("one", "2")
    await live.add("three", "3", sync=True)
    id_ = engine.start_transaction(engine.version(), author=NOBODY).id
    store = engine.stores["maps"].within(engine.context.transactions, id_, author=NOBODY)
    upload = store.upload_new("new.map", author=NOBODY)
    await upload.append(b"a b\n")
    await upload.commit(engine.context)
    await engine.write([with_text(b"\nbackend c\n")], transaction_id=id_, author=NOBODY)
    await engine.commit_transaction(id_, author=NOBODY)

    async def drain() -> list[MemberChange]:
        await engine.runtime.send("set server app/s1 state drain")
        return []

    await change_process(engine.context, "backend/app/server/s1", drain, author=NOBODY)
    broken = Change([ByFunction(substituting("weight 20", "weight many"))], reload=Reload.NOW, validation=Validation.NEVER, author=NOBODY)
    with suppress(ReloadFailed):
        await commit(engine.context, broken)


@pytest.fixture(scope="module")
def awaited(maps: Beside) -> Awaited:
    found: list[Awaited] = []

    async def work(engine: Engine, live: LiveMap) -> None:
        with pytest.MonkeyPatch.context() as patch:
            # As if each document were large.
            patch.setattr("haproxy_native.threads.LARGE", -1)
            async with History(engine.context, engine.database), Overrides(engine, Editor()):
                with watched(engine, patch) as seen:
                    await every_change(engine, live)
        found.append(seen)

    maps.with_engine(work)
    return found[0]


def told(number: int) -> dict[str, tuple[str, ...]]:
    """What a table of the page says: the locks under which each of its first column's names is awaited."""
    table = PAGE.read_text().partition("## What may be awaited")[2].split("|---|---|---|\n")[number].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {name: tuple(under.split(", ")) for names, _, under in rows for name in re.findall(r"`([^`]+)`", names)}


@pytest.mark.parametrize(("number", "kind"), [(1, "threads"), (2, "commands")])
def test_nothing_else_is_awaited(awaited: Awaited, number: int, kind: str) -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for held, names in getattr(awaited, kind).items():
        for name in names:
            found[name].update(held)
    assert {name: tuple(lock for lock in ORDER if lock in held) for name, held in found.items()} == told(number)


def test_they_are_taken_in_order(awaited: Awaited) -> None:
    assert {ORDER, ORDER[1:], ORDER[2:]} <= {*awaited.order}
    assert all(list(taken) == sorted(taken, key=ORDER.index) for taken in awaited.order)
