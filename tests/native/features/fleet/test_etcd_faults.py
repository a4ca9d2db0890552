"""`EtcdStore` while an etcd of Debian 12 or 13 fails: members that end, hang or are full, users, tokens and certificates."""

import asyncio
import base64
import signal
import ssl
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from haproxy_native.errors import Unusable
from haproxy_native.features.fleet.etcd import EtcdSettings, EtcdStore
from haproxy_native.features.fleet.store import StoreAway, StoreDenied, StoreFull
from tests.app.authority import Authority
from tests.haproxy.etcd import EtcdCluster, EtcdMember
from tests.native.engines import run
from tests.until import until

VERSIONS = ("etcd", "etcd-3.5")
MiB = 1 << 20


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=VERSIONS)
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EtcdCluster]:
    with EtcdCluster(tmp_path, request.param) as made:
        yield made


async def _write(store: EtcdStore, key: str, value: bytes, seconds: float = 60) -> None:
    """Write a key, and try again after a failure, as the loop of a member does."""
    async with asyncio.timeout(seconds):
        while True:
            try:
                await store.replace(key, value)
            except StoreAway:
                await asyncio.sleep(0.2)
            else:
                return


def test_of_three_members_any_one_may_end(cluster: EtcdCluster) -> None:
    """No acknowledged write is lost, and the version of a value is the same at each member."""

    async def work() -> None:
        store = EtcdStore(EtcdSettings(cluster.urls))
        version = await store.create("/head", b"0")
        for number, member in enumerate(sorted(cluster.members, key=EtcdMember.is_leader, reverse=True)):
            await _write(store, "/last", b"%d" % number)
            member.kill()
            await _write(store, "/next", b"%d" % number)
            head, last = await store.read("/head"), await store.read("/last")
            assert head and last and (head.version, last.value) == (version, b"%d" % number)
            member.start()
        await store.close()

    run(work())


def test_without_a_majority_nothing_is_read_or_written(cluster: EtcdCluster) -> None:
    """An old value is never answered. As soon as there is a majority, calls are answered again."""

    async def work() -> None:
        store = EtcdStore(EtcdSettings(cluster.urls))
        await store.create("/head", b"1")
        for member in cluster.members[:2]:
            member.kill()
        for call in (store.read("/head"), store.replace("/head", b"2"), store.present("/alive", b"", 15)):
            with pytest.raises(StoreAway):
                await call
        cluster.members[0].start()
        await _write(store, "/next", b"")
        entry = await store.read("/head")
        assert entry and entry.value in (b"1", b"2")
        await store.close()

    run(work())


def test_a_member_that_hangs_delays_one_call_and_ends_the_watch_on_it(cluster: EtcdCluster) -> None:
    """A watch on the member receives nothing, so the next call that fails there must end the watch."""

    async def work() -> None:
        store = EtcdStore(EtcdSettings(cluster.urls))
        await store.create("/head", b"1")
        async with aclosing(store.changes("/head")) as changes:
            await anext(changes)
            waiting = asyncio.create_task(anext(changes))  # type: ignore[arg-type]
            cluster.members[0].process.send_signal(signal.SIGSTOP)
            await _write(store, "/head", b"2")
            entry = await store.read("/head")
            assert entry and entry.value == b"2"
            with pytest.raises((StoreAway, StopAsyncIteration)):
                await asyncio.wait_for(waiting, 60)
        async with aclosing(store.changes("/head")) as changes:
            await anext(changes)
            await store.replace("/head", b"3")
            await asyncio.wait_for(anext(changes), 60)
        await store.close()

    run(work())


async def _fill(store: EtcdStore) -> None:
    for number in range(64):
        await store.create(f"/object/{number}", bytes(MiB - 100))


def test_a_full_store(tmp_path: Path, version: str) -> None:
    """Reads, renewals and deletions are accepted. Writes are refused with a message about what to do, until that is done."""

    async def work(etcd: EtcdMember) -> None:
        store = EtcdStore(EtcdSettings([etcd.url]))
        presence = await store.present("/alive", b"", 600)
        await store.create("/head", b"1")
        with pytest.raises(StoreFull, match="compact, defragment, and disarm"):
            await _fill(store)
        entry = await store.read("/head")
        assert presence and await presence.renew() and entry and entry.value == b"1"
        with pytest.raises(StoreFull):
            await store.replace("/head", b"2", entry.version)
        for each in await store.list("/object/"):
            await store.delete(each.key)
        etcd.free_space()
        assert await store.replace("/head", b"2", entry.version)
        await store.close()

    with EtcdMember(tmp_path, f"--quota-backend-bytes={16 * MiB}", version=version) as etcd:
        run(work(etcd))


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _add_users(etcd: EtcdMember) -> str:
    """Add root, and a user `edge` with the keys below /edge/, and require users. Return the token of root."""
    etcd.ask("auth/user/add", name="root", password="root")
    etcd.ask("auth/user/add", name="edge", password="secret")
    etcd.ask("auth/role/add", name="root")
    etcd.ask("auth/role/add", name="edge")
    permission = {"permType": "READWRITE", "key": _encoded("/edge/"), "range_end": _encoded("/edge0")}
    etcd.ask("auth/role/grant", name="edge", perm=permission)
    etcd.ask("auth/user/grant", user="root", role="root")
    etcd.ask("auth/user/grant", user="edge", role="edge")
    etcd.ask("auth/enable")
    return str(etcd.ask("auth/authenticate", name="root", password="root")["token"])


