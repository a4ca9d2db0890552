"""Every way to write a socket's address."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.socket import parse_address
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port


@pytest.mark.parametrize(
    ("text", "path", "host", "port"),
    [
        ("/run/haproxy.sock", "/run/haproxy.sock", "", 0),
        ("relative.sock", "relative.sock", "", 0),
        ("unix@/run/haproxy.sock", "/run/haproxy.sock", "", 0),
        ("/odd:1/haproxy.sock", "/odd:1/haproxy.sock", "", 0),
        ("uxst@/run/haproxy.sock", "/run/haproxy.sock", "", 0),
        ("stream+unix@/run/haproxy.sock", "/run/haproxy.sock", "", 0),
        ("abns@haproxy", "\0haproxy" + "\0" * 100, "", 0),
        ("abnsz@haproxy", "\0haproxy", "", 0),
        ("127.0.0.1:9999", None, "127.0.0.1", 9999),
        ("ipv4@127.0.0.1:9999", None, "127.0.0.1", 9999),
        ("ip@127.0.0.1:9999", None, "127.0.0.1", 9999),
        ("mptcp4@127.0.0.1:9999", None, "127.0.0.1", 9999),
        ("stream+ipv4@127.0.0.1:9999", None, "127.0.0.1", 9999),
        ("127.0.0.1:9999-10001", None, "127.0.0.1", 9999),
        ("ipv6@[::1]:9999", None, "::1", 9999),
        ("ipv6@::1:9999", None, "::1", 9999),
        ("localhost:9999", None, "localhost", 9999),
        (":9999", None, "127.0.0.1", 9999),
        ("*:9999", None, "127.0.0.1", 9999),
        ("ipv4@0.0.0.0:9999", None, "127.0.0.1", 9999),
        ("[::]:9999", None, "::1", 9999),
    ],
)
def test_addresses(text: str, path: str | None, host: str, port: int) -> None:
    place = parse_address(text)
    assert place and (place.path, place.host, place.port) == (path, host, port)


@pytest.mark.parametrize("text", ["fd@3", "sockpair@3", '"${SOCKET}"', "ipv4@127.0.0.1", "quic4@nowhere"])
def test_what_nobody_can_connect_to(text: str) -> None:
    assert parse_address(text) is None


def test_haproxy_answers_at_each(tmp_path: Path) -> None:
    """Each spelling that HAProxy accepts on a `stats socket` line, in one process; 3.1 is the first with `abnsz@` and `mptcp@`."""
    path = tmp_path / "own.sock"
    spellings = [f"uxst@{path}", f"stream+unix@{path}2", f"abns@{path}", f"ip@127.0.0.1:{free_port()}", f"tcp4@127.0.0.1:{free_port()}"]
    if binaries.version(binaries.newest()) >= (3, 1):
        spellings += [f"abnsz@{path}", f"mptcp@127.0.0.1:{free_port()}"]
    lines = "".join(f"  stats socket {spelling} level admin\n" for spelling in spellings)
    with HAProxy(tmp_path, f"global\n  stats socket {{stats}} level admin\n{lines}"):
        for spelling in spellings:
            runtime = Runtime()
            runtime.use(None, [spelling])
            assert "Pid:" in asyncio.run(runtime.send("show info")), spelling
