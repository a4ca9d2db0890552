"""Certificates, CA files and CRL files of a real HAProxy: what a change does, and that a failed one leaves nothing behind."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from haproxy_native.errors import RuntimeRefused
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.ssl_files import CA_FILES, CERTIFICATES, CRL_FILES, TlsFileKind
from tests.haproxy import binaries
from tests.tls.pems import authority, made, revoking
from tests.tls.site import TlsSite, tls_site

NEW = made("plain.example.com", 200)
OTHER = made("other.example.com", 300)


@pytest.fixture(params=binaries.EACH)
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TlsSite]:
    with tls_site(tmp_path, binaries.exactly(request.param)) as site:
        yield site


@pytest.fixture(scope="module", params=binaries.EACH)
def unchanged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsSite]:
    """One for all tests that leave HAProxy as it is."""
    with tls_site(tmp_path_factory.mktemp("tls"), binaries.exactly(request.param)) as site:
        yield site


@asynccontextmanager
async def runtime_of(site: TlsSite) -> AsyncIterator[Runtime]:
    """When it ends, no transaction is open."""
    runtime = Runtime()
    assert await runtime.connect(None, [str(site.haproxy.stats)], 5)
    yield runtime
    for kind in (CERTIFICATES, CA_FILES, CRL_FILES):
        assert ssl_files.parse_open_transaction(await ssl_files.show(runtime, kind)) == ""


def refused(site: TlsSite, kind: TlsFileKind, name: str, pem: str, said: str) -> None:
    async def attempt() -> None:
        async with runtime_of(site) as runtime:
            with pytest.raises(RuntimeRefused, match=said) as raised:
                await ssl_files.replace(runtime, kind, name, pem)
            assert "PRIVATE" not in str(raised.value)

    asyncio.run(attempt())


def test_a_replaced_certificate_is_served(site: TlsSite) -> None:
    async def change() -> None:
        async with runtime_of(site) as runtime:
            await ssl_files.replace(runtime, CERTIFICATES, site.path("mutual.pem"), NEW.pem)
            shown = ssl_files.parse_certificate(await ssl_files.show(runtime, CERTIFICATES, site.path("mutual.pem")))
            assert (shown["serial"], shown["status"]) == ("C8", "Used")

    before = site.serial("MUTUAL")
    asyncio.run(change())
    assert (before, site.serial("MUTUAL")) == (100, 200)


def test_a_key_of_another_certificate(unchanged: TlsSite) -> None:
    refused(
        unchanged,
        CERTIFICATES,
        unchanged.path("plain.pem"),
        NEW.cert + OTHER.private,
        "inconsistencies between private key and certificate",
    )
    assert unchanged.serial("FILE") == 100


def test_refused_payloads_and_names(unchanged: TlsSite) -> None:
    refused(unchanged, CERTIFICATES, unchanged.path("plain.pem"), "nonsense", "Can't load the payload")
    refused(unchanged, CERTIFICATES, "none.pem", NEW.pem, "not referenced by the configuration")
    refused(unchanged, CA_FILES, unchanged.path("ca.pem"), "nonsense", "Invalid payload")
    refused(unchanged, CRL_FILES, unchanged.path("crl.pem"), "nonsense", "Invalid payload")


@pytest.mark.parametrize("kind", [CERTIFICATES, CA_FILES, CRL_FILES], ids=lambda kind: kind.form)
def test_created_taken_and_deleted(unchanged: TlsSite, kind: TlsFileKind) -> None:
    pem = {CERTIFICATES: NEW.pem, CA_FILES: authority().cert, CRL_FILES: revoking(authority(), 7)}[kind]

    async def live() -> None:
        async with runtime_of(unchanged) as runtime:
            await ssl_files.create(runtime, kind, "new one.pem", pem)
            assert "new one.pem" in await ssl_files.show(runtime, kind)
            with pytest.raises(RuntimeRefused, match="already exists!"):
                await ssl_files.create(runtime, kind, "new one.pem", pem)
            await ssl_files.delete(runtime, kind, "new one.pem")
            with pytest.raises(RuntimeRefused, match="doesn't exist!"):
                await ssl_files.delete(runtime, kind, "new one.pem")

    asyncio.run(live())


@pytest.mark.parametrize(("kind", "name"), [(CERTIFICATES, "plain.pem"), (CA_FILES, "ca.pem"), (CRL_FILES, "crl.pem")], ids=str)
def test_what_is_in_use_is_not_deleted(unchanged: TlsSite, kind: TlsFileKind, name: str) -> None:
    async def attempt() -> None:
        async with runtime_of(unchanged) as runtime:
            with pytest.raises(RuntimeRefused, match="in use, can't be deleted"):
                await ssl_files.delete(runtime, kind, unchanged.path(name))

    asyncio.run(attempt())


def test_a_refused_creation_leaves_nothing(unchanged: TlsSite) -> None:
    async def attempt() -> None:
        async with runtime_of(unchanged) as runtime:
            for pem in ("nonsense", NEW.cert + OTHER.private):
                with pytest.raises(RuntimeRefused):
                    await ssl_files.create(runtime, CERTIFICATES, "half.pem", pem)
                assert "half.pem" not in await ssl_files.show(runtime, CERTIFICATES)

    asyncio.run(attempt())


def test_a_ca_file_grows(site: TlsSite) -> None:
    async def grow() -> None:
        async with runtime_of(site) as runtime:
            await ssl_files.extend(runtime, site.path("ca.pem"), authority("Another Root").cert)
            rows = ssl_files.parse_ca_files(await ssl_files.show(runtime, CA_FILES))
            assert {"storage_name": site.path("ca.pem"), "count": "2 certificate(s)"} in rows
            second = ssl_files.parse_certificate(await ssl_files.show(runtime, CA_FILES, site.path("ca.pem"), 2))
            assert second["storage_name"] == site.path("ca.pem")
            assert ssl_files.parse_certificate(await ssl_files.show(runtime, CA_FILES, site.path("ca.pem"), 9)) == {}

    if site.haproxy.version >= (2, 7):
        asyncio.run(grow())
        return
    with pytest.raises(RuntimeRefused, match="Unknown command"):
        asyncio.run(grow())


def test_a_revocation_list_is_replaced(site: TlsSite) -> None:
    async def change() -> None:
        async with runtime_of(site) as runtime:
            await ssl_files.replace(runtime, CRL_FILES, site.path("crl.pem"), revoking(authority(), 0x5EAF01))
            (shown,) = ssl_files.parse_crl_entries(await ssl_files.show(runtime, CRL_FILES, site.path("crl.pem")))
            assert shown["revoked_certificates"] == [{"serial_number": "5EAF01", "revocation_date": "2024-05-02"}]

    asyncio.run(change())


def test_the_transaction_of_somebody_else(unchanged: TlsSite) -> None:
    """One about another name is left to whom it belongs; since 2.8 HAProxy refuses ours, 2.6 is confused by it."""
    theirs = unchanged.path("a.pem")
    assert "created" in _send(unchanged, f"set ssl cert {theirs} <<\n{made('a.example.com', 500).pem}\n")
    try:
        if unchanged.haproxy.version >= (2, 8):
            refused_while_open(unchanged, theirs)
    finally:
        assert "aborted" in _send(unchanged, f"abort ssl cert {theirs}\n")


def refused_while_open(site: TlsSite, theirs: str) -> None:
    async def attempt() -> None:
        runtime = Runtime()
        assert await runtime.connect(None, [str(site.haproxy.stats)], 5)
        with pytest.raises(RuntimeRefused, match="ongoing transaction is about"):
            await ssl_files.replace(runtime, CERTIFICATES, site.path("plain.pem"), NEW.pem)
        assert ssl_files.parse_open_transaction(await ssl_files.show(runtime, CERTIFICATES)) == theirs

    asyncio.run(attempt())
    assert site.serial("FILE") == 100


def test_what_somebody_else_left_open_is_not_committed(site: TlsSite) -> None:
    """Of the same name: his chain does not become ours."""
    name = site.path("plain.pem")
    leaf = made("plain.example.com", 600, by=authority())
    assert "created" in _send(site, f"set ssl cert {name} <<\n{leaf.cert}{authority().cert}{leaf.private}\n")

    async def change() -> None:
        async with runtime_of(site) as runtime:
            await ssl_files.replace(runtime, CERTIFICATES, name, NEW.pem)
            shown = ssl_files.parse_certificate(await ssl_files.show(runtime, CERTIFICATES, name))
            assert "chain_subject" not in shown

    asyncio.run(change())
    assert site.serial("FILE") == 200


def test_who_goes_away_leaves_nothing_half_done(site: TlsSite) -> None:
    async def hasty() -> None:
        async with runtime_of(site) as runtime:
            task = asyncio.create_task(ssl_files.replace(runtime, CERTIFICATES, site.path("b.pem"), made("b.example.com", 700).pem))
            while not ssl_files.parse_open_transaction(await ssl_files.show(runtime, CERTIFICATES)) and not task.done():
                await asyncio.sleep(0)
            task.cancel()
            async with runtime.transaction:
                pass

    asyncio.run(hasty())
    assert site.serial("LIST", "b.example.com") == 700


def _send(site: TlsSite, text: str) -> str:
    return site.haproxy.ask(text)
