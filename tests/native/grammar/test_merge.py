"""Pieces of a line: what stays, what is replaced, where new ones go."""

import pytest

from haproxy_native.grammar.merge import first_misread, identity, join_pieces, with_gaps_of, write_onto
from haproxy_native.grammar.synopsis import Chain, Group, Literal, MatchedWords, Options, Placeholder, Rest
from haproxy_native.grammar.values import Integer, Text
from haproxy_native.text.words import split

NAME = Placeholder("name", Text())
OPTIONS = Options(
    [
        Group([Chain([Literal("a"), Placeholder("a", Integer())])]),
        Group([Chain([Literal("b"), Placeholder("b", Integer())])]),
        Group([Chain([Literal("row"), Placeholder("row", Text())])], rows="row", repeated=True),
        Group([Chain([Literal("if"), Rest("test")])]),
    ]
)
CHAIN = Chain([Literal("x"), NAME, OPTIONS])


def edited(line: str, **values: object) -> str:
    old = split(line)
    parts = CHAIN.parts(old.words)
    assert parts is not None
    return join_pieces(write_onto(old, parts, CHAIN.written(values), CHAIN), old.tail).join()


@pytest.mark.parametrize(
    ("line", "values", "expected"),
    [
        ("x n  a 1   b 2 # c", {"name": "n", "a": 1, "b": 2}, "x n  a 1   b 2 # c"),
        ("x n  a  1   b 2 # c", {"name": "n", "a": 7, "b": 2}, "x n  a  7   b 2 # c"),
        ("x n  a 1   b 2", {"name": "n", "b": 2}, "x n   b 2"),
        ("x n a 01 a 1", {"name": "n", "a": 1}, "x n a 01 a 1"),
        ("x n b 2", {"name": "n", "a": 1, "b": 2}, "x n a 1 b 2"),
        ("x n row p row q", {"name": "n", "row": ["p", "r"]}, "x n row p row r"),
        ("x n row p row q", {"name": "n", "row": ["p"]}, "x n row p"),
        ("x n zork a 1 zork", {"name": "m", "a": 1}, "x m zork a 1 zork"),
        ("x n b 2 if c d", {"name": "n", "a": 1, "b": 2, "test": "c d"}, "x n a 1 b 2 if c d"),
        ("x n if c   d", {"name": "n", "test": "c  d"}, "x n if c   d"),
    ],
)
def test_only_what_is_asked_for_changes(line: str, values: dict[str, object], expected: str) -> None:
    assert edited(line, **values) == expected


def test_words_take_the_gaps_of_those_they_replace() -> None:
    assert with_gaps_of([("\t", "a"), ("  ", "b")], ["c", "d", "e"]) == [("\t", "c"), ("  ", "d"), (" ", "e")]


def test_a_row_is_known_by_its_turn_and_an_option_by_its_name() -> None:
    assert identity(MatchedWords((2, 2, 1), 0, 0, {}), CHAIN) == (2, 2, 1)
    assert identity(MatchedWords((2, 0, 1), 0, 0, {}), CHAIN) == (2, 0, 0)
    assert identity(MatchedWords(None, 0, 0, {}), CHAIN) == ()


def test_a_piece_that_is_read_as_something_else_is_found() -> None:
    pieces = [((0,), [("", "x")]), ((1,), [(" ", "n")]), ((2, 0, 0), [(" ", "a"), (" ", "1")])]
    right, wrong = CHAIN.parts(["x", "n", "a", "1"]), CHAIN.parts(["x", "n", "a", "one"])
    assert right is not None
    assert wrong is not None
    assert first_misread(pieces, right, CHAIN) is None
    assert first_misread(pieces, wrong, CHAIN) == pieces[2]
