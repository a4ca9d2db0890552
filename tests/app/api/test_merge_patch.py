"""JSON Merge Patch, with the examples of RFC 7396."""

from typing import Any

import pytest

from dataplaneapi.api.validation import merged, without_stale


@pytest.mark.parametrize(
    ("now", "part", "then"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_examples_of_the_rfc(now: Any, part: Any, then: Any) -> None:
    before = repr(now)
    assert merged(now, part) == then
    assert repr(now) == before


@pytest.mark.parametrize(
    ("part", "left"),
    [
        ({"lines": ["x"]}, "lines mode"),
        ({"line": "x"}, "line mode"),
        ({"mode": "x"}, "line lines mode"),
        ({"line": 1, "lines": 2}, "line lines mode"),
    ],
)
def test_a_list_and_its_first_element_do_not_contradict_each_other(part: dict[str, Any], left: str) -> None:
    now = {"line": "a", "lines": ["a", "b"], "mode": "http"}
    assert without_stale(now, part, {"line": "lines"}).keys() == set(left.split())
