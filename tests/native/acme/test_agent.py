"""The whole of it: HAProxy renews a certificate, the challenge is solved in a real name server, and what comes is on disk."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from haproxy_native.acme.agent import Acme
from haproxy_native.acme.dns_challenge import ChallengeTimes, Solver
from haproxy_native.acme.keeper import Keeper
from haproxy_native.acme.zones import Zones
from haproxy_native.disk.directories import Directory
from haproxy_native.storage.certificate_store import CertificateStore
from tests.haproxy import binaries
from tests.haproxy.acme import ZONE, Authority, NameServer, configuration, served
from tests.haproxy.process import SMALL, HAProxy, free_port
from tests.native.engines import running_engine

END = "-----END CERTIFICATE-----\n"


def until(true: Callable[[], bool], tell: Callable[[], str], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, tell()
        time.sleep(0.05)


def test_a_renewed_certificate_reaches_the_disk(
    tmp_path: Path, name_server: NameServer, resolver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    stored, port = tmp_path / "ssl", free_port()
    stored.mkdir()
    path = stored / "site.pem"
    with Authority(tmp_path / "pebble", name_server) as authority:
        config = configuration(stored, port, f"site.{ZONE}", authority.directory_url, name_server.challenge)
        with HAProxy(tmp_path, config, binary=binaries.exactly("3.4")) as haproxy:

            async def work() -> None:
                directories = {"ssl_certificates": Directory(stored, "ssl_certs_dir")}
                async with running_engine(tmp_path, haproxy, directories=directories) as engine:
                    store, runtime = engine.stores["ssl_certificates"], engine.runtime
                    assert isinstance(store, CertificateStore)
                    keeper = Keeper(engine.context, store, lambda name: stored)
                    solver = Solver(runtime, ChallengeTimes(interval=0.05), Zones(resolver, name_server.port))
                    async with Acme(runtime, keeper, solver, longest_pause=0.2):
                        # The next worker is another one to hear.
                        await asyncio.to_thread(haproxy.ask_master, "reload")
                        await asyncio.to_thread(renewed)

            def renewed() -> None:
                before = path.read_bytes()
                haproxy.wait_until_it_answers()
                assert haproxy.ask("acme renew @sites/site.pem").strip() == ""
                until(lambda: path.read_bytes() != before, lambda: caplog.text + haproxy.log.read_text() + authority.log.read_text())
                assert certificate(path) == served(port)

            asyncio.run(work())
    assert not asyncio.run(Zones(resolver, name_server.port).has_record(ZONE, f"_acme-challenge.site.{ZONE}", ""))
    assert "PRIVATE" not in caplog.text


def test_a_former_worker_is_left(tmp_path: Path) -> None:
    """It would live on for the connection that reads its events."""

    async def work() -> None:
        with HAProxy(tmp_path, SMALL, binary=binaries.of((3, 2))) as haproxy:
            directories = {"ssl_certificates": Directory(tmp_path, "ssl_certs_dir")}
            async with running_engine(tmp_path, haproxy, directories=directories) as engine:
                store, runtime = engine.stores["ssl_certificates"], engine.runtime
                assert isinstance(store, CertificateStore)
                async with Acme(runtime, Keeper(engine.context, store), Solver(runtime, ChallengeTimes(), Zones())):
                    for _ in range(2):
                        former = haproxy.worker_pid()
                        await asyncio.to_thread(until, lambda: "sockpair" in haproxy.ask("show sess"), lambda: "no reader")
                        await asyncio.to_thread(haproxy.ask_master, "reload")
                        await asyncio.to_thread(until_ended, former)

    asyncio.run(work())


def until_ended(pid: int) -> None:
    until(lambda: not Path(f"/proc/{pid}").exists(), lambda: f"{pid} still runs")


def certificate(path: Path) -> str:
    """The first one, which is the listener's."""
    text = path.read_text()
    return text[text.index("-----BEGIN CERT") : text.index(END) + len(END)]
