"""One object on one line: read, written anew, printed onto an old line."""

from typing import Any

import pytest

from haproxy_native.errors import BadValue, Incomplete
from haproxy_native.grammar.line_shape import flattened, unflattened
from haproxy_native.grammar.load import Grammar
from haproxy_native.text.line import Line
from tests.native.grammar.language import small

HOST, RULE = small().line("host"), small().line("rule")


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("host a 1.2.3.4:80", {"name": "a", "address": "1.2.3.4", "port": 80}),
        ("host a b weight 5 no-check", {"name": "a", "address": "b", "weight": 5, "check": "disabled", "off": "enabled"}),
        ("host a b opts x,y quick", {"name": "a", "address": "b", "opts": ["x", "y"], "quick": True}),
        ("host a b inter 2s zork", {"name": "a", "address": "b", "inter": 2000}),
        ('host a b # {"k":1}', {"name": "a", "address": "b", "metadata": {"k": 1}}),
        ("host a b # words", {"name": "a", "address": "b", "metadata": {"comment": "words"}}),
        ('host a b weight "${W}"', {"name": "a", "address": "b"}),
        ("host a", None),
        ("hosts a b", None),
    ],
)
def test_reads_a_line(line: str, values: dict[str, Any] | None) -> None:
    assert HOST.read(Line(line + "\n")) == values


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("rule deny unless { x }", {"type": "deny", "cond": "unless", "cond_test": "{ x }"}),
        ("rule set(a) b c if d", {"type": "set", "name": "a", "value": "b c", "cond": "if", "cond_test": "d"}),
        ("rule pick x", {"type": "pick", "name": "x"}),
        ("rule pick by 7", {"type": "pick", "number": 7}),
    ],
)
def test_the_member_that_chooses_tells_the_synopsis(line: str, values: dict[str, Any]) -> None:
    assert RULE.read(Line(line)) == values
    assert RULE.new(values).text == line + "\n"


@pytest.mark.parametrize(
    ("old", "values", "new"),
    [
        ("\thost  a   b  weight 5   # c\r\n", {"name": "a", "address": "b", "weight": 6, "metadata": {"comment": "c"}},
         "\thost  a   b  weight 6   # c\r\n"),
        ("host a b check weight 5\n", {"name": "a", "address": "b", "weight": 5}, "host a b weight 5\n"),
        ("host a b zork weight 5\n", {"name": "a", "address": "c", "weight": 5}, "host a c zork weight 5\n"),
        ("host a b inter 2000\n", {"name": "a", "address": "b", "inter": 2000, "quick": True}, "host a b inter 2000 quick\n"),
        ("host a b weight 1 weight 2\n", {"name": "a", "address": "b", "weight": 3}, "host a b weight 1 weight 3\n"),
        ('host a b weight "${W}"\n', {"name": "a", "address": "b", "check": "enabled"}, 'host a b weight "${W}" check\n'),
        ("host a b\n", {"name": "a", "address": "b", "metadata": {"x": 1}}, 'host a b # {"x":1}\n'),
        ('host a b # {"x":1}\n', {"name": "a", "address": "b"}, "host a b\n"),
        ("host a b  # why\n", {"name": "a", "address": "c"}, "host a c  # why\n"),
        ("host a b  # why\n", {"name": "a", "address": "b", "metadata": {"x": 1}}, 'host a b  # {"x":1}\n'),
    ],
)  # fmt: skip
def test_an_old_line_keeps_all_that_is_not_asked_for(old: str, values: dict[str, Any], new: str) -> None:
    assert HOST.onto(Line(old), values).text == new


def test_a_line_that_says_it_already_is_the_same_line() -> None:
    line = Line("host  a b   weight 5 zork\n")
    assert HOST.onto(line, {"name": "a", "address": "b", "weight": 5}) is line


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"type": "set", "name": "a"}, "value in body is required"),
        ({"name": "a"}, "type in body is required"),
        ({"type": "zork"}, "unsupported type 'zork'"),
        ({"type": "set", "name": "a", "value": "b if c"}, "read as"),
    ],
)
def test_refuses_what_the_line_cannot_say(values: dict[str, Any], said: str) -> None:
    with pytest.raises(BadValue, match=said):
        RULE.new(values)


def test_a_value_that_no_synopsis_knows_is_another_line() -> None:
    assert RULE.read(Line("rule zork deny\n")) is None


def test_an_unknown_word_is_found_by_its_place() -> None:
    reading = HOST.parse_words(Line("host a b zork weight 5 zork2").words)
    assert reading is not None
    assert reading.unknown == [3, 6]


def test_an_alias_tells_what_it_stands_for() -> None:
    assert HOST.new({"name": "a", "address": "b", "off": "enabled"}).words[-1] == "no-check"


def test_tells_what_it_needs_and_how_it_is_spelled() -> None:
    assert HOST.required() == {"name", "address"}
    assert RULE.required() == {"type"}
    assert "rule pick by <number> [ <cond> <cond_test...> ]" in RULE.explain()


def test_dotted_members_are_nested() -> None:
    assert flattened({"a": {"b": 1}, "c": {"d": 2}, "x": 3}, {"a", "c"}, {"a"}) == {"a.b": 1, "c": {"d": 2}}
    assert unflattened({"a.b": 1, "c": 2}) == {"a": {"b": 1}, "c": 2}


@pytest.mark.parametrize("line", ["rule deny\n", "rule deny if x\n"])
@pytest.mark.parametrize(
    ("given", "lacking"),
    [({"cond_test": "x"}, "cond"), ({"cond": "", "cond_test": "x"}, "cond"), ({"cond": "if"}, "cond_test")],
)
def test_half_a_condition_is_refused(line: str, given: dict[str, Any], lacking: str) -> None:
    """Without it the rule would hold for all."""
    for write in (RULE.words, lambda body: RULE.onto(Line(line), body)):
        with pytest.raises(Incomplete, match=f"^{lacking} in body is required with ") as refused:
            write({"type": "deny", **given})
        assert refused.value.place
        assert refused.value.place.member == lacking
    assert RULE.words({"type": "deny", "cond_test": ""}) == ["rule", "deny"]


def test_a_value_that_no_word_tells_is_as_good_as_none() -> None:
    shape = Grammar().line("default_server")
    old = Line("default-server   weight 5\n")
    assert shape.onto(old, {"weight": 5, "no_verifyhost": "disabled", "check_via_socks4": "disabled"}) is old
    assert shape.flatten_body({"no_verifyhost": "disabled", "stick": "disabled"}) == {"stick": "disabled"}


def test_who_reads_a_line_after_another_takes_it_apart_no_more() -> None:
    old, new = Line('host a b  # {"x":1}\n'), Line("host a c\n")
    readings = [HOST.parse_words(line.words) for line in (old, new)]
    assert all(HOST.parse_words(list(line.words)) is reading for line, reading in zip((old, new), readings, strict=True))
    assert HOST.read(old) == {"name": "a", "address": "b", "metadata": {"x": 1}}
    assert HOST.read(Line("host a b\n")) == {"name": "a", "address": "b"}, "the comment is not of the words"
