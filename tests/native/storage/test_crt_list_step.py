"""One list in the memory of a real HAProxy: whole or not at all."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.errors import NeedsReload, RuntimeRefused
from haproxy_native.runtime.client import Runtime
from haproxy_native.storage.crt_list_store import crt_list_step
from tests.haproxy import binaries
from tests.tls.pems import made
from tests.tls.site import TlsSite, tls_site


async def carried_out(site: TlsSite, former: str) -> None:
    runtime = Runtime()
    assert await runtime.connect(None, [str(site.haproxy.stats)], 5)
    await crt_list_step(site.directory / "list.txt", site.path("list.txt"), former).apply(runtime)


def test_a_refused_entry_takes_those_before_it_along(tmp_path: Path) -> None:
    with tls_site(tmp_path, binaries.newest()) as site:
        shown = f"show ssl crt-list -n {site.path('list.txt')}"
        before = site.haproxy.ask(shown)
        former = (site.directory / "list.txt").read_text()
        (site.directory / "c.pem").write_text(made("c.example.com", 300).pem)
        added = [site.path("c.pem"), f"{site.path('c.pem')} x", f"{site.path('a.pem')} [nonsense 1] y"]
        (site.directory / "list.txt").write_text(former + "".join(f"{line}\n" for line in added))
        with pytest.raises(RuntimeRefused, match="nonsense"):
            asyncio.run(carried_out(site, former))
        assert site.haproxy.ask(shown) == before
        (site.directory / "list.txt").write_text(f"{former}relative.pem\n")
        with pytest.raises(NeedsReload, match=r"relative\.pem"):
            asyncio.run(carried_out(site, former))
        assert site.haproxy.ask(shown) == before
        (site.directory / "list.txt").unlink()
        with pytest.raises(NeedsReload, match="cannot be read"):
            asyncio.run(carried_out(site, former))


def test_what_is_said(tmp_path: Path) -> None:
    step = crt_list_step(tmp_path / "l.txt", "/l.txt", "")
    assert step.texts == ["add ssl crt-list /l.txt ...", "del ssl crt-list /l.txt ..."]
