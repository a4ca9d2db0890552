"""Certificates on disk and as a real HAProxy serves them, of every version: both change, or neither does."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from haproxy_native.commit.change import Outcome, Reload
from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest, InUse
from haproxy_native.request_context import NOBODY
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.ssl_files import CERTIFICATES
from haproxy_native.storage.certificate_store import CertificateStore
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.tls.pems import Made, authority, made
from tests.tls.site import TlsSite, tls_site
from tests.tls.stored import storing_engine

LISTENERS = {"FILE": "plain", "LIST": "b", "MUTUAL": "mutual", "USE": "used"}


@pytest.fixture(scope="module", params=binaries.EACH)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsSite]:
    with tls_site(tmp_path_factory.mktemp("tls"), binaries.exactly(request.param)) as site:
        yield site


@pytest.fixture
def newest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsSite]:
    with tls_site(tmp_path_factory.mktemp("tls"), binaries.newest()) as site:
        yield site


def working(site: TlsSite, work: Callable[[Engine, CertificateStore], Awaitable[None]]) -> None:
    async def run() -> None:
        async with storing_engine(site) as engine:
            store = engine.stores["ssl_certificates"]
            assert isinstance(store, CertificateStore)
            await work(engine, store)

    asyncio.run(run())


async def put(engine: Engine, store: CertificateStore, name: str, text: str, **how: bool) -> Outcome:
    upload = store.upload_existing(name, author=NOBODY) if (store.directory / name).exists() else store.upload_new(name, author=NOBODY)
    try:
        await upload.append(text.encode())
        return await upload.commit(engine.context, **how)
    finally:
        upload.discard()


def test_wherever_it_is_served_the_next_handshake_shows_the_new_one(site: TlsSite) -> None:
    async def work(engine: Engine, store: CertificateStore) -> None:
        worker = site.haproxy.worker_pid()
        for serial, (listener, name) in enumerate(LISTENERS.items(), 1000):
            if listener in site.ports:
                new = made(f"{name}.example.com", serial, kind="ed25519" if listener == "FILE" else "ec")
                outcome = await put(engine, store, f"{name}.pem", new.pem)
                assert outcome.live
                assert site.serial(listener, f"{name}.example.com") == serial
                assert (store.directory / f"{name}.pem").read_text() == new.pem
        assert engine.reloads.pending is None
        assert engine.context.ledger.entries == {}
        assert site.haproxy.worker_pid() == worker

    working(site, work)


def test_a_directory_gets_and_loses_certificates(site: TlsSite) -> None:
    async def work(engine: Engine, store: CertificateStore) -> None:
        assert (await put(engine, store, "one.pem", made("one.example.com", 1100).pem)).live
        assert site.serial("DIRECTORY", "one.example.com") == 1100
        assert (await put(engine, store, "new.pem", made("new.example.com", 1200).pem)).live
        assert site.serial("DIRECTORY", "new.example.com") == 1200
        assert (await put(engine, store, "new.pem", made("new.example.com", 1300).pem)).live
        assert site.serial("DIRECTORY", "new.example.com") == 1300
        assert (await store.delete(engine.context, "new.pem", reload=Reload.AUTO, author=NOBODY)).live
        assert site.serial("DIRECTORY", "new.example.com") == 1100
        assert "new.pem" not in site.haproxy.ask("show ssl cert")
        assert engine.reloads.pending is None

    many = TlsSite(site.haproxy, site.directory / "many", site.ports)
    working(many, work)


def test_the_only_one_of_a_directory_goes_with_a_reload(newest: TlsSite) -> None:
    """HAProxy refuses to start without one, so the file comes back."""

    async def work(engine: Engine, store: CertificateStore) -> None:
        outcome = await store.delete(engine.context, "one.pem", reload=Reload.AUTO, author=NOBODY)
        assert (outcome.live, bool(outcome.reasons)) == (False, True)
        assert engine.reloads.pending
        assert newest.serial("DIRECTORY") == 100

    working(TlsSite(newest.haproxy, newest.directory / "many", newest.ports), work)


OTHER = made("other.example.com", 7)
WRONG = [
    ("nonsense", "failed to parse certificate"),
    (OTHER.cert, "file should contain both"),
    (OTHER.cert + made("x").private, "does not belong"),
    (OTHER.pem + "#" * (1 << 20), "has at most 1048576 bytes"),
]


def test_what_is_wrong_reaches_neither(site: TlsSite) -> None:
    async def work(engine: Engine, store: CertificateStore) -> None:
        before = {path.name: path.read_text() for path in store.directory.glob("*.pem")}
        for text, reason in WRONG:
            for name in ("a.pem", "fresh.pem"):
                with pytest.raises(BadRequest, match=reason):
                    await put(engine, store, name, text)
        assert {path.name: path.read_text() for path in store.directory.glob("*.pem")} == before
        assert sorted(path.name for path in store.directory.iterdir() if path.name.startswith(".")) == []

    working(site, work)
    assert site.serial("LIST", "a.example.com") == 100


def test_modes_and_what_is_listed(newest: TlsSite) -> None:
    async def work(engine: Engine, store: CertificateStore) -> None:
        await put(engine, store, "new.pem", OTHER.pem)
        assert (store.directory / "new.pem").stat().st_mode & 0o777 == 0o640
        os.chmod(store.directory / "a.pem", 0o600)
        await put(engine, store, "a.pem", made("a.example.com", 9).pem)
        assert (store.directory / "a.pem").stat().st_mode & 0o777 == 0o600
        assert [path.name for path in store.files()] == ["a.pem", "b.pem", "mutual.pem", "new.pem", "plain.pem", "used.pem"]

    working(newest, work)


def test_what_nothing_refers_to_is_offered(newest: TlsSite) -> None:
    """So that a list may refer to it at once; and it leaves the memory with the file."""

    async def work(engine: Engine, store: CertificateStore) -> None:
        path = store.directory / "new.pem"
        for serial in (1, 2):
            assert (await put(engine, store, "new.pem", made("new.example.com", serial).pem)).live
            await store.load_unreferenced(engine.context, path)
            assert f"Serial: 0{serial}" in newest.haproxy.ask(f"show ssl cert {path}")
        assert (await store.delete(engine.context, "new.pem", reload=Reload.AUTO, author=NOBODY)).live
        await store.load_unreferenced(engine.context, path)
        assert "new.pem" not in newest.haproxy.ask("show ssl cert")
        assert engine.context.ledger.entries == {}

    working(newest, work)


def test_skipping_and_forcing(newest: TlsSite) -> None:
    async def work(engine: Engine, store: CertificateStore) -> None:
        skipped = await put(engine, store, "plain.pem", made("plain.example.com", 21).pem, reload=Reload.NONE)
        assert (skipped.live, skipped.reload_id) == (False, None)
        assert newest.serial("FILE") == 100
        forced = await put(engine, store, "mutual.pem", made("mutual.example.com", 22).pem, reload=Reload.NOW)
        assert forced.forced
        assert (newest.serial("FILE"), newest.serial("MUTUAL")) == (21, 22)

    working(newest, work)


def test_what_was_given_to_haproxy_before_it_is_stored_is_in_step(newest: TlsSite) -> None:
    """So that a failed reload does not bring the former certificate back."""
    new = made("plain.example.com", 23)

    async def work(engine: Engine, store: CertificateStore) -> None:
        await ssl_files.replace(engine.context.runtime, CERTIFICATES, newest.path("plain.pem"), new.pem)
        await put(engine, store, "plain.pem", new.pem, reload=Reload.NONE)
        assert engine.context.ledger.entries == {}
        await put(engine, store, "plain.pem", made("plain.example.com", 24).pem, reload=Reload.NONE)
        assert list(engine.context.ledger.entries) == [newest.path("plain.pem")]

    working(newest, work)


def test_a_directory_by_another_name(newest: TlsSite) -> None:
    """The configuration names the directory itself, the settings a link to it."""
    link = newest.directory.parent / "link"
    link.symlink_to(newest.directory)

    async def work(engine: Engine, store: CertificateStore) -> None:
        assert (await put(engine, store, "plain.pem", made("plain.example.com", 25).pem)).live
        assert newest.serial("FILE") == 25

    working(TlsSite(newest.haproxy, link, newest.ports), work)


def test_one_that_was_in_memory_before_joins_its_directory(newest: TlsSite) -> None:
    async def work(engine: Engine, store: CertificateStore) -> None:
        new = made("new.example.com", 26)
        await ssl_files.create(engine.context.runtime, CERTIFICATES, str(store.directory / "new.pem"), new.pem)
        assert (await put(engine, store, "new.pem", new.pem)).live
        assert newest.serial("DIRECTORY", "new.example.com") == 26

    working(TlsSite(newest.haproxy, newest.directory / "many", newest.ports), work)


NAMED = """
global
  crt-base {directory}
