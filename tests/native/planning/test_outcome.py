"""A reason tells the line of the whole file."""

import pytest

from haproxy_native.planning.outcome import Plan, Reason, line_of, reason_at
from haproxy_native.text.document import Document
from haproxy_native.text.parts import MAIN, join

TEXT = "# head\n\nglobal\n  maxconn 1\n\n# above\nbackend b\n  # inside\n  server s 192.0.2.1\n"
DOCUMENT = Document.parse(TEXT.encode())


@pytest.mark.parametrize(("section", "place", "line"), [(0, 0, 3), (0, 1, 4), (1, 0, 7), (1, 2, 9)])
def test_numbers_of_lines(section: int, place: int, line: int) -> None:
    found = DOCUMENT.sections[section]
    assert line_of(DOCUMENT, found, place) == line
    assert TEXT.splitlines(keepends=True)[line - 1] == found.lines[place].text


def test_a_reason_names_section_and_keyword() -> None:
    assert reason_at(DOCUMENT, DOCUMENT.sections[1], 2, "so") == Reason("so", "backend b", 9, "server")
    assert reason_at(DOCUMENT, DOCUMENT.sections[0], 0, "so") == Reason("so", "global", 3, "global")
    assert reason_at(DOCUMENT, DOCUMENT.sections[1], 1, "a comment has no keyword").keyword == ""


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (Reason("so", "backend b", 9, "server"), "server: so (backend b, line 9)"),
        (Reason("so", "backend b", 9, "server", "b.cfg"), "server: so (b.cfg, backend b, line 9)"),
        (Reason("so"), "so"),
    ],
)
def test_a_reason_is_told_in_words(reason: Reason, expected: str) -> None:
    assert str(reason) == expected


def test_what_is_live() -> None:
    assert Plan().is_live
    assert not Plan(reasons=[Reason("so")]).is_live


def test_a_line_is_that_of_its_file() -> None:
    document = Document.parse(join([("a.cfg", b"# a\nglobal\n"), (MAIN, b"# head\n\nfrontend f\n"), ("b.cfg", b"# top\n\nbackend b\n")]))
    found = {section.kind: reason_at(document, section, 0, "so") for section in document.sections if section.kind}
    assert {kind: (reason.file, reason.line) for kind, reason in found.items()} == {
        "global": ("a.cfg", 2),
        "frontend": ("", 3),
        "backend": ("b.cfg", 3),
    }
