"""A section's lines, its conditionals, and new lines in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from haproxy_native.text.line import Line
from haproxy_native.text.pieces import split_lines
from haproxy_native.text.section import Section
from tests.laws.settings import law


def section(*lines: str, newline: str = "\n") -> Section:
    return Section("backend", "b", "".join(line + newline for line in ("backend b", *lines)))


@law(300)
@given(some.text(some.sampled_from("a \n\r\v\f\x1c\x85\u2028#")))
def test_only_a_line_feed_ends_a_line(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.endswith("\n") for line in lines[:-1])
    assert not any("\n" in line[:-1] for line in lines)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_behind_a_last_one_without_end_gives_it_one(newline: str) -> None:
    old = Section("backend", "b", f"backend b{newline}  server a :1")
    new = old.with_lines([*old.lines, Line("  server b :2")])
    assert new.text == f"backend b{newline}  server a :1{newline}  server b :2"


def test_lines_and_text_are_two_views_of_one_thing() -> None:
    old = section("  mode http", "", "  # last")
    assert Section("backend", "b", lines=old.lines).text == old.text
    assert old.header.words == ("backend", "b")


@pytest.mark.parametrize(
    ("lines", "place", "outside"),
    [
        (["a", "b"], 1, 1),
        ([".if x", "a", ".endif", "b"], 2, 3),
        ([".if x", "a", ".else", "b", ".endif", "c"], 2, 5),
        ([".if x", ".if y", "a", ".endif", ".endif"], 3, 5),
        ([".if x", "a", ".endif"], 0, 0),
        ([".if x", "a", ".endif"], 1, 3),
        ([".if x", "a", ".endif"], 3, 3),
        # Not closed within the section: there is no place outside.
        ([".if x", "a", "b"], 2, 2),
        (["a", ".endif", "b"], 1, 1),
    ],
)
def test_outside_blocks(lines: list[str], place: int, outside: int) -> None:
    assert section(*lines).outside_blocks(place) == outside


@pytest.mark.parametrize(
    ("lines", "open_"),
    [
        ([".if x", "a", ".endif"], []),
        (["a", ".endif"], [".endif"]),
        (["a", ".if x"], [".if x"]),
        ([".else", "a", ".if x", "b", ".endif", ".endif", ".if y"], [".else", ".endif", ".if y"]),
        ([".if x", ".elif y", "a"], [".if x", ".elif y"]),
    ],
)
def test_open_conditionals(lines: list[str], open_: list[str]) -> None:
    assert [line.text.strip() for line in section(*lines).open_conditionals()] == open_


@pytest.mark.parametrize(
    ("lines", "own", "indent"),
    [((), None, "\t"), (("", "# comment", ".if 1", ".endif"), None, "\t"), (("    mode http",), "    ", "    "), (("mode http",), "", "")],
)
def test_indent_is_that_of_its_lines_else_the_usual_one(lines: tuple[str, ...], own: str | None, indent: str) -> None:
    found = Section("backend", "b", section(*lines).text, usual_indent="\t")
    assert (found.own_indent, found.indent) == (own, indent)
    assert found.with_lines(found.lines).usual_indent == "\t"


def test_snippets_are_told_by_their_comments() -> None:
    begin, end = "  ###_config-snippet_### BEGIN\n", "  ###_config-snippet_### END\n"
    text = f"backend b\n  a\n{begin}  b\n  # c\n{end}  d\n{begin}  e\n"
    assert Section("backend", "b", text).snippets == {2, 3, 4, 5, 7, 8}
    assert Section("backend", "b", text).outside_blocks(3) == 5
    assert Section("listen", "b", text).snippets == Section("backend", "b", "backend b\n# ###_config-snippet_### BEGIN\n").snippets == set()


def test_where_two_sections_differ() -> None:
    section = Section("backend", "b", "backend b\n  one\n  two")
    one, two = section.lines[1:]
    assert section.apart_from(section.with_lines([section.header, Line("  none\n"), two])) == (slice(1, 2), slice(1, 2))
    assert section.apart_from(section.with_lines([section.header, one, Line("  one\n"), two], shared=(2, 1))) == (slice(2, 2), slice(2, 3))
    # The line that was the last one gets a line end, so that it is another.
    assert section.apart_from(section.with_lines([*section.lines, Line("  three\n")], shared=(3, 0))) == (slice(2, 3), slice(2, 4))
