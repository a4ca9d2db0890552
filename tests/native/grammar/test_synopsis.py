"""Nodes of the notation: what they match, what they write."""

from typing import Any

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.grammar.synopsis import (
    Chain,
    Glued,
    Group,
    Literal,
    MatchedWords,
    Node,
    NoValue,
    Options,
    Placeholder,
    Rest,
    Toggle,
    condition_at,
    merged,
)
from haproxy_native.grammar.values import Choice, Integer, Text

NAME, NUMBER = Placeholder("name", Text()), Placeholder("number", Integer())
SWITCH = Toggle("on", {"enabled": ("check",), "disabled": ("no-check",)})
GLUED = Glued(["map(", ",", ")"], [Placeholder("file", Text()), Placeholder("id", Integer())])
REST, STOPPING = Rest("args"), Rest("args", stops=True)
LIST = Rest("ids", Integer())


@pytest.mark.parametrize(
    ("node", "line", "end", "values"),
    [
        (Literal("a"), "a b", 1, {}),
        (NAME, "x y", 1, {"name": "x"}),
        (NUMBER, '"${N}" y', 1, {}),
        (SWITCH, "no-check x", 1, {"on": "disabled"}),
        (Toggle("f", {True: ("two", "words")}), "two words x", 2, {"f": True}),
        (GLUED, "map(a,7) x", 1, {"file": "a", "id": 7}),
        (REST, "a b if c", 4, {"args": "a b if c"}),
        (STOPPING, "a b if c", 2, {"args": "a b"}),
        (LIST, "1 2", 2, {"ids": [1, 2]}),
    ],
)
def test_matches(node: Node, line: str, end: int, values: dict[str, Any]) -> None:
    assert node.match(line.split(), 0) == (end, values)


@pytest.mark.parametrize(
    ("node", "line"),
    [
        (Literal("a"), "b"),
        (NAME, ""),
        (NUMBER, "x"),
        (SWITCH, "checks"),
        (GLUED, "map(a,b)"),
        (GLUED, "map(a"),
        (STOPPING, "if c"),
        (LIST, "a"),
    ],
)
def test_leaves_what_is_not_its_own(node: Node, line: str) -> None:
    assert node.match(line.split(), 0) is None


@pytest.mark.parametrize(
    ("node", "values", "words"),
    [
        (Literal("a"), {}, ["a"]),
        (NAME, {"name": "a b"}, ['"a b"']),
        (SWITCH, {"on": "disabled"}, ["no-check"]),
        (Toggle("on", {"enabled": ("x",), "disabled": None}), {"on": "disabled"}, []),
        (GLUED, {"file": "a", "id": 7}, ["map(a,7)"]),
        (REST, {"args": "a  b"}, ["a  b"]),
        (LIST, {"ids": [1, 2]}, ["1", "2"]),
    ],
)
def test_writes(node: Node, values: dict[str, Any], words: list[str]) -> None:
    assert node.write(values) == words


@pytest.mark.parametrize("node", [NAME, SWITCH, GLUED, REST, LIST])
def test_says_what_is_missing(node: Node) -> None:
    with pytest.raises(NoValue) as missing:
        node.write({})
    assert missing.value.member in node.members


def test_a_blank_text_is_no_words() -> None:
    with pytest.raises(BadValue, match="args in body is blank"):
        REST.write({"args": " \t"})


@pytest.mark.parametrize(
    ("line", "at"),
    [("a if b", 1), ("{ a if b } unless c", 5), ("!{ if } if", 3), ("a b", 2), ("if", 0), ('"if" a', 0)],
)
def test_a_condition_stands_outside_braces(line: str, at: int) -> None:
    assert condition_at(line.split(), 0) == at


OPTIONS = Options(
    [
        Group([Chain([Literal("via"), NAME])]),
        Group([Chain([Placeholder("kind", Choice({"x": "x", "y": "y"}))])]),
        Group([Chain([Literal("to"), Placeholder("to.a", Text())])], rows="to", repeated=True),
        Group([Chain([Literal("pair"), NUMBER, Placeholder("other", Text())])]),
    ]
)
CHAIN = Chain([Literal("hop"), OPTIONS])


@pytest.mark.parametrize(
    ("line", "values", "unknown"),
    [
        ("hop", {}, []),
        ("hop y via n", {"kind": "y", "name": "n"}, []),
        ("hop to 1 x to 2", {"to": [{"a": "1"}, {"a": "2"}], "kind": "x"}, []),
        ("hop zork via n zork", {"name": "n"}, [1, 4]),
        ("hop via", {}, [1]),
        ("hop via a via b", {"name": "b"}, []),
    ],
)
def test_options_come_in_any_order(line: str, values: dict[str, Any], unknown: list[int]) -> None:
    parts = CHAIN.parts(line.split())
    assert parts is not None
    assert merged(parts, nodes=CHAIN.nodes) == values
    assert [part.start for part in parts if part.key is None] == unknown


def test_a_group_given_in_part_is_refused() -> None:
    with pytest.raises(BadValue, match="number set without other"):
        CHAIN.write({"name": "n", "number": 1})
    assert CHAIN.write({"number": 1, "other": "o", "to": [{"a": "1"}, {"a": "2"}]}) == "hop to 1 to 2 pair 1 o".split()


def test_what_is_required_stands_outside_brackets() -> None:
    assert Chain([Literal("a"), NAME, OPTIONS, NUMBER]).required() == ("name", "number")


def test_of_parts_that_say_the_same_the_last_counts() -> None:
    parts = [MatchedWords((1, 0, 0), 1, 3, {"name": "a"}), MatchedWords(None, 3, 4, {}), MatchedWords((1, 0, 1), 4, 6, {"name": "b"})]
    assert merged(parts, nodes=CHAIN.nodes) == {"name": "b"}


@pytest.mark.parametrize(
    ("word", "user", "password"),
    [
        ("ops:pw", "ops", "pw"),
        ('ops:"se cret"', "ops", '"se cret"'),
        ('"ops:se cret"', "ops", '"se cret"'),
        ("'ops:se #cret'", "ops", '"se #cret"'),
        ('"ops":pw', "ops", "pw"),
        ('o"ps:p"w', "ops", "pw"),
        ("ops:se\\ cret", "ops", "se\\ cret"),
    ],
)
def test_quotes_around_several_places_of_a_word(word: str, user: str, password: str) -> None:
    auth = Glued(["", ":", ""], [Placeholder("user", Text()), Placeholder("password", Text())])
    assert auth.match([word], 0) == (1, {"user": user, "password": password})
    assert auth.match(auth.write({"user": user, "password": password}), 0) == (1, {"user": user, "password": password})
