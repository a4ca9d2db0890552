"""Splitting: nothing is lost, and the words are those that HAProxy itself sees."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as some

from haproxy_native.text.words import is_word, quoted, split, unquoted, words_of
from tests.haproxy import binaries
from tests.laws.settings import law
from tests.native.text.splitting import Oracle, up_to_empty

BLANKS = [" ", "  ", "\t", "\v", "\f", "\r"]
ESCAPES = ["\\ ", "\\#", '\\"', "\\'", "\\\\", "\\t", "\\n", "\\x41", "\\q", "\\$", "\\"]
QUOTED = ['"', "'", '"a b"', "'a b'", '"${X}"', '"$Y"', '"${Z-a"b}"', '"', "'"]
OTHERS = ["a", "b", "-", "z", "#", "{", "}", "(", ",", "é", "\xa0", "\x1c", "\x85", "\udcff", "${X}", "if"]
LINES = some.lists(some.sampled_from([*BLANKS, *ESCAPES, *QUOTED, *OTHERS]), max_size=9).map("".join)


@pytest.fixture(params=binaries.EACH, scope="module")
def oracle(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    return Oracle(request.param, tmp_path_factory.mktemp("split"))


@law(25)
@given(some.lists(LINES, min_size=1, max_size=35))
def test_words_are_those_of_haproxy(oracle: Oracle, lines: list[str]) -> None:
    faults = oracle.faults(lines)
    whole = [line for i, line in enumerate(lines) if i not in faults and oracle.can_tell(line)]
    expected = [up_to_empty([unquoted(word) for word in split(f"x {line}\n").words[1:]]) for line in whole]
    assert oracle.words(whole) == expected


@given(some.text(some.characters(exclude_categories=())))
@law(500)
def test_any_line_joins_to_itself(line: str) -> None:
    assert split(line).join() == line
    alone = line.replace("\n", "")
    assert words_of(alone) == split(alone).words


@given(LINES)
@law(500)
def test_awkward_lines_join_to_themselves(line: str) -> None:
    for end in ("", "\n", "\r\n"):
        assert split(line + end).join() == line + end
        assert words_of(line + end) == split(line + end).words


@given(LINES)
@law(500)
def test_word_stands_as_one_word_between_others(text: str) -> None:
    if is_word(text):
        assert split(f"a {text} b # c").words == ("a", text, "b")


@given(LINES)
@law(500)
def test_quoted_text_is_one_word_that_means_the_text(text: str) -> None:
    text = text.replace("\r", "").replace("${", "$")
    assert is_word(quoted(text))
    assert unquoted(quoted(text)) == text


def test_variable_stays_live_in_quotes() -> None:
    assert quoted("a ${B} $1") == '"a ${B} \\$1"'


@pytest.mark.parametrize(
    ("line", "words", "tail"),
    [
        ("a#b c\n", ["a"], "#b c\n"),
        ("a \\# b", ["a", "\\#", "b"], ""),
        ("a\\ b\t\\\tc", ["a\\ b", "\\", "c"], ""),
        ('a "b # c" d # e\r\n', ["a", '"b # c"', "d"], " # e\r\n"),
        ("a\rb c\n", ["a"], "\rb c\n"),
        ("a \rb\n", ["a", "b"], "\n"),
        ("a\u00a0b\u2003c", ["a\u00a0b\u2003c"], ""),
        ('a "b c\n', ["a", '"b c'], "\n"),
        ("", [], ""),
        ("   # only", [], "   # only"),
    ],
)
def test_split(line: str, words: list[str], tail: str) -> None:
    assert (list(split(line).words), split(line).tail) == (words, tail)


@pytest.mark.parametrize(
    ("line", "comment"),
    [("a # b ", "b"), ("a #", ""), ("a", None), ("a#b", "b"), ('"#"', None), ("a # b # c\r\n", "b # c"), ("a\r# dead", None)],
)
def test_comment(line: str, comment: str | None) -> None:
    assert split(line).comment == comment


# What makes a search begin again and again: openings without an end, and many small pieces.
HOSTILE = ["'", 'a"', "\\a", "${a-", '"$ ', " \r"]
MORE_HOSTILE = ['"a', '"\\a\\', '"${a-', "${a"]


@pytest.mark.parametrize("call", [split, is_word, quoted, unquoted])
@pytest.mark.parametrize("unit", [*HOSTILE, *(pytest.param(unit, marks=pytest.mark.soak) for unit in MORE_HOSTILE)])
def test_hostile_text_is_read_in_linear_time(unit: str, call: Callable[[str], object]) -> None:
    """Otherwise this takes hours: the limit of a test's time ends it."""
    call('"' + unit * (2**19 // len(unit)))


@pytest.mark.parametrize(
    ("text", "words"), [('"${A-b c', ['"${A-b c']), ('"${A-b" c', ['"${A-b" c']), ('"${A-b" c}" d', ['"${A-b" c}"', "d"])]
)
def test_default_of_a_variable_ends_at_its_brace(text: str, words: list[str]) -> None:
    assert list(split(text).words) == words
    assert is_word(quoted(text))


def test_default_without_an_end_is_no_variable() -> None:
    assert quoted('${A-"$') == '"\\${A-\\"\\$"'


def test_long_line_is_split_in_linear_time() -> None:
    words = ['"' + "x" * 60 + '"', "plain", "\\ "] * 4000
    line = " ".join(words) + " # " + "c" * 200_000
    assert list(split(line).words) == words
