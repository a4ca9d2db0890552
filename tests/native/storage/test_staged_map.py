"""Entries of a map in a transaction: in its file and in the process with the commit."""

import pytest

from haproxy_native.engine import Engine
from haproxy_native.errors import BadValue, Exists, Missing, NotFound
from haproxy_native.request_context import NOBODY
from haproxy_native.storage.list_store import MapStore
from haproxy_native.storage.live_lists import LiveMap, stored_map
from tests.haproxy.process import HAProxy
from tests.native.commit import test_file_set
from tests.native.commit.test_file_set import FILES, beside, held, shown

haproxy = test_file_set.haproxy


def opened(engine: Engine, id_: str, name: str = "hosts.map") -> LiveMap:
    store = engine.stores["maps"].within(engine.context.transactions, id_, author=NOBODY)
    assert isinstance(store, MapStore)
    return stored_map(engine.context, store, store.directory / name, NOBODY)


def test_entries_change_at_the_commit(haproxy: HAProxy) -> None:
    async def work(engine: Engine) -> None:
        id_ = engine.start_transaction(1, author=NOBODY).id
        entries = opened(engine, id_)
        await entries.add("b", "2")
        await entries.add("c", "3")
        await entries.set("a", "9")
        await entries.delete("b")
        assert [(each.key, each.value) for each in await entries.entries()] == [("a", "9"), ("c", "3")]
        assert (held(haproxy), shown(haproxy, "hosts.map")) == (FILES, "a 1\n")
        with pytest.raises(Exists):
            await entries.add("c", "4")
        with pytest.raises(NotFound):
            await entries.set("b", "4")
        with pytest.raises(NotFound):
            await entries.delete("b")
        assert await entries.entry("b") is None
        with pytest.raises(BadValue):
            await entries.add("a b", "4")
        for change in (entries.add("b", " lead"), entries.set("a", "trail ")):
            with pytest.raises(BadValue, match="value in body"):
                await change
        with pytest.raises(Missing):
            await opened(engine, id_, "none.map").clear()
        await engine.commit_transaction(id_, force_reload=False, author=NOBODY)
        assert held(haproxy)["maps/hosts.map"] == b"a 9\nc 3\n"

    beside(haproxy, work)
