"""Every way to write a socket's address."""

import pytest

from haproxy_native.runtime.socket import parse_address


@pytest.mark.parametrize(
    ("text", "path", "host", "port"),
    [
        ("/run/haproxy.sock", "/run/haproxy.sock", "", 0),
        ("relative.sock", "relative.sock", "", 0),
        ("unix@/run/haproxy.sock", "/run/haproxy.sock", "", 0),
        ("/odd:1/haproxy.sock", "/odd:1/haproxy.sock", "", 0),
        ("abns@haproxy", "\0haproxy", "", 0),
        ("127.0.0.1:9999", None, "127.0.0.1", 9999),
        ("ipv4@127.0.0.1:9999", None, "127.0.0.1", 9999),
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
