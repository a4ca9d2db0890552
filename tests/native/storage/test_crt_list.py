"""Lines of a crt-list: read as HAProxy reads them, edited one at a time."""

from typing import Any

import pytest

from haproxy_native.errors import BadValue, Missing
from haproxy_native.storage import crt_list
from haproxy_native.storage.crt_list import CrtListLine

TEXT = """\
# the first is the default
/ssl/a.pem [alpn h2,http/1.1 ssl-min-ver TLSv1.2]  a.example.com !www.a.example.com

/ssl/b.pem
  /ssl/b.pem\t*.b.example.com
"""


def test_entries() -> None:
    assert crt_list.entries(TEXT) == [
        CrtListLine("/ssl/a.pem", "alpn h2,http/1.1 ssl-min-ver TLSv1.2", ("a.example.com", "!www.a.example.com"), 2),
        CrtListLine("/ssl/b.pem", "", (), 4),
        CrtListLine("/ssl/b.pem", "", ("*.b.example.com",), 5),
    ]


def test_only_a_line_feed_ends_a_line() -> None:
    """HAProxy knows no other line ends, and no blanks but those of ASCII."""
    text = "# a comment\u2028b.pem\na.pem\fx\x85y z\u3000w\n# \x1c c.pem\nd.pem\n"
    assert crt_list.entries(text) == [CrtListLine("a.pem", "", ("x\x85y", "z\u3000w"), 2), CrtListLine("d.pem", "", (), 4)]
    assert crt_list.without_entry(text, "d.pem", 4)[0] == text.removesuffix("d.pem\n")


# As HAProxy 2.6 and 3.2 show them.
ODD = [
    ("a.pem[alpn h2]z", CrtListLine("a.pem", "alpn h2", ("z",), 1)),
    ("a.pem  [ alpn h2 ]  q", CrtListLine("a.pem", "alpn h2", ("q",), 1)),
    ("a.pem [] r", CrtListLine("a.pem", "", ("r",), 1)),
    ("a.pem [alpn h2", CrtListLine("a.pem", "", ("alpn", "h2"), 1)),
    ("a.pem # com ment", CrtListLine("a.pem", "", ("#", "com", "ment"), 1)),
    ('a.pem "x y"', CrtListLine("a.pem", "", ('"x', 'y"'), 1)),
]


@pytest.mark.parametrize(("line", "entry"), ODD)
def test_odd_lines(line: str, entry: CrtListLine) -> None:
    assert crt_list.entries(line) == [entry]


def test_objects_both_ways() -> None:
    body = {"file": "a.pem", "ssl_bind_config": "alpn h2", "sni_filter": ["x", "!y"]}
    entry = crt_list.entry_of(body)
    assert entry.text == "a.pem [alpn h2] x !y"
    assert crt_list.entries(entry.text)[0].as_object() == entry.as_object() == body
    assert crt_list.entry_of({"file": "a.pem"}).as_object() == {"file": "a.pem"}


@pytest.mark.parametrize(
    ("body", "member"),
    [
        ({"file": "a b.pem"}, "file"),
        ({"file": "a\n/etc/other.pem"}, "file"),
        ({"file": "#a.pem"}, "file"),
        ({"file": "a", "ssl_bind_config": "alpn h2] x\nb.pem ["}, "ssl_bind_config"),
        ({"file": "a", "sni_filter": ["x", "y\nb.pem"]}, "sni_filter"),
        ({"file": "a", "sni_filter": ["x y"]}, "sni_filter"),
    ],
)
def test_what_would_be_another_line(body: dict[str, Any], member: str) -> None:
    with pytest.raises(BadValue, match=f"{member} in body cannot"):
        crt_list.entry_of(body)


@pytest.mark.parametrize("text", ["", TEXT, TEXT.rstrip("\n")])
def test_adding(text: str) -> None:
    longer = crt_list.with_entry(text, CrtListLine("/ssl/c.pem", "", ("c",)))
    assert longer.startswith(text)
    assert longer.endswith("/ssl/c.pem c\n")
    assert crt_list.entries(longer)[:-1] == crt_list.entries(text)


def test_deleting_the_first() -> None:
    shorter, entry = crt_list.without_entry(TEXT, "/ssl/b.pem", 0)
    assert shorter == TEXT.replace("/ssl/b.pem\n  ", "  ")
    assert entry.line == 4


def test_deleting_at_a_line() -> None:
    shorter, entry = crt_list.without_entry(TEXT, "/ssl/b.pem", 5)
    assert shorter == TEXT.replace("  /ssl/b.pem\t*.b.example.com\n", "")
    assert entry.filters == ("*.b.example.com",)


@pytest.mark.parametrize(("file", "line"), [("/ssl/c.pem", 0), ("/ssl/a.pem", 4), ("/ssl/b", 0)])
def test_nothing_to_delete(file: str, line: int) -> None:
    with pytest.raises(Missing):
        crt_list.without_entry(TEXT, file, line)


A, B, C, B2 = (crt_list.entries(text)[0] for text in ("a.pem x", "b.pem", "c.pem", "b.pem [alpn h2]"))
DIFFERENCES = [
    ([A, B], [A, B], ([], [])),
    ([A, B], [A, B, C], ([], [C])),
    ([A, B, C], [A, C], ([1], [])),
    ([A, B], [A, C], ([1], [C])),
    ([A, B], [A, B2], ([1], [B2])),
    ([A, B, B], [A, B], ([2], [])),
    ([A, B], [], ([0, 1], [])),
    ([], [A], ([], [A])),
    ([A, B], [B, A], None),
    ([A, B], [C, A, B], None),
]


@pytest.mark.parametrize(("old", "new", "wanted"), DIFFERENCES)
def test_differences(old: list[CrtListLine], new: list[CrtListLine], wanted: tuple[list[int], list[CrtListLine]] | None) -> None:
    assert crt_list.difference(old, new) == wanted


@pytest.mark.parametrize(
    ("former", "new", "why"),
    [("a\nb\n", "b\nc\n", ""), ("a\nb\n", "b\na\n", "precede existing ones"), ("a\n", "# nothing\n", "")],
)
def test_what_stands_in_the_way(former: str, new: str, why: str) -> None:
    assert (why in crt_list.obstacle(former, new)) and bool(why) == bool(crt_list.obstacle(former, new))
