"""Patterns of lines and calls, and the characters that they find."""

import pytest

from haproxy_native.references.pattern import CallPattern, ConditionPattern, CriterionPattern, Pattern, words_of
from haproxy_native.text.line import Line


def spans(pattern: Pattern | CallPattern | CriterionPattern | ConditionPattern, text: str) -> list[str]:
    """The line with each name that was found in brackets."""
    line = Line(text)
    return [f"{text[: span.start]}[{text[span.start : span.end]}]{text[span.end :]}" for span in pattern.spans(words_of(line))]


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("use_backend <>", "  use_backend a if a", ["  use_backend [a] if a"]),
        ("use_backend <>", "use_backend ab", []),
        ("... table <>", "stick match src table a", ["stick match src table [a]"]),
        ("... track <>/*", "server s :1 track a/s", ["server s :1 track [a]/s"]),
        ("... track <parent>/<>", "server s :1 track p/a", ["server s :1 track p/[a]"]),
        ("user ... groups <,>", "user u groups b,a,c", ["user u groups b,[a],c"]),
        ("one|two <>", "two a", ["two [a]"]),
        ("x <>", 'x "a"', ['x "[a]"']),
        ("x <>", "x 'a'", ["x '[a]'"]),
        ("x <>/*", 'x "a"/b', ['x "[a]"/b']),
    ],
)
def test_lines(pattern: str, text: str, found: list[str]) -> None:
    assert spans(Pattern(pattern, "a", {"<parent>": "p"}), text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("use_backend x if { f(a) gt 1 }", ["use_backend x if { f([a]) gt 1 }"]),
        ('log-format "%[f(b, a)] a"', ['log-format "%[f(b, [a])] a"']),
        ("x f(a/s) g(a)", []),
        (r"x f(\"a\")", [r"x f(\"[a]\")"]),
        ("x if { str(a),fit gt 1 }", ["x if { str([a]),fit gt 1 }"]),
        ("x if { str(a),fit(1) gt 1 } { str(a),g,fit gt 1 }", []),
    ],
)
def test_calls(text: str, found: list[str]) -> None:
    assert spans(CallPattern("f*(<>)", "a"), text) == found


def test_criteria_and_conditions() -> None:
    assert spans(CriterionPattern("be_name", "a"), "deny if { be_name -m str b a } a") == ["deny if { be_name -m str b [a] } a"]
    assert spans(ConditionPattern("a"), "a a if a !a { a } || b") == ["a a if [a] !a { a } || b", "a a if a ![a] { a } || b"]
