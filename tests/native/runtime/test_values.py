"""What goes to the socket is what HAProxy's socket and its file read alike."""

from contextlib import nullcontext

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.runtime.argument import MOST, ip_literal, number


@pytest.mark.parametrize(
    ("value", "least", "most", "meant"), [("0", 0, 256, 0), ("256", 0, 256, 256), ("010", 0, 256, 10), (MOST, 0, MOST, MOST)]
)
def test_numbers(value: int | str, least: int, most: int, meant: int) -> None:
    assert number("weight", value, least, most) == meant


@pytest.mark.parametrize("value", ["50%", "257", "-1", "+5", "5x", "0x10", "1.5", "", " 5", "\u0665", True, 257, -1, "9" * 5000])
def test_what_is_no_number_for_both(value: int | str) -> None:
    with pytest.raises(BadValue):
        number("weight", value, 0, 256)


@pytest.mark.parametrize("text", ["192.0.2.1", "::1", "[::1]", "0.0.0.0", "224.0.0.1"])
def test_addresses(text: str) -> None:
    assert str(ip_literal("address", text)) == text.strip("[]")


NO_ADDRESSES = """
127.1 127.0.0.01 2130706433 0x7f000001 ipv4@192.0.2.1 192.0.2.1:80 192.0.2.1: 192.0.2.0/24 [192.0.2.1] [::1]:80 [::1 fe80::1%eth0 * :
localhost a.example. /sock unix@/sock abns@x ${ADDRESS}
""".split()


@pytest.mark.parametrize("text", ["", " 192.0.2.1", "192.0.2.1\n", "\u0661.0.0.1", *NO_ADDRESSES])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(BadValue, match="is not an IP address"):
        ip_literal("address", text)


@pytest.mark.parametrize(("text", "is_one"), [("192.0.2.1", True), ("[::1]", True), ("::1", False), ("::1:5", False)])
def test_where_the_file_takes_what_follows_the_last_colon_for_a_port(text: str, is_one: bool) -> None:
    with nullcontext() if is_one else pytest.raises(BadValue):
        ip_literal("address", text, bracketed=True)
