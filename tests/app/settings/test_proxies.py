"""Whose address a request has."""

import random
from ipaddress import ip_address

import pytest

from dataplaneapi.settings.proxies import UNIX, read_proxies

TRUSTED = read_proxies(["10.0.0.0/8", "fd00::/8", "192.0.2.7"])


@pytest.mark.parametrize(
    ("peer", "sent", "address"),
    [
        ("203.0.113.9", ["198.51.100.1"], "203.0.113.9"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.66, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.66", "198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1, 10.2.3.4,192.0.2.7"], "198.51.100.1"),
        ("10.0.0.1", ["nonsense, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1, nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1, nonsense, 10.0.0.2"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1,"], "10.0.0.1"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["10.0.0.5, 10.0.0.6"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1:"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1:x"], "10.0.0.1"),
        ("10.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("10.0.0.1", ["[2001:db8::1]"], "2001:db8::1"),
        ("10.0.0.1", ["[2001:db8::1]:80"], "2001:db8::1"),
        ("10.0.0.1", ["[2001:db8::1"], "10.0.0.1"),
        ("10.0.0.1", ["[2001:db8::1]80"], "10.0.0.1"),
        ("10.0.0.1", ["fe80::1%eth0"], "10.0.0.1"),
        ("10.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["198.51.100.1, ::ffff:10.9.9.9"], "198.51.100.1"),
        ("10.0.0.1", ["unknown"], "10.0.0.1"),
        ("10.0.0.1", ["\xff"], "10.0.0.1"),
        ("10.0.0.1", [f"198.51.100.1{', 10.0.0.2' * 31}"], "198.51.100.1"),
        ("10.0.0.1", [f"198.51.100.1{', 10.0.0.2' * 100_000}"], "10.0.0.1"),
        ("::ffff:10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("::ffff:203.0.113.9", ["198.51.100.1"], "203.0.113.9"),
        ("fd00::1", ["198.51.100.1"], "198.51.100.1"),
        ("fe80::1%eth0", ["198.51.100.1"], "fe80::1%eth0"),
        (UNIX, ["198.51.100.1"], UNIX),
    ],
)
def test_addresses(peer: str, sent: list[str], address: str) -> None:
    headers = [(b"x-forwarded-for", each.encode("latin-1")) for each in sent]
    assert TRUSTED.client(peer, [(b"forwarded", b"for=203.0.113.1"), *headers]) == address


def test_networks_of_ipv4_in_ipv6() -> None:
    mapped = read_proxies(["::ffff:10.0.0.5", "::ffff:192.0.2.0/120", "::/0"])
    headers = [(b"x-forwarded-for", b"198.51.100.1")]
    peers = ("10.0.0.5", "::ffff:10.0.0.5", "192.0.2.200", "10.0.0.6")
    assert [mapped.client(peer, headers) for peer in peers] == ["198.51.100.1"] * 3 + ["10.0.0.6"]


def test_none_is_trusted_by_itself() -> None:
    headers = [(b"x-forwarded-for", b"198.51.100.1")]
    assert [read_proxies([]).client(peer, headers) for peer in ("127.0.0.1", "::ffff:127.0.0.1", UNIX)] == ["127.0.0.1", "127.0.0.1", UNIX]


def test_unix_sockets() -> None:
    headers = [(b"x-forwarded-for", b"198.51.100.1")]
    only = read_proxies(["unix"])
    assert (only.client(UNIX, headers), only.client("10.0.0.1", headers), only.client(UNIX, [])) == ("198.51.100.1", "10.0.0.1", UNIX)


def test_any_header_names_an_address_that_is_no_proxy_or_the_peer() -> None:
    chance = random.Random(1)
    pieces = ["10.0.0.2", "198.51.100.1", "::1", "[::1]:80", "fd00::2", ",", ", ", ":", "]", "[", "1", "%", " ", "\x00", "\xff", "for="]
    for _ in range(5000):
        sent = "".join(chance.choices(pieces, k=chance.randrange(12))).encode("latin-1")
        found = TRUSTED.client("10.0.0.1", [(b"x-forwarded-for", sent)])
        assert found == "10.0.0.1" or not any(ip_address(found) in network for network in TRUSTED.networks), sent


@pytest.mark.parametrize("text", ["10.0.0.1/8", "10.0.0.0/33", "proxy.example.com", "", "unix:"])
def test_what_is_no_network(text: str) -> None:
    with pytest.raises(ValueError, match="expected a network such as 10.0.0.0/8"):
        read_proxies([text])
