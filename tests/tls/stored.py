"""Run an engine with a HAProxy that serves TLS. The stores of the engine are the directory that HAProxy reads."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from haproxy_native.disk.directories import Directory
from haproxy_native.engine import Engine
from tests.native.engines import running_engine
from tests.tls.site import TlsSite

STORES = ("ssl_certificates", "ssl_crt_lists")


@asynccontextmanager
async def storing_engine(site: TlsSite) -> AsyncIterator[Engine]:
    directories = {name: Directory(site.directory, "ssl_certs_dir") for name in STORES}
    async with running_engine(site.haproxy.directory, site.haproxy, directories=directories) as engine:
        yield engine
