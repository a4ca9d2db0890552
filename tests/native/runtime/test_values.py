"""What goes to the socket is what HAProxy's socket and its file read alike."""

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.runtime.values import MOST, host_name, ip, number


@pytest.mark.parametrize(
    ("value", "least", "most", "meant"), [("0", 0, 256, 0), ("256", 0, 256, 256), ("010", 0, 256, 10), (MOST, 0, MOST, MOST)]
)
def test_numbers(value: int | str, least: int, most: int, meant: int) -> None:
    assert number(value, least, most) == meant


@pytest.mark.parametrize("value", ["50%", "257", "-1", "+5", "5x", "0x10", "1.5", "", " 5", "\u0665", True, 257, -1, "9" * 5000])
def test_what_is_no_number_for_both(value: int | str) -> None:
    with pytest.raises(BadValue):
        number(value, 0, 256)


@pytest.mark.parametrize("text", ["192.0.2.1", "::1", "0.0.0.0"])
def test_addresses(text: str) -> None:
    assert str(ip(text)) == text


@pytest.mark.parametrize("text", ["127.1", "ipv4@192.0.2.1", "192.0.2.1:80", "192.0.2.0/24", "fe80::1%eth0", "/sock", "*", "localhost", ""])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(BadValue):
        ip(text)


@pytest.mark.parametrize("text", ["localhost", "app-1.example.com", "a.example.com.", "3com.1x"])
def test_names(text: str) -> None:
    assert host_name(text) == text


@pytest.mark.parametrize(
    "text", ["127.1", "192.0.2.1", "_http._tcp.example.com", "ipv4@a", "/sock", "a b", "a;b", "*", "", "a..b", "::1", "x" * 64]
)
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(BadValue):
        host_name(text)
