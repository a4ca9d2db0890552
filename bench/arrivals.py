"""Measure many changes at once, with a HAProxy 3.4: tenants in one transaction under traffic, and backends of service discovery.

Only our own server is measured: others reload for either.
"""

import asyncio
import subprocess
import tempfile
import time
from pathlib import Path

from bench.plan import Effort
from haproxy_native.discovery.backends import ServiceEndpoint
from haproxy_native.discovery.consul import Consul
from haproxy_native.discovery.definitions import DiscoveryTable, complete_definition
from haproxy_native.discovery.poller import ServiceCatalog
from haproxy_native.discovery.reconciler import Reconciler
from haproxy_native.editing.editor import Editor
from haproxy_native.request_context import NOBODY
from tests.acceptance.quick import PLAIN
from tests.acceptance.tenants import tenants
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy
from tests.native.engines import running_engine

VERSION = "3.4"
ENDPOINTS = 10
ROWS = TIME_OF_TENANTS, MEMORY_OF_TENANTS, TIME_OF_SERVICES = (
    "tenants, beyond 1.1 haproxy -c",
    "tenants, KiB each",
    "discovered backends, beyond haproxy -c",
)
DEFINITION = {"address": "127.0.0.1", "port": 8500, "enabled": True, "retry_timeout": 1, "defaults": "plain"}


def arrivals(work: Effort) -> dict[str, float]:
    """No rows where there is no such HAProxy. Raises AssertionError where a request fails or HAProxy reloads."""
    return {**of_tenants(work), **of_services(work)} if binaries.fetched(VERSION) else {}


def of_tenants(work: Effort) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="bench-") as directory, tenants(Path(directory), work.tenants) as world:
        arrival = world.come_and_go(work.rate)
    return {TIME_OF_TENANTS: arrival.seconds - 1.1 * arrival.check, MEMORY_OF_TENANTS: arrival.memory}


def of_services(work: Effort) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        config = PLAIN.replace("mode http", "mode http\n    balance roundrobin").format()
        with HAProxy(Path(directory), config, binary=binaries.exactly(VERSION)) as haproxy:
            worker, taken = haproxy.worker_pid(), asyncio.run(_discover(haproxy, work.services))
            assert haproxy.worker_pid() == worker
            began = time.perf_counter()
            subprocess.run([haproxy.binary, "-c", "-q", "-f", str(haproxy.file)], check=True)
            return {TIME_OF_SERVICES: taken - (time.perf_counter() - began)}


async def _discover(haproxy: HAProxy, count: int) -> float:
    """Seconds until the process has the backends of so many services."""
    services = ServiceCatalog(
        {f"s{number}": tuple(ServiceEndpoint(f"10.0.{number % 250}.{place}", 80) for place in range(ENDPOINTS)) for number in range(count)}
    )
    async with running_engine(haproxy.directory, haproxy) as engine:
        reconciler = Reconciler(engine, Editor(), DiscoveryTable(engine.database))
        definition = complete_definition(DEFINITION, "bench", consul=True)
        began = time.perf_counter()
        troubles, reload_id = await reconciler.apply(definition, Consul(definition), services, NOBODY)
        assert (troubles, reload_id) == ([], None)
        return time.perf_counter() - began
