"""Where sections begin: by a word of a list, by a line in brackets."""

import pytest

from haproxy_native.text.document import SCOPE, Document, Outline

OUTLINE = Outline(["spoe-agent", "spoe-message"], scopes=True)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("spoe-agent a\n", [(0, "spoe-agent", "a")]),
        ("  spoe-agent a # x\n", [(0, "spoe-agent", "a")]),
        ("spoe-agent\n", [(0, "spoe-agent", "")]),
        ('"spoe-agent" a\n', [(0, "spoe-agent", "a")]),
        ("spoe-agents a\n", []),
        ("x spoe-agent a\n", []),
        ("# spoe-agent a\n", []),
        ("[one]\n", [(0, SCOPE, "[one]")]),
        ("\t[one] # with a comment", [(0, SCOPE, "[one]")]),
        ("x\n[one]spoe-agent a\n", [(2, SCOPE, "[one]")]),
        ("[open\n", [(0, SCOPE, "[open")]),
        ("a [one]\n", []),
        ("# [one]\n", []),
        ("[one]\nspoe-agent a\n[two]", [(0, SCOPE, "[one]"), (6, "spoe-agent", "a"), (19, SCOPE, "[two]")]),
    ],
)
def test_headers(text: str, found: list[tuple[int, str, str]]) -> None:
    assert OUTLINE.headers(text) == found
    assert Document.parse(text, outline=OUTLINE).text == text


def test_brackets_mean_nothing_where_there_are_no_scopes() -> None:
    assert Outline(["backend"]).headers("[one]\nbackend [two]\n") == [(6, "backend", "[two]")]
