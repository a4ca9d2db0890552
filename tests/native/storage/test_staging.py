"""Stored files in a transaction, beside a real HAProxy: unseen until the commit, and then there with the text."""

import os
from typing import Any

import pytest

from haproxy_native.access.rights import AccessRule, Rights
from haproxy_native.disk.database import State
from haproxy_native.engine import Engine
from haproxy_native.errors import Conflict, Exists, Forbidden, InUse, Missing, NoTransaction
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.storage.store import Store
from tests.haproxy.process import HAProxy
from tests.native.commit import test_file_set
from tests.native.commit.test_file_set import FILES, beside, held, shown, swapped
from tests.native.engines import ByFunction

haproxy = test_file_set.haproxy


def within(engine: Engine, id_: str, store: str = "maps", author: Author = NOBODY) -> Store:
    return engine.stores[store].within(engine.context.transactions, id_, author)


async def put(engine: Engine, id_: str, name: str, data: bytes, *, new: bool = False, author: Author = NOBODY) -> None:
    store = within(engine, id_, author=author)
    upload = store.upload_new(name, author) if new else store.upload_existing(name, author)
    try:
        await upload.append(data)
        await upload.commit(engine.context)
    finally:
        upload.discard()


async def staged(engine: Engine) -> str:
    """A transaction that swaps a map for a new one, with the line that names it."""
    id_ = engine.start_transaction(engine.version(), author=NOBODY).id
    await put(engine, id_, "new.map", b"n 1\n", new=True)
    await put(engine, id_, "hosts.map", b"a 2\n")
    await within(engine, id_).delete(engine.context, "old.map", author=NOBODY)
    await engine.write([ByFunction(swapped)], transaction_id=id_, author=NOBODY)
    return id_


def stored(state: State) -> list[str]:
    """The transactions that have staged files."""
    return [id_ for (id_,) in state.keys.execute("SELECT DISTINCT id FROM staged_file")]


AFTER = {name: data for name, data in (FILES | {"maps/hosts.map": b"a 2\n", "maps/new.map": b"n 1\n"}).items() if name != "maps/old.map"}


def test_nothing_is_written_before_the_commit_and_all_of_it_then(haproxy: HAProxy) -> None:
    async def work(engine: Engine) -> None:
        id_ = await staged(engine)
        assert held(haproxy) == FILES and engine.version() == 1
        seen = within(engine, id_)
        assert [path.name for path in seen.files()] == ["hosts.map", "new.map"]
        assert (seen.content(seen.find("new.map")), seen.content(seen.find("hosts.map"))) == (b"n 1\n", b"a 2\n")
        with pytest.raises(Missing):
            seen.find("old.map")
        with pytest.raises(Exists):
            seen.upload_new("new.map", author=NOBODY)
        preview = await engine.plan_transaction(id_, author=NOBODY)
        assert preview.diff and preview.valid, preview
        _, outcome = await engine.commit_transaction(id_, author=NOBODY)
        assert held(haproxy) == AFTER and outcome.version == 2 and "new.map" in haproxy.file.read_text()
        assert await engine.database.run(stored) == []

    beside(haproxy, work)


def test_it_survives_a_restart_and_a_rollback_discards_it(haproxy: HAProxy) -> None:
    ids: list[str] = []

    async def start(engine: Engine) -> None:
        ids.extend([await staged(engine), await staged(engine)])

    async def end(engine: Engine) -> None:
        engine.delete_transaction(ids[0], author=NOBODY)
        with pytest.raises(NoTransaction):
            within(engine, ids[0])
        assert await engine.database.run(stored) == [ids[1]]
        await engine.commit_transaction(ids[1], author=NOBODY)
        assert held(haproxy) == AFTER

    beside(haproxy, start)
    beside(haproxy, end)


def test_a_file_that_another_client_has_changed_is_a_conflict(haproxy: HAProxy) -> None:
    async def work(engine: Engine) -> None:
        id_ = await staged(engine)
        (haproxy.directory / "maps" / "hosts.map").write_bytes(b"theirs 1\n")
        with pytest.raises(Conflict, match="hosts.map was also changed by a later commit"):
            await engine.commit_transaction(id_, author=NOBODY)
        assert held(haproxy) == FILES | {"maps/hosts.map": b"theirs 1\n"} and engine.version() == 1

    beside(haproxy, work)


def test_a_file_that_the_text_names_does_not_go(haproxy: HAProxy) -> None:
    async def work(engine: Engine) -> None:
        id_ = engine.start_transaction(1, author=NOBODY).id
        await within(engine, id_).delete(engine.context, "old.map", author=NOBODY)
        with pytest.raises(InUse):
            await engine.commit_transaction(id_, author=NOBODY)
        assert held(haproxy) == FILES

    beside(haproxy, work)


def test_rights_are_asked_when_it_is_staged_and_at_the_commit(haproxy: HAProxy) -> None:
    async def work(engine: Engine) -> None:
        id_ = engine.start_transaction(1, author=NOBODY).id
        await put(engine, id_, "hosts.map", b"a 2\n")
        rules = [AccessRule(objects, frozenset(("change",))) for objects in ("map/old.map", "transaction/*", "backend/*")]
        other = Rights(("some",), tuple(rules))
        by = Author("other", rights=other)
        with pytest.raises(Forbidden):
            await put(engine, id_, "hosts.map", b"a 3\n", author=by)
        with pytest.raises(Forbidden):
            await engine.commit_transaction(id_, author=by)
        assert held(haproxy) == FILES

    beside(haproxy, work)


@pytest.mark.parametrize("every", [test_file_set.SOME, pytest.param(test_file_set.ALL, marks=pytest.mark.soak)], ids=["some", "all"])
def test_killed_at_every_step_of_the_commit(haproxy: HAProxy, every: int) -> None:
    """Before a write of a file, or a command: text and files are both there, or both not."""
    found = set[bool]()
    before = haproxy.file.read_text()
    for step in range(0, test_file_set.STEPS, every):
        is_done = _killed(haproxy, step)
        beside(haproxy, test_file_set._settled)
        is_new = "new.map" in haproxy.file.read_text()
        found.add(is_new)
        assert held(haproxy) == (AFTER if is_new else FILES), step
        assert shown(haproxy, "hosts.map").encode() == held(haproxy)["maps/hosts.map"], step
        if is_done:
            break
        if is_new:
            beside(haproxy, lambda engine: test_file_set._put_back(engine, before))
            beside(haproxy, test_file_set._settled)
    assert is_done and found == {False, True}


def _killed(haproxy: HAProxy, step: int) -> bool:
    """True if the commit came to its end before so many steps."""

    async def work(engine: Engine) -> Any:
        id_ = await staged(engine)
        test_file_set._kill_at(step)
        await engine.commit_transaction(id_, author=NOBODY)
        os._exit(0)

    if not (pid := os.fork()):
        beside(haproxy, work)
        os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def test_what_no_transaction_owns_any_more_goes_at_the_start(haproxy: HAProxy) -> None:
    async def work(engine: Engine) -> None:
        id_ = await staged(engine)
        await engine.database.run(lambda state: state.execute("DELETE FROM open_transaction"))
        assert await engine.database.run(stored) == [id_]

    async def again(engine: Engine) -> None:
        assert await engine.database.run(stored) == []

    beside(haproxy, work)
    beside(haproxy, again)
