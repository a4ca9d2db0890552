"""Test the contract of a store with etcd, and with the store in memory that other tests use."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing

import pytest

from haproxy_native.features.fleet.etcd import EtcdSettings, EtcdStore
from haproxy_native.features.fleet.store import GroupStore, StoreAway, TooLarge
from tests.haproxy.etcd import EtcdMember
from tests.haproxy.process import free_port
from tests.native.engines import run
from tests.native.features.fleet.stores import MemoryStore


@pytest.fixture(scope="module")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EtcdMember]:
    with EtcdMember(tmp_path_factory.mktemp("etcd")) as made:
        yield made


@pytest.fixture(params=["memory", "etcd"])
def make(request: pytest.FixtureRequest) -> Callable[[], GroupStore]:
    if request.param == "memory":
        return MemoryStore
    url = request.getfixturevalue("etcd").url
    # The first endpoint does not answer, so every first call goes on to the second one.
    return lambda: EtcdStore(EtcdSettings([f"http://127.0.0.1:{free_port()}", url]))


def test_values_and_versions(make: Callable[[], GroupStore]) -> None:
    async def work() -> None:
        store = make()
        assert await store.read("/v/a") is None
        first = await store.create("/v/a", b"1")
        assert first and await store.create("/v/a", b"2") is None
        second = await store.replace("/v/a", b"\0\xff", first)
        assert second and second != first and await store.replace("/v/a", b"3", first) is None
        entry = await store.read("/v/a")
        assert entry and (entry.key, entry.value, entry.version) == ("/v/a", b"\0\xff", second)
        assert await store.replace("/v/b", b"") and await store.create("/va", b"is not below /v/")
        assert [(each.key, each.value) for each in await store.list("/v/")] == [("/v/a", b"\0\xff"), ("/v/b", b"")]
        assert await store.delete("/v/a") and not await store.delete("/v/a")
        with pytest.raises(TooLarge):
            await store.create("/v/c", bytes(store.largest + 1))
        assert (await store.facts()).version
        await store.close()

    run(work())


def test_of_many_that_replace_a_version_one_is_first(make: Callable[[], GroupStore]) -> None:
    async def work() -> None:
        store = make()
        version = await store.create("/one", b"")
        made = await asyncio.gather(*(store.replace("/one", b"%d" % each, version) for each in range(8)))
        (winner,) = [each for each in range(8) if made[each]]
        entry = await store.read("/one")
        assert entry and entry.value == b"%d" % winner
        await store.close()

    run(work())


def test_presence(make: Callable[[], GroupStore]) -> None:
    async def work() -> None:
        store = make()
        presence = await store.present("/alive/lb1", b"boot", 60)
        assert presence and await presence.renew()
        assert await store.present("/alive/lb1", b"other", 60) is None
        assert [entry.value for entry in await store.list("/alive/")] == [b"boot"]
        await presence.leave()
        assert not await presence.renew() and await store.read("/alive/lb1") is None
        await store.close()

    run(work())


def test_changes_are_hints(make: Callable[[], GroupStore]) -> None:
    """A listener that reads after each notification finds a later state, even if notifications are lost."""

    async def work() -> None:
        store = make()
        async with aclosing(store.changes("/seen")) as changes:
            await anext(changes)
            for number in range(20):
                await store.replace("/seen", b"%d" % number)
            async with asyncio.timeout(60):
                await anext(changes)
            entry = await store.read("/seen")
            assert entry and entry.value == b"19"
        await store.close()

    run(work())


def test_without_a_store() -> None:
    async def work() -> None:
        store = EtcdStore(EtcdSettings([f"http://127.0.0.1:{free_port()}"]))
        for call in (store.read("/a"), store.create("/a", b""), store.list("/"), store.present("/a", b"", 5), anext(store.changes("/"))):
            with pytest.raises(StoreAway):
                await call
        await store.close()

    run(work())
