"""What `show table` says, line by line."""

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.runtime.stick_tables import Table, check_datum, parse_entries, parse_tables, stored_key, unescape

KNOWN = frozenset(["gpc0", "conn_rate", "server_id"])


def test_tables() -> None:
    text = (
        "# table: mesh/shared, type: ip, size:1024, used:7\n0x1: key=1.2.3.4 use=0 exp=0\n# table: b, type: string, size:1, used:0, more\n"
    )
    assert list(parse_tables(text)) == [Table("mesh/shared", "ip", 1024, 7), Table("b", "string", 1, 0)]


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("0x1f: key=1.2.3.4 use=0 exp=15 gpc0=2000000", {"id": "0x1f", "key": "1.2.3.4", "exp": 15, "gpc0": 2000000}),
        ("0x1: key=a use=1 exp=0 shard=0 server_id=3", {"id": "0x1", "key": "a", "exp": 0, "use": True, "server_id": 3}),
        ("0x1: key=a use=2 exp=0 conn_rate(10000)=7 gpc1=3", {"id": "0x1", "key": "a", "exp": 0, "conn_rate": 7}),
        (r"0x1: key=use\=1\ exp\=2 use=0 exp=0 server_key=gpc0=1", {"id": "0x1", "key": "use=1 exp=2", "exp": 0}),
        ("0x1: key= use=0 exp=0", {"id": "0x1", "key": "", "exp": 0}),
    ],
)
def test_an_entry(line: str, entry: dict[str, object]) -> None:
    assert list(parse_entries(f"# table: t, type: ip, size:1, used:1\n{line}\n", KNOWN)) == [entry]


@pytest.mark.parametrize(
    ("shown", "key"),
    [
        ("plain", "plain"),
        (r"a\ \ b\=c\\d", "a  b=c\\d"),
        (r"\xC3\xBC\n\e", "ü\n\x1b"),
        (r"\xFF", "\udcff"),
        (r"\\x41", r"\x41"),
    ],
)
def test_a_key_as_it_was(shown: str, key: str) -> None:
    assert unescape(shown) == key


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("ip", {"1.2.3.4": "1.2.3.4", "::ffff:1.2.3.4": "1.2.3.4"}, ["banana", "::1", "1.2.3", ""]),
        ("ipv6", {"::1": "::1", "::0:1": "::1", "1.2.3.4": "::ffff:1.2.3.4"}, ["1.2.3", "fe80::1%lo", "zz"]),
        ("integer", {"0": "0", "4294967295": "4294967295"}, ["-1", "4294967296", "banana", "٣", "1.5"]),
        ("string", {"anything at all": "anything at all"}, []),
        ("binary", {}, ["0a0b0c0d", "ab"]),
    ],
)
def test_keys_of_a_type(kind: str, good: dict[str, str], bad: list[str]) -> None:
    assert {key: stored_key(kind, key) for key in good} == good
    for key in bad:
        with pytest.raises(BadValue):
            stored_key(kind, key)


def test_numbers_that_would_become_others() -> None:
    check_datum("gpc0", 2**32 - 1)
    check_datum("bytes_in_cnt", 2**40)
    check_datum("gpc", {"idx": 1})
    for name, value in (("gpc0", 2**32), ("gpc0", -1), ("bytes_in_cnt", 2**64)):
        with pytest.raises(BadValue, match=name):
            check_datum(name, value)
