"""Patterns over long texts find the same in pieces as at once."""

import re

from haproxy_native.text.pieces import PIECE, finditer, pieces, search, without

MARK = re.compile(r"^# mark=.*(?:\n|\Z)", re.MULTILINE)
LONG = "# mark=1\n" + "x y\n" * PIECE + "# mark=2\n" + "z" * 3 * PIECE + "\n  # mark=no\n# mark=3"


def test_pieces_are_whole_lines() -> None:
    for text in (LONG, "", "\n", "x", "\n" * 3 * PIECE):
        found = list(pieces(text))
        assert "".join(text[start:end] for start, end in found) == text
        assert all(text[end - 1] == "\n" for _, end in found[:-1])
    assert len(list(pieces(LONG))) > 3


def test_the_same_matches() -> None:
    assert [found.span() for found in finditer(MARK, LONG)] == [found.span() for found in MARK.finditer(LONG)]
    assert (found := search(MARK, LONG[1:])) and found[0] == "# mark=2\n"
    assert search(MARK, "x" * PIECE) is None


def test_without() -> None:
    assert without(MARK, LONG) == MARK.sub("", LONG)
    assert without(MARK, LONG, 1) == MARK.sub("", LONG, count=1)
    assert without(re.compile(rb"^#.*\n", re.MULTILINE), b"a\n#b\nc") == b"a\nc"
