"""A section as an object, and an edit of the object as an edit of its lines."""

from typing import Any

import pytest

from haproxy_native.grammar.directive import NOTHING
from haproxy_native.grammar.load import Grammar
from haproxy_native.grammar.section_shape import holder_of, with_member
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from tests.native.grammar.language import small

PLACE = small().section("place")
TEXT = """\
place p from q # {"team":"a"}
\t# about the level
\tlevel   1   # one
\tzork a b
\toption open
\tname a

\tname b
\ttimeout wait 2000
\toption guard by x
"""
OBJECT = {
    "name": "p",
    "from": "q",
    "metadata": {"team": "a"},
    "level": 1,
    "open": "enabled",
    "wait": 2000,
    "names": ["a", "b"],
    "guard": {"enabled": "enabled", "by": "x"},
}


def section(text: str = TEXT) -> Section:
    return Section("place", "p", text)


def test_reads_all_it_knows() -> None:
    assert PLACE.read(section()) == OBJECT


def test_told_what_it_says_it_stays() -> None:
    assert PLACE.onto(section(), OBJECT).text == TEXT


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"level": 2}, "level   1   # one", "level   2   # one"),
        ({"level": None}, "\tlevel   1   # one\n", ""),
        ({"open": "disabled"}, "option open", "no option open"),
        ({"names": ["a", "c"]}, "name b", "name c"),
        ({"names": ["a", "b", "c"]}, "\tname b\n", "\tname b\n\tname c\n"),
        ({"wait": 2001}, "wait 2000", "wait 2001ms"),
        ({"guard": {"enabled": "disabled"}}, "option guard by x", "no option guard"),
        ({"from": None}, "place p from q", "place p"),
        ({"metadata": None}, 'place p from q # {"team":"a"}', "place p from q"),
        ({"note": "some words"}, "option guard by x\n", "option guard by x\n\tnote some words\n"),
        ({"inner": {"deep": 3}}, "option guard by x\n", "option guard by x\n\tdeep 3\n"),
        ({"defaults": {"weight": 5}}, "option guard by x\n", "option guard by x\n\thost-default weight 5\n"),
    ],
    ids=str,
)
def test_an_edit_changes_its_own_line(changes: dict[str, Any], old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    assert PLACE.onto(section(), {**OBJECT, **changes}).text == TEXT.replace(old, new)


def test_a_quoted_header_that_says_the_same_stays() -> None:
    text = '"place" p\n  level 1\n'
    assert PLACE.onto(section(text), {"name": "p", "level": 2}).text == text.replace("1", "2")


def test_a_new_section_has_a_line_for_each_member() -> None:
    made = PLACE.new({"name": "n", "level": 1, "marks": [{"a": "x"}, {"a": "y", "b": "z"}], "open": "disabled"}, "    ")
    assert made.text == "place n\n    level 1\n    no option open\n    mark x\n    mark y as z\n"


def test_a_new_line_stays_out_of_conditional_blocks() -> None:
    text = "place p\n  .if defined(X)\n  level 1\n  .endif\n"
    assert PLACE.onto(section(text), {"name": "p", "level": 1, "open": "enabled"}).text == text + "  option open\n"


def test_objects_by_path() -> None:
    assert holder_of({"a": {"b": {"c": 1}}}, ("a", "b")) == {"c": 1}
    assert holder_of({"a": None}, ("a",)) is NOTHING
    assert with_member({"a": {"b": 1}, "c": 2}, ("a", "d"), 3) == {"a": {"b": 1, "d": 3}, "c": 2}


def test_a_comment_inside_is_no_metadata_of_the_section() -> None:
    section = Document.parse('backend b\n  option smtpchk  # why\n  mode http # {"a":1}\n').sections[0]
    shape = Grammar().section("backend")
    assert shape.read(section) == {"name": "b", "mode": "http", "adv_check": "smtpchk"}
    assert shape.onto(section, shape.read(section)).text == section.text
