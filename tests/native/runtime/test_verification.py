"""A re-read that shows something else than was asked for."""

import asyncio
import dataclasses
import ipaddress
from contextlib import nullcontext
from pathlib import Path

import pytest

from haproxy_native.errors import RuntimeRefused, RuntimeUnverified
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.runtime.verification import Gone, Limit, Shows, verify_checks
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

Check = Shows | Gone | Limit


def prove_on(haproxy: HAProxy, *checks: Check) -> None:
    async def run() -> None:
        runtime = Runtime(timeout=60)
        assert await runtime.connect(None, [str(haproxy.stats)], 60, 0.02)
        await verify_checks(runtime, [("the command", check) for check in checks])

    asyncio.run(run())


def test_what_is_so(haproxy: HAProxy) -> None:
    for check in (
        Shows("app", "plain"),
        Shows("app", "plain", (("uweight", 10), ("address", ipaddress.ip_address("127.0.0.1")), ("forced_state", "ready"))),
        Gone("app", "ghost"),
        Limit("app", "plain", 20),
        Limit("web", "", 100),
        Limit("app", "checked", 0),
    ):
        prove_on(haproxy, check)


def test_what_is_not(haproxy: HAProxy) -> None:
    for check, words in (
        (Shows("app", "ghost"), "there is no app/ghost"),
        (Shows("app", "plain", (("uweight", 11),)), "uweight of app/plain is 10, not 11"),
        (Shows("app", "plain", (("address", ipaddress.ip_address("::1")),)), "address of app/plain is 127.0.0.1, not ::1"),
        (Gone("app", "plain"), "app/plain is still there"),
        (Limit("app", "plain", 21), "shown is 20, not 21"),
        (Limit("app", "ghost", 21), "shown is none"),
        (Limit("ghost", "", 21), "shown is none"),
    ):
        with pytest.raises(RuntimeRefused, match=words) as caught:
            prove_on(haproxy, check)
        assert caught.value.command == "the command"


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_a_change_that_is_shown_only_after_a_while(haproxy: HAProxy, patience: float) -> None:
    """HAProxy 3.2 to 3.4 may still show the former address of a server when a new one has been accepted."""

    class Late(Runtime):
        reads = 0

        async def servers(self, backend: str = "") -> list[ServerState]:
            self.reads += 1
            rows = await super().servers(backend)
            return rows if self.reads > 2 else [dataclasses.replace(row, address="192.0.2.1") for row in rows]

    async def run() -> None:
        runtime = Late(timeout=60)
        assert await runtime.connect(None, [str(haproxy.stats)], 60, 0.02)
        shows = Shows("app", "plain", (("address", ipaddress.ip_address("127.0.0.1")),))
        with nullcontext() if patience else pytest.raises(RuntimeUnverified, match=r"is 192\.0\.2\.1, not 127\.0\.0\.1"):
            await verify_checks(runtime, [("the command", shows)], patience=patience)
        assert runtime.reads == (3 if patience else 1)

    asyncio.run(run())


def test_the_last_word_counts(haproxy: HAProxy) -> None:
    prove_on(haproxy, Gone("app", "plain"), Shows("app", "plain", (("uweight", 99),)), Shows("app", "plain", (("uweight", 10),)))
    prove_on(haproxy, Shows("app", "ghost", (("forced_state", "maint"),)), Gone("app", "ghost"))


def test_a_frontend_and_a_backend_of_one_name(tmp_path: Path) -> None:
    """Refused by HAProxy from 3.3 on."""
    config = f"""global
  stats socket {{stats}} mode 600 level admin
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
backend web
  server one 127.0.0.1:1 maxconn 9
frontend web
  bind 127.0.0.1:{free_port()}
  maxconn 100
"""
    with HAProxy(tmp_path, config, binary=binaries.exactly("2.6")) as haproxy:
        prove_on(haproxy, Limit("web", "", 100), Limit("web", "one", 9))
