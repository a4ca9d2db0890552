"""A line and what can be asked of it."""

import pytest

from haproxy_native.text.line import Line


@pytest.mark.parametrize(
    ("text", "words", "comment", "indent"),
    [
        ("    server a :80 # x\n", ("server", "a", ":80"), "x", "    "),
        ("\tserver\ta\r\n", ("server", "a"), None, "\t"),
        ("\n", (), None, ""),
        ("", (), None, ""),
        ('  log-format "%{+Q}o # %t"\n', ("log-format", '"%{+Q}o # %t"'), None, "  "),
    ],
)
def test_parts(text: str, words: tuple[str, ...], comment: str | None, indent: str) -> None:
    line = Line(text)
    assert (line.words, line.comment, line.indent) == (words, comment, indent)
    assert line.split.join() == text


@pytest.mark.parametrize(
    ("text", "blank", "comment"),
    [
        ("\n", True, False),
        (" \t\r\n", True, False),
        ("", True, False),
        ("# x\n", False, True),
        ("  #\n", False, True),
        ("a # x\n", False, False),
        ("\u00a0\n", False, False),
        ("\u00a0# x\n", False, False),
    ],
)
def test_kind(text: str, blank: bool, comment: bool) -> None:
    assert (Line(text).is_blank, Line(text).is_comment) == (blank, comment)
