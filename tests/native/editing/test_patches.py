"""A patch takes the base to the new document, whatever the edit, and costs what changed."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haproxy_native.editing.patches import apply, patch, with_shared_sections
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section

BASE = "# top\nglobal\n  maxconn 5\n\n# of a\nbackend a\n  server s 127.0.0.1:1\n  server t 127.0.0.1:2\n\nbackend b\n"
PIECES = ["global\n", "backend a\n", "  x y\n", "\n", "# c\n", "# _version=1\n", "bäck\udcff\n", "end"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12)


def through_json(document: Document, *patches: object) -> Document:
    return apply(document, json.loads(json.dumps(patches)))


@given(TEXTS, TEXTS)
def test_any_two_texts(one: list[str], other: list[str]) -> None:
    base, new = Document.parse("".join(one)), Document.parse("".join(other))
    change = patch(base, new)
    assert (change is None) == (base.text == new.text)
    if change:
        assert through_json(base, change).text == new.text


def edits() -> list[Document]:
    """Documents as an editor makes them, each one from the one before."""
    base = Document.parse(BASE)
    first = base.insert(Section("backend", "c", "backend c\n  server u 127.0.0.1:3\n"))
    a = first.sections[1]
    second = first.replace(a, a.with_lines([*a.lines[:1], Line("  balance source\n"), *a.lines[1:]]))
    third = second.remove(second.sections[0])
    return [base, first, second, third, third.with_preamble("# other\n")]


def test_edits_one_after_the_other() -> None:
    documents = edits()
    changes = [patch(one, other) for one, other in pairwise(documents)]
    assert through_json(documents[0], *changes).text == documents[-1].text


def test_a_small_change_in_a_long_section_is_a_small_patch() -> None:
    lines = [Line("backend a\n"), *(Line(f"  server s{i} 127.0.0.1:{i}\n") for i in range(20000))]
    section = Section("backend", "a", lines=lines)
    base = Document("", [section])
    new = base.replace(section, section.with_lines([*lines[:9000], Line("  server new 127.0.0.1:1\n"), *lines[9001:]]))
    change = patch(base, new)
    assert change
    assert len(json.dumps(change)) < 100


def test_untouched_sections_are_shared() -> None:
    base, new = edits()[0], edits()[1]
    change = patch(base, new)
    assert change
    applied = apply(base, [change])
    assert applied.sections[0] is base.sections[0]
    assert applied.sections[1] is base.sections[1]
    again = with_shared_sections(Document.parse(BASE), base)
    assert again.sections == base.sections


@pytest.mark.parametrize("change", [(500, 0, "x"), (0, 500, ""), (-1, 0, "x"), (3, -1, "x")])
def test_a_patch_that_does_not_fit(change: tuple[int, int, str]) -> None:
    with pytest.raises(ValueError, match="fit"):
        apply(Document.parse(BASE), [change])
