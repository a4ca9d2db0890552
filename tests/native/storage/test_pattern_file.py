"""Files of patterns as HAProxy reads them, and edits that leave the rest alone."""

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.storage.list_files import edit_patterns, parse_patterns

TEXT = "# nets\n10.0.0.0/8\n\n  192.0.2.1\n#192.0.2.2\n10.0.0.0/8\n"


def test_patterns() -> None:
    assert parse_patterns(TEXT) == ["10.0.0.0/8", "192.0.2.1", "10.0.0.0/8"]
    assert parse_patterns("a\0b\n\0c\nd\re") == ["a", "d"]
    assert parse_patterns("two words \r\n\t#no comment\x0bstill\x85it") == ["two words ", "#no comment\x0bstill\x85it"]


@pytest.mark.parametrize(
    ("text", "patterns", "after"),
    [
        (TEXT, ["10.0.0.0/8", "192.0.2.1", "10.0.0.0/8"], TEXT),
        (TEXT, ["192.0.2.1", "10.0.0.0/8"], "# nets\n10.0.0.0/8\n\n  192.0.2.1\n#192.0.2.2\n"),
        (TEXT, ["192.0.2.1", "::1", "::1"], "# nets\n\n  192.0.2.1\n#192.0.2.2\n::1\n::1\n"),
        (TEXT, [], "# nets\n\n#192.0.2.2\n"),
        ("", ["a", "b"], "a\nb\n"),
        ("a\r\nb", ["a", "b", "c"], "a\r\nb\r\nc\r\n"),
        ("a\x85b\nc", ["a\x85b"], "a\x85b\n"),
        ("b\na\n", ["a", "c", "b"], "b\na\nc\n"),
    ],
)
def test_with_patterns(text: str, patterns: list[str], after: str) -> None:
    assert edit_patterns(text, patterns) == after


@pytest.mark.parametrize("pattern", ["", "#x", " x", "\tx", "a\nb", "a\rb", "a\0b"])
def test_what_no_line_can_hold(pattern: str) -> None:
    with pytest.raises(BadValue, match="a line of a file cannot contain"):
        edit_patterns("", [pattern])
