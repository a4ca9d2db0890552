"""Value types: words of the file and values of the API, both ways."""

import re
from typing import Any

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.grammar.values import (
    Choice,
    Digits,
    Duration,
    Integer,
    Listed,
    Size,
    Text,
    Unknowable,
    Unquoted,
    ValueType,
    agrees,
    many_words,
    one_word,
    refuse_line_breaks,
    type_of,
)


def shown(value: object) -> str:
    """The same in every worker: without addresses."""
    return re.sub(r"<[\w.]*?(\w+) object at 0x\w+>", r"\1", repr(value))


BOTH_WAYS: list[tuple[ValueType, str, Any]] = [
    (Text(), "a", "a"),
    (Text(), '"a b"', '"a b"'),
    (Text(), "a\\ b", "a\\ b"),
    (Integer(), "-7", -7),
    (Digits(), "007", "007"),
    (Unquoted(), '"a b"', "a b"),
    (Unquoted(), "a", "a"),
    (Duration(), "5s", 5000),
    (Duration(), "1500ms", 1500),
    (Duration(), "2d", 172_800_000),
    (Duration(), "0ms", 0),
    (Duration(unit="s", suffix="none"), "5000ms", 5000),
    (Duration(suffix="s"), "60s", 60_000),
    (Duration(suffix="s"), "1500ms", 1500),
    (Size(), "2k", 2048),
    (Size(), "1000", 1000),
    (Size(suffixed=False), "2048", 2048),
    (Choice({True: "on", False: "off"}), "off", False),
    (Choice({"a": "A"}, strict=False), "other", "other"),
    (Listed(Text(), ","), "a,b(1,2),c", ["a", "b(1,2)", "c"]),
]
READ_ONLY: list[tuple[ValueType, str, Any]] = [
    (Duration(), "1000", 1000),
    (Duration(unit="s"), "2", 2000),
    (Duration(), "500us", 1),
    (Duration(), "0us", 0),
    (Size(), "1M", 1024**2),
    (Size(unit=1024**2), "4", 4),
    (Integer(), "+7", 7),
]


@pytest.mark.parametrize(("kind", "word", "value"), BOTH_WAYS, ids=shown)
def test_reads_what_it_writes(kind: ValueType, word: str, value: Any) -> None:
    assert kind.read(word) == value
    assert kind.write(value) == word


@pytest.mark.parametrize(("kind", "word", "value"), READ_ONLY, ids=shown)
def test_reads(kind: ValueType, word: str, value: Any) -> None:
    assert kind.read(word) == value


@pytest.mark.parametrize("kind", [Integer(), Digits(), Duration(), Size()], ids=shown)
def test_a_variable_is_no_error_and_no_number(kind: ValueType) -> None:
    with pytest.raises(Unknowable):
        kind.read('"${MAX}"')
    with pytest.raises(ValueError, match="ten"):
        kind.read("ten")


def test_a_list_refuses_what_would_be_two_items() -> None:
    with pytest.raises(ValueError, match="contains the separator"):
        Listed(Text(), ",").write(["a,b"])


def test_a_list_refuses_what_stands_alone_beside_others() -> None:
    kind = Listed(Text(), ",", alone="none")
    assert kind.write(["none"]) == "none"
    with pytest.raises(ValueError, match="'none' cannot be combined with other values"):
        kind.write(["none", "cli"])


@pytest.mark.parametrize(
    ("text", "one", "many"),
    [
        ("a", "a", "a"),
        ("a b", '"a b"', "a b"),
        ("  a  b ", '"  a  b "', "a  b"),
        ('say "hi', '"say \\"hi"', 'say "\\"hi"'),
        ("a#b", '"a#b"', 'a"#b"'),
        ("${A b", '"\\${A b"', "${A b"),
        ("${A} b", '"${A} b"', "${A} b"),
        ("ends\\", '"ends\\\\"', '"ends\\\\"'),
        ("a\\ ", "a\\ ", "a\\ "),
        (" ", '" "', ""),
    ],
)
def test_text_becomes_words_that_haproxy_takes(text: str, one: str, many: str) -> None:
    assert one_word(text) == one
    assert many_words(text) == many


@pytest.mark.parametrize(
    ("value", "said", "expected"),
    [
        ("a b", '"a b"', True),
        ("a  b", "a b", True),
        ("a", "b", False),
        ([1, "a b"], [1, '"a b"'], True),
        ([1], [1, 2], False),
        ({"a": "x"}, {"a": "x", "b": 1}, True),
        ({"a": "x"}, {}, False),
        (7, None, False),
    ],
)
def test_values_agree_as_far_as_quotes(value: Any, said: Any, expected: bool) -> None:
    assert agrees(value, said) is expected


@pytest.mark.parametrize(
    ("schema", "note", "kind"),
    [
        ({"type": "integer"}, {}, Integer),
        ({"type": "integer", "x-duration": True}, {}, Duration),
        ({"type": "integer", "x-size": True}, {}, Size),
        ({"type": "string"}, {"digits": True}, Digits),
        ({"type": "string"}, {"unquoted": True}, Unquoted),
        ({"type": "string", "enum": ["a"]}, {}, Choice),
        ({"type": "boolean"}, {"values": {"true": "on", "false": "off"}}, Choice),
        ({"type": "array", "items": {"type": "string"}}, {"split": ","}, Listed),
        ({}, {}, Text),
    ],
)
def test_the_type_follows_from_the_schema(schema: dict[str, Any], note: dict[str, Any], kind: type[ValueType]) -> None:
    assert type(type_of(schema, note)) is kind


def test_examples_come_from_the_schema() -> None:
    assert type_of({"type": "string", "example": "x"}, {}).examples == ("x",)
    assert type_of({"type": "integer", "minimum": 1, "maximum": 9}, {}).examples == (1, 9)


@pytest.mark.parametrize("value", [{"a": {"b": "x\ny"}}, {"a": {"b": "\0"}}, {"a": {"b": "\r"}}])
def test_line_breaks_are_refused_by_name(value: dict[str, Any]) -> None:
    with pytest.raises(BadValue, match=r"a\.b contains a line break"):
        refuse_line_breaks(value)