def test_users_tokens_and_roles(tmp_path: Path, version: str) -> None:
    """In turn: no users yet; users; a token that has expired, and one of an etcd that has restarted; a revoked role; no users again."""

    async def work(etcd: EtcdMember) -> None:
        settings = EtcdSettings([etcd.url], user="edge", password="secret")
        store, nobody, wrong = EtcdStore(settings), EtcdStore(EtcdSettings([etcd.url])), EtcdStore(EtcdSettings([etcd.url], user="edge"))
        assert await store.create("/edge/head", b"1")
        _add_users(etcd)
        assert await store.read("/edge/head") and await store.replace("/edge/head", b"2")
        for other, key in ((nobody, "/edge/head"), (wrong, "/edge/head"), (store, "/other/head")):
            with pytest.raises(Unusable):
                await other.read(key)
        await asyncio.sleep(4)
        assert await store.replace("/edge/head", b"3")
        etcd.stop()
        etcd.start()
        await _write(store, "/edge/head", b"4")
        async with aclosing(store.changes("/edge/head")) as changes:
            await anext(changes)
            await store.replace("/edge/head", b"5")
            await asyncio.wait_for(anext(changes), 60)
        root = str(etcd.ask("auth/authenticate", name="root", password="root")["token"])
        etcd.ask("auth/user/revoke", root, name="edge", role="edge")
        with pytest.raises(StoreDenied):
            await store.read("/edge/head")
        root = str(etcd.ask("auth/authenticate", name="root", password="root")["token"])
        etcd.ask("auth/user/grant", root, user="edge", role="edge")
        root = str(etcd.ask("auth/authenticate", name="root", password="root")["token"])
        etcd.ask("auth/disable", root)
        assert await store.replace("/edge/head", b"6")
        for each in (store, nobody, wrong):
            await each.close()

    with EtcdMember(tmp_path, "--auth-token-ttl=2", version=version) as etcd:
        run(work(etcd))


def test_an_etcd_without_its_gateway_is_named(tmp_path: Path, version: str) -> None:
    async def work(etcd: EtcdMember) -> None:
        store = EtcdStore(EtcdSettings([etcd.url]))
        with pytest.raises(StoreAway, match="--enable-grpc-gateway"):
            await store.read("/head")
        await store.close()

    with EtcdMember(tmp_path, "--enable-grpc-gateway=false", version=version) as etcd:
        run(work(etcd))


def test_certificates(tmp_path: Path, version: str) -> None:
    """The client has, in turn: a certificate of another authority, none, one with a Common Name, one without, and a renewed one."""
    authority, other = Authority(tmp_path), Authority(tmp_path, "other")
    server, server_key = authority.issue("server")
    named, plain = authority.issue("named"), authority.issue("plain", uri="spiffe://edge/lb1")
    options = [f"--cert-file={server}", f"--key-file={server_key}", f"--trusted-ca-file={authority.file}", "--client-cert-auth"]
    context = ssl.create_default_context(cafile=str(authority.file))
    context.load_cert_chain(*plain)

    async def answer(ca: Path, pair: tuple[Path, Path] | None, *, user: str = "edge") -> None:
        certificate, key = map(str, pair) if pair else ("", "")
        store = EtcdStore(EtcdSettings([etcd.url], str(ca), certificate, key, user, "secret"))
        try:
            assert await store.replace("/edge/head", b"1")
        finally:
            await store.close()

    with EtcdMember(tmp_path, *options, version=version, tls=context) as etcd:
        _add_users(etcd)
        with pytest.raises(StoreAway, match="certificate verify failed"):
            run(answer(other.file, plain))
        with pytest.raises(StoreAway):
            run(answer(authority.file, None))
        with pytest.raises(StoreDenied, match="no Common Name"):
            run(answer(authority.file, named))
        run(answer(authority.file, plain))


def test_an_expired_certificate_is_named_and_its_successor_is_read(tmp_path: Path, version: str) -> None:
    authority = Authority(tmp_path)
    server, server_key = authority.issue("server", expired=True)
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    options = [f"--cert-file={server}", f"--key-file={server_key}"]

    async def work(etcd: EtcdMember) -> None:
        store = EtcdStore(EtcdSettings([etcd.url], str(authority.file)))
        with pytest.raises(StoreAway, match="certificate has expired"):
            await store.replace("/head", b"1")
        authority.issue("server")
        assert await store.replace("/head", b"1")
        await store.close()

    with EtcdMember(tmp_path, *options, version=version, tls=trusting) as etcd:
        until(etcd.answers)
        run(work(etcd))
