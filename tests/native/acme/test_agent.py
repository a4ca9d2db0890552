"""The whole of it: HAProxy renews a certificate, the challenge is solved in a real name server, and what comes is on disk."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from native.acme.agent import Acme
from native.acme.keeper import Keeper
from native.acme.solver import Patience, Solver
from native.acme.zones import Zones
from native.config.directories import Directory
from native.runtime.client import Runtime
from tests.haproxy import binaries
from tests.haproxy.acme import ZONE, Authority, NameServer, self_signed, served
from tests.haproxy.process import HAProxy, free_port

CONFIG = """\
global
  stats socket {{stats}} level admin
  expose-experimental-directives
  httpclient.ssl.verify none
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
acme authority
  directory {directory_url}
  account-key {directory}/account.key
  contact someone@example.test
  challenge dns-01
  keytype ECDSA
  curves P-256
  provider-name rfc2136
  acme-vars "{variables}"
crt-store sites
  crt-base {directory}
  load crt site.pem acme authority domains site.{zone}
frontend site
  bind 127.0.0.1:{port} ssl crt @sites/site.pem
"""
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
    self_signed(tmp_path / "key", tmp_path / "crt", f"site.{ZONE}")
    path, port = tmp_path / "site.pem", free_port()
    path.write_bytes((tmp_path / "crt").read_bytes() + (tmp_path / "key").read_bytes())
    variables = ",".join(f"{name}={value}" for name, value in name_server.variables.items())
    with Authority(tmp_path / "pebble", name_server) as authority:
        config = CONFIG.format(directory_url=authority.directory_url, directory=tmp_path, variables=variables, zone=ZONE, port=port)
        with HAProxy(tmp_path, config, binary=binaries.exactly("3.4")) as haproxy:

            async def work() -> None:
                runtime = Runtime()
                await runtime.connect(str(haproxy.master), [], 5, 0.02)
                keeper = Keeper(runtime, Directory(tmp_path / "ssl", "ssl_certs_dir"), lambda name: tmp_path)
                solver = Solver(runtime, Patience(interval=0.05), Zones(resolver, name_server.port))
                async with Acme(runtime, keeper, solver, longest_pause=0.2, silence=0.5):
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
    assert not asyncio.run(Zones(resolver, name_server.port).shows(ZONE, f"_acme-challenge.site.{ZONE}", ""))
    assert "PRIVATE" not in caplog.text


def certificate(path: Path) -> str:
    """The first one, which is the listener's."""
    text = path.read_text()
    return text[text.index("-----BEGIN CERT") : text.index(END) + len(END)]
