"""Kinds of lines inside a section: what they give to its object, and how they become what it asks."""

from typing import Any

import pytest

from haproxy_native.grammar.directive import NOTHING, Directive
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from tests.native.grammar.language import small

PLACE = small().section("place")
BY_MEMBER = {each.rows or each.path[-1:] or each.shape.members[0]: each for each in PLACE.directives}


def directive(name: str) -> Directive:
    return BY_MEMBER.get(name) or BY_MEMBER[(name,)]


def found(*texts: str) -> list[tuple[int, Line]]:
    return [(place, Line(f"  {text}\n")) for place, text in enumerate(texts, 1)]


def section(lines: list[tuple[int, Line]]) -> Section:
    return Section("place", "", lines=[Line("place\r\n"), *(line for _, line in lines)], usual_indent="\t")


@pytest.mark.parametrize(
    ("name", "lines", "values"),
    [
        ("level", ["level 1", "level 2"], {"level": 2}),
        ("names", ["name a", "name b"], {"names": ["a", "b"]}),
        ("marks", ["mark a", "mark b as c"], {"marks": [{"a": "a"}, {"a": "b", "b": "c"}]}),
        ("defaults", ["host-default weight 1", "host-default weight 2 check"], {"weight": 2, "check": "enabled", "off": "disabled"}),
        ("guard", ["option guard by x"], {"enabled": "enabled", "by": "x"}),
        ("guard", ["no option guard"], {"enabled": "disabled"}),
        ("open", ["no option open"], {"open": "disabled"}),
    ],
)
def test_reads_its_lines(name: str, lines: list[str], values: dict[str, Any]) -> None:
    assert directive(name).read(found(*lines)) == values


@pytest.mark.parametrize(
    ("name", "lines", "holder", "replaced", "added"),
    [
        ("level", ["level 1", "level  2"], {"level": 3}, {2: "  level  3\n"}, []),
        ("level", ["level 1"], {}, {1: None}, []),
        ("level", [], {"level": 3}, {}, ["\tlevel 3\r\n"]),
        ("open", ["option open"], {"open": "disabled"}, {1: "  no option open\n"}, []),
        ("defaults", ["host-default weight 1", "host-default check"], {"weight": 1, "quick": True},
         {1: "  host-default weight 1\n", 2: "  host-default quick\n"}, []),
        ("defaults", [], {}, {}, ["\thost-default\r\n"]),
        ("defaults", ["host-default"], NOTHING, {1: None}, []),
        ("names", ["name a", "name b"], {"names": ["a", "c", "d"]}, {2: "  name c\n"}, ["  name d\r\n"]),
        ("names", ["name a", "name b"], {"names": ["b"]}, {1: None}, []),
    ],
)  # fmt: skip
def test_lines_become_what_the_object_says(
    name: str, lines: list[str], holder: dict[str, Any], replaced: dict[int, str | None], added: list[str]
) -> None:
    change = directive(name).change(found(*lines), holder, section(found(*lines)))
    assert {place: line and line.text for place, line in change.replaced.items()} == replaced
    assert [line.text for _, line in change.added] == added
