"""Map files as text: read as HAProxy reads them, and edited without a word more than is meant."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.runtime import lists
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.lists import LONGEST_ENTRY, MapEntry
from haproxy_native.storage import list_files
from tests.haproxy.process import SMALL, HAProxy

ODD = (
    "# comment\n  #indented\n\n \t \na x\n  b   two words  \t\nc\tv\ttab\nd x\r\nonly\nonlyblank  \ne #v # c\n"
    'f\vv w\ng v\v\na again\nh "q"\nü ü\ni v\rrest\nj\rrest v\n \rk v\nl v\0rest\n\0m v\nn v \r \nlast line'
)


def test_it_is_read_as_haproxy_reads_it(tmp_path: Path, haproxy_binary: str) -> None:
    (tmp_path / "odd.map").write_text(ODD, newline="")
    rule = f"  http-request set-var(txn.a) path,map({tmp_path}/odd.map)\n"

    async def seen(haproxy: HAProxy) -> list[tuple[str, str]]:
        runtime = Runtime()
        await runtime.connect(str(haproxy.master), [str(haproxy.stats)], 10, 0.02)
        return [(each.key, each.value) for each in await lists.read_map(runtime, f"{tmp_path}/odd.map")]

    with HAProxy(tmp_path, SMALL + rule, binary=haproxy_binary) as haproxy:
        assert [(each.key, each.value) for each in list_files.parse_map(ODD)] == asyncio.run(seen(haproxy))


OWN = "# head\n\none 1\n# of two\n two   2 \n\n# tail\n"


@pytest.mark.parametrize(
    ("before", "entries", "after"),
    [
        (OWN, [("one", "1"), ("two", "2")], OWN),
        (OWN, [("one", "1"), ("two", "two words")], OWN.replace(" two   2 ", " two   two words ")),
        (OWN, [("one", "1"), ("two", "2"), ("three", "3 x")], "# head\n\none 1\n# of two\n two   2 \nthree 3 x\n\n# tail\n"),
        (OWN, [("two", "2")], "# head\n\n# of two\n two   2 \n\n# tail\n"),
        (OWN, [("one", "1")], "# head\n\none 1\n# of two\n\n# tail\n"),
        (OWN, [("two", "2"), ("one", "1")], "# head\n\n# of two\n two   2 \none 1\n\n# tail\n"),
        (OWN, [], "# head\n\n# of two\n\n# tail\n"),
        ("", [("a", "b")], "a b\n"),
        (OWN, [("new", "x")], "# head\n\nnew x\n# of two\n\n# tail\n"),
        ("# all\n", [("a", "b")], "# all\na b\n"),
        ("a b", [("a", "b"), ("c", "d")], "a b\nc d\n"),
        ("a b\r\n", [("a", "b"), ("c", "d")], "a b\r\nc d\r\n"),
        ("a 1\na 2\n", [("a", "1"), ("a", "3")], "a 1\na 3\n"),
        ("a 1\na 2\n", [("a", "2")], "a 2\n"),
        ("a\n", [("a", "")], "a\n"),
        ("a\n", [("a", "b")], "a b\n"),
        ("a 1\rrest\r\n", [("a", "2")], "a 2\rrest\r\n"),
        ("a\rrest 1\n", [("a", "2")], "a 2\rrest 1\n"),
    ],
)
def test_it_gets_exactly_these_entries(before: str, entries: list[tuple[str, str]], after: str) -> None:
    wanted = [MapEntry(*each) for each in entries]
    assert list_files.edit_map(before, wanted) == after
    assert list_files.parse_map(after) == wanted
    assert list_files.edit_map(after, wanted) == after


@pytest.mark.parametrize(
    "entry", [MapEntry("a b", "x"), MapEntry("#a", "x"), MapEntry("", "x"), MapEntry("a", "x\ny"), MapEntry("a\r", "x\r")]
)
def test_what_no_line_can_hold(entry: MapEntry) -> None:
    with pytest.raises(BadValue):
        list_files.edit_map("", [entry])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"a b\n", ""),
        (b"# a\n", ""),
        (b"# " + b"x" * LONGEST_ENTRY, ""),
        (b"a\n", "line 2 has a key without a value"),
        (b"a " + b"x" * LONGEST_ENTRY, "line 2 is longer than 15000 bytes"),
    ],
)
def test_what_cannot_be_sent(line: bytes, why: str) -> None:
    assert list_files.payload_obstacle([b"k v\n", line])[: len(why)] == why
    assert bool(list_files.payload_obstacle([b"k v\n", line])) == bool(why)


@pytest.mark.parametrize(
    ("before", "after", "keys"),
    [
        (OWN, OWN, {}),
        (OWN, OWN.replace("one 1", "one 9"), {"one": "change"}),
        (OWN, "# head\n\none 1\n# of two\n two   2 \nthree 3\n\n# tail\n", {"three": "create"}),
        (OWN, "# head\n\none 1\n# of two\n\n# tail\n", {"two": "delete"}),
        ("a 1\nb 2\n", "b 3\nc 4\n", {"a": "delete", "b": "change", "c": "create"}),
        ("a 1\nb 2\n", "b 2\na 1\n", None),
        ("a 1\nb 2\n", "c 3\na 1\nb 2\n", None),
        ("a 1\n", "a 1\na 2\n", None),
        ("a 1\na 2\n", "a 1\n", None),
        (OWN, OWN.replace("# head", "# mine"), None),
        (OWN, OWN.replace("two   2", "two 2"), None),
    ],
)
def test_which_keys_differ_where_nothing_else_does(before: str, after: str, keys: dict[str, str] | None) -> None:
    assert list_files.changed_keys(before, after) == keys
