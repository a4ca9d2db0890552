"""One value, or one line, of a YAML text."""

from typing import Any

import pytest
from ruamel.yaml import YAML

from dataplaneapi.settings.yaml_text import with_values, without


@pytest.mark.parametrize(
    ("text", "path", "value", "result"),
    [
        ("", "a.b", 1, "a:\n  b: 1\n"),
        ("a: 1  # why\nb: 2\n", "a", "x", "a: x  # why\nb: 2\n"),
        ("a:\n    b: 1\n\n# c\nd: 2\n", "a.c", "two words", 'a:\n    b: 1\n    c: "two words"\n\n# c\nd: 2\n'),
        ("a: {b: 1}\n", "a.c.d", 2, "a: {b: 1, c: {d: 2}}\n"),
        ("a: {}\n", "a.b", ["x"], "a: {b: [x]}\n"),
        ("a:   # none\nb: 1\n", "a.c", "", 'a:   # none\n  c: ""\nb: 1\n'),
        ("a:\n- x\n- {y: 1}\n", "b", True, "a:\n- x\n- {y: 1}\nb: true\n"),
        ("a: 1", "b", "no", 'a: 1\nb: "no"\n'),
        ("a: 1\r\n", "b", 2, "a: 1\r\nb: 2\r\n"),
    ],
)
def test_a_value(text: str, path: str, value: Any, result: str) -> None:
    assert with_values(text, {path: value}) == result
    data = YAML().load(result)
    for key in path.split("."):
        data = data[key]
    assert data == value


@pytest.mark.parametrize(
    ("text", "result"), [("a: 1\nb: []  # none\nc: 2\n", "a: 1\nc: 2\n"), ("b:\n", ""), ("a: 1\nb: []", "a: 1\n"), ("a: 1\n", "a: 1\n")]
)
def test_a_key_that_goes(text: str, result: str) -> None:
    assert without(text, "b") == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("", 'a:\n  b: 1\n  c:\n    d: x\ne: [x]\nf: ""\n'),
        ("a:\n  b: 0\n", 'a:\n  b: 1\n  c:\n    d: x\ne: [x]\nf: ""\n'),
        ("f: z\na:\n  c:\n    # none\n    d: 0", 'f: ""\na:\n  c:\n    # none\n    d: x\n  b: 1\ne: [x]\n'),
        ("a: {c: {d: 0}}\n", 'a: {c: {d: x}, b: 1}\ne: [x]\nf: ""\n'),
        ("a: {}\n", 'a: {b: 1, c: {d: x}}\ne: [x]\nf: ""\n'),
        ("a:\n  c:\n# end\n", 'a:\n  c:\n    d: x\n  b: 1\ne: [x]\nf: ""\n# end\n'),
    ],
)
def test_several_values(text: str, result: str) -> None:
    """Keys that are missing below the same map come together, inner ones before outer ones."""
    values = {"a.b": 1, "e": ["x"], "a.c.d": "x", "f": ""}
    assert with_values(text, values) == result
    assert YAML().load(result) == {"a": {"b": 1, "c": {"d": "x"}}, "e": ["x"], "f": ""}
