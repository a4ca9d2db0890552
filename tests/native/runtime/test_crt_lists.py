"""Entries of the crt-lists of a real HAProxy, of lists and of directories."""

import asyncio
from collections.abc import Iterator

import pytest

from haproxy_native.errors import RuntimeRefused
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.ssl_files import CERTIFICATES, CrtListRow
from tests.haproxy import binaries
from tests.tls.pems import made
from tests.tls.site import TlsSite, tls_site


@pytest.fixture(scope="module", params=binaries.EACH)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsSite]:
    with tls_site(tmp_path_factory.mktemp("tls"), binaries.exactly(request.param)) as site:
        yield site


async def connected(site: TlsSite) -> Runtime:
    runtime = Runtime()
    assert await runtime.connect(None, [str(site.haproxy.stats)], 5)
    return runtime


def test_names_and_entries(site: TlsSite) -> None:
    async def look() -> None:
        runtime = await connected(site)
        names = await ssl_files.list_crt_lists(runtime)
        assert {site.path("list.txt"), site.path("many")} <= set(names)
        assert ("@used" in names) == ("USE" in site.ports)
        assert await ssl_files.read_crt_list(runtime, site.path("list.txt")) == [
            CrtListRow(site.path("a.pem"), 2),
            CrtListRow(site.path("b.pem"), 4, "alpn h2,http/1.1", ("b.example.com", "!x.b.example.com")),
        ]
        assert await ssl_files.read_crt_list(runtime, site.path("many")) == [CrtListRow(site.path("many/one.pem"), 0)]
        with pytest.raises(RuntimeRefused):
            await ssl_files.read_crt_list(runtime, "none")

    asyncio.run(look())


@pytest.mark.parametrize(("listener", "name"), [("LIST", "list.txt"), ("DIRECTORY", "many")])
def test_an_entry_is_served_until_it_is_deleted(site: TlsSite, listener: str, name: str) -> None:
    file, list_name = site.path(f"many/{name}.pem"), site.path(name)

    async def appear() -> None:
        runtime = await connected(site)
        await ssl_files.create(runtime, CERTIFICATES, file, made("new.example.com", 900).pem)
        await ssl_files.add_crt_list_entry(runtime, list_name, file)
        with pytest.raises(RuntimeRefused, match="in use"):
            await ssl_files.delete(runtime, CERTIFICATES, file)

    async def vanish() -> None:
        runtime = await connected(site)
        await ssl_files.delete_crt_list_entry(runtime, list_name, file)
        await ssl_files.delete(runtime, CERTIFICATES, file)

    asyncio.run(appear())
    assert site.serial(listener, "new.example.com") == 900
    asyncio.run(vanish())
    assert site.serial(listener, "new.example.com") == 100


def test_one_of_several_is_deleted_by_its_number(site: TlsSite) -> None:
    name, file = site.path("list.txt"), site.path("b.pem")

    async def twice() -> None:
        runtime = await connected(site)
        await ssl_files.add_crt_list_entry(runtime, name, file, "ssl-min-ver TLSv1.2", ["other.example.com"])
        *_, last = await ssl_files.read_crt_list(runtime, name)
        assert (last.file, last.options, last.filters) == (file, "ssl-min-ver TLSv1.2", ("other.example.com",))
        with pytest.raises(RuntimeRefused, match="please specify a line number"):
            await ssl_files.delete_crt_list_entry(runtime, name, file)
        await ssl_files.delete_crt_list_entry(runtime, name, file, last.line)
        assert len(await ssl_files.read_crt_list(runtime, name)) == 2

    asyncio.run(twice())


def test_refusals(site: TlsSite) -> None:
    name, file = site.path("list.txt"), site.path("a.pem")

    async def attempts() -> None:
        runtime = await connected(site)
        for attempt, said in [
            (lambda: ssl_files.add_crt_list_entry(runtime, name, "none.pem"), "certificate 'none.pem' does not exist!"),
            (lambda: ssl_files.add_crt_list_entry(runtime, "none", file), "crt-list 'none' does not exist!"),
            (lambda: ssl_files.add_crt_list_entry(runtime, name, file, "nonsense 1"), "unknown ssl keyword nonsense"),
            (lambda: ssl_files.delete_crt_list_entry(runtime, name, "none.pem"), "certificate 'none.pem' does not exist!"),
            (lambda: ssl_files.delete_crt_list_entry(runtime, name, site.path("plain.pem")), "can't be found in crt-list"),
            (lambda: ssl_files.delete_crt_list_entry(runtime, name, file), "used as default certificate"),
        ]:
            with pytest.raises(RuntimeRefused, match=said):
                await attempt()
        assert len(await ssl_files.read_crt_list(runtime, name)) == 2

    asyncio.run(attempts())
