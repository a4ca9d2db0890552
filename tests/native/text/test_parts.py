"""Several files are one text that says where each begins, and nothing of any of them is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haproxy_native.text import parts
from haproxy_native.text.document import MARK, Document
from haproxy_native.text.section import BOUNDARY

CONTENT = st.lists(
    st.sampled_from(["# of the file\n", "\n", "global\n", "  maxconn 5\n", "# of the section\n", "backend a\r\n", "  server s 1:1", "\t"])
)
BEFORE, MAIN, AFTER = "/etc/haproxy/conf.d/00.cfg", "", "/etc/haproxy/conf.d/99.cfg"


@given(st.permutations([BEFORE, MAIN, AFTER]), st.lists(CONTENT, min_size=3, max_size=3))
def test_what_is_joined_can_be_taken_apart(order: list[str], contents: list[list[str]]) -> None:
    files = [(name, "".join(lines).encode()) for name, lines in zip(order, contents, strict=True)]
    joined = parts.join(files)
    assert parts.split(joined) == dict(files)
    document = Document.parse(joined)
    assert document.data == joined
    assert {name: part.data for name, part in parts.parts(document).items()} == dict(files)
    assert parts.with_parts(document, {}).data == joined


def test_a_section_knows_its_file() -> None:
    document = Document.parse(parts.join([(BEFORE, b"# top\n\nglobal\n"), (MAIN, b"# main\nfrontend f\n"), (AFTER, b"backend b\n")]))
    assert [(section.kind, section.file) for section in document.sections if section.kind != BOUNDARY] == [
        ("global", BEFORE),
        ("frontend", None),
        ("backend", AFTER),
    ]
    assert document.preamble == "# main\n"


def test_one_file_is_itself() -> None:
    assert parts.join([(MAIN, b"x\0file:y")]) == b"x\0file:y"
    document = Document.parse(b"global\n")
    assert parts.parts(document)[MAIN] is document
    assert not parts.is_joined(document)
    other = Document.parse(b"backend b\n")
    assert parts.with_parts(document, {MAIN: other}) is other


def test_one_part_anew() -> None:
    document = Document.parse(parts.join([(MAIN, b"global\n"), (AFTER, b"backend b\n")]))
    changed = parts.with_parts(document, {AFTER: Document.parse(b"# new\nbackend c\n")})
    assert parts.split(changed.data) == {MAIN: b"global\n", AFTER: b"# new\nbackend c\n"}


def test_a_mark_inside_is_refused() -> None:
    with pytest.raises(ValueError, match=f"{AFTER} contains a NUL"):
        parts.join([(MAIN, b""), (AFTER, MARK.encode())])


def test_lines_are_counted_in_each_file_and_once() -> None:
    document = Document.parse(
        parts.join([(BEFORE, b"# top\n\nglobal\n"), (MAIN, b"# main\nfrontend f\n\nbackend a\n"), (AFTER, b"backend b\n")])
    )
    first = parts.first_lines(document)
    numbers = [number for section, number in zip(document.sections, first, strict=True) if section.kind != BOUNDARY]
    assert numbers == [3, 2, 4, 1]
    assert parts.first_lines(document) is first
