"""Conditions and criteria as values."""

import pytest

from haproxy_native.features.lint.view import condition_of, criterion_of


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("deny", []),
        ("deny if a", [["a"]]),
        ("deny if !a b || ! c", [["!a", "b"], ["!c"]]),
        ("deny if { path /x } or !{ src 10.0.0.1 }", [["{ path /x"], ["!{ src 10.0.0.1"]]),
        ("deny if !!a", [["a"]]),
        ("set-header X if if a", [["a"]]),
        ("deny if {", [["{"]]),
        ("deny if", [[]]),
    ],
)
def test_a_condition(line: str, keys: list[list[str]]) -> None:
    condition = condition_of(line.split(), 1)
    assert [[test.key for test in suite] for suite in condition.suites] == keys
    assert not condition.is_negative and condition_of("deny unless a".split(), 1).is_negative


def test_a_criterion() -> None:
    found = criterion_of("path,lower -i -m beg -f /x -- -a /b".split())
    assert (found.sample, found.method, found.files, found.patterns, found.flags) == ("path,lower", "beg", ("/x",), ("-a", "/b"), ("-i",))
    assert criterion_of([]).sample == "" and criterion_of(["path", "-f"]).files == ()