crt-store shop
  crt-base {directory}
  load crt one.pem alias first
crt-store more
  crt-base {directory}
  load crt other.pem alias other
frontend named
  mode http
  bind 127.0.0.1:{port} ssl crt @shop/first crt @more/other
backend secure
  server s 127.0.0.1:1 ssl verify none crt client.pem
"""


@pytest.mark.parametrize("version", ["3.2", "3.0"])
def test_other_names_for_a_file(tmp_path: Path, version: str) -> None:
    """Below a base, or by an alias, of which HAProxy tells the file from 3.2 on; another of the same content stays."""
    stored, port = tmp_path / "ssl", free_port()
    stored.mkdir()
    first = made("one.example.com", 100)
    for name in ("one", "client", "other"):
        (stored / f"{name}.pem").write_text(first.pem)
    config = "global\n  stats socket {stats} level admin\n" + NAMED.format(directory=stored, port=port)
    with HAProxy(tmp_path, config, binary=binaries.exactly(version)) as haproxy:
        site = TlsSite(haproxy, stored, {"NAMED": port})

        async def work(engine: Engine, store: CertificateStore) -> None:
            assert (await put(engine, store, "client.pem", made("client.example.com", 27).pem)).live
            assert "Serial: 1B\n" in haproxy.ask(f"show ssl cert {stored}/client.pem")
            assert (await put(engine, store, "one.pem", made("one.example.com", 28).pem)).live
            assert site.serial("NAMED") == 28
            assert "Serial: 64\n" in haproxy.ask("show ssl cert @more/other")
            for name in ("one.pem", "client.pem"):
                with pytest.raises(InUse):
                    await store.delete(engine.context, name, reload=Reload.AUTO, author=NOBODY)

        working(site, work)


def test_what_the_configuration_names_stays(newest: TlsSite) -> None:
    async def work(engine: Engine, store: CertificateStore) -> None:
        for name, where in [("plain.pem", "in haproxy conf at line 9: bind"), ("b.pem", f"in {newest.path('list.txt')} at line 4: ")]:
            with pytest.raises(InUse, match=where):
                await store.delete(engine.context, name, reload=Reload.AUTO, author=NOBODY)
            assert (store.directory / name).exists()

    working(newest, work)


def test_a_long_chain_takes_a_reload(newest: TlsSite) -> None:
    """A command holds 16 KiB; what is longer reaches HAProxy with the next reload."""
    chain = "".join(made(f"authority {number}", ca=True).cert for number in range(40))

    async def work(engine: Engine, store: CertificateStore) -> None:
        long = made("plain.example.com", 31)
        outcome = await put(engine, store, "plain.pem", long.cert + chain + long.private)
        assert (outcome.live, outcome.reload_id is None) == (False, False)
        assert newest.serial("FILE") == 100
        await engine.reloads.force(())
        assert newest.serial("FILE") == 31

    working(newest, work)


def test_a_key_in_a_file_of_its_own(newest: TlsSite) -> None:
    """HAProxy reads FILE.key beside FILE; only the certificate is sent by the client."""
    fresh: Made = made("plain.example.com", 41)
    key = newest.directory / "plain.pem.key"
    key.write_text(fresh.private)

    async def work(engine: Engine, store: CertificateStore) -> None:
        assert (await put(engine, store, "plain.pem", fresh.cert)).live
        assert newest.serial("FILE") == 41
        with pytest.raises(BadRequest, match="does not belong"):
            await put(engine, store, "plain.pem", OTHER.cert)

    working(newest, work)


def test_a_response_beside_it_takes_a_reload(newest: TlsSite) -> None:
    (newest.directory / "plain.pem.sctl").write_bytes(b"")

    async def work(engine: Engine, store: CertificateStore) -> None:
        outcome = await put(engine, store, "plain.pem", made("plain.example.com", 51).pem)
        assert [each.why for each in outcome.reasons] == ["HAProxy reads plain.pem.sctl only when it starts"]

    working(newest, work)


def test_an_authority_takes_a_reload(newest: TlsSite) -> None:
    """A file that HAProxy verifies others with is not taken apart live."""

    async def work(engine: Engine, store: CertificateStore) -> None:
        root = authority("New Root")
        outcome = await put(engine, store, "ca.pem", root.cert + root.private)
        assert [each.why for each in outcome.reasons] == ["HAProxy also uses ca.pem to verify others"]

    working(newest, work)


def test_without_haproxy_a_list_still_says_that_it_is_in_use(newest: TlsSite) -> None:
    async def work(engine: Engine, store: CertificateStore) -> None:
        newest.haproxy.stop()
        outcome = await put(engine, store, "b.pem", made("b.example.com", 61).pem)
        assert [each.why for each in outcome.reasons] == ["HAProxy cannot replace this certificate at runtime"]

    working(newest, work)
