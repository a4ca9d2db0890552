"""A map's entries as JSON, however the answer comes."""

import json

import pytest

from haproxy_native.runtime.dumps import MapDump

ENTRIES = [
    ("0x1", "plain", "value"),
    ("0x2f", "two", "words  and more "),
    ("0x3", 'quo"te', "back\\slash\ttab"),
    ("0x4", "ünï", "☃"),
    ("0x5", "caf\udce9", "\x1f"),
    ("0x6", "empty", ""),
]


def dumped(text: str, size: int) -> object:
    data, dump = text.encode("utf-8", "surrogateescape"), MapDump()
    for place in range(0, len(data), size):
        dump.take(data[place : place + size])
    return json.loads(dump.body)


@pytest.mark.parametrize("size", [1, 3, 20, 1000])
@pytest.mark.parametrize("entries", [ENTRIES, ENTRIES[:2], []])
def test_entries(entries: list[tuple[str, str, str]], size: int) -> None:
    text = "".join(" ".join(entry) + "\n" for entry in entries)
    assert dumped(text + "\n", size) == [{"id": id_, "key": key, "value": value} for id_, key, value in entries]


def test_an_entry_without_a_value_and_a_refusal() -> None:
    assert dumped("0x1 a b\n0x2 key\n\n", 1000) == [{"id": "0x1", "key": "a", "value": "b"}, {"id": "0x2", "key": "key", "value": ""}]
    assert dumped("0x1 key\n\n", 1000) == [{"id": "0x1", "key": "key", "value": ""}]
    assert dumped("0x1\n0x2 a b c d e\n", 1000) == [{"id": "0x1", "key": "", "value": ""}, {"id": "0x2", "key": "a", "value": "b c d e"}]
    assert dumped("0x1 a b c\n0x2 key\n", 1000) == [{"id": "0x1", "key": "a", "value": "b c"}, {"id": "0x2", "key": "key", "value": ""}]
    assert dumped("0x1 a b c d\n0x2\n", 1000) == [{"id": "0x1", "key": "a", "value": "b c d"}, {"id": "0x2", "key": "", "value": ""}]
    assert dumped("0x1  a\n", 1000) == [{"id": "0x1", "key": "", "value": "a"}]
    assert dumped("Unknown map identifier. Please use #<id> or <file>.\n\n", 7) == []


def test_it_starts_anew() -> None:
    dump = MapDump()
    dump.take(b"0x1 a b\n0x2 c")
    dump.start()
    dump.take(b"0x3 e f\n\n")
    assert json.loads(dump.body) == [{"id": "0x3", "key": "e", "value": "f"}]
