"""Objects that a small language of the test's own gives."""

from typing import Any

import pytest

from haproxy_native.grammar.load import Grammar
from tests.samples import line_samples, section_samples

TEXT = {"type": "string"}
SCHEMAS: dict[str, Any] = {
    "hop": {
        "x-haproxy": {"line": "hop <name> [ via <via> ] [ at <at> ] [ <quick> ] [ to <to.a> <to.b> ]*", "together": [["via", "at"]]},
        "required": ["name"],
        "properties": {
            "name": {**TEXT, "example": "n"},
            "via": {**TEXT, "example": "v"},
            "at": {"type": "integer", "minimum": 1, "maximum": 9},
            "quick": {"type": "boolean"},
            "to": {"type": "array", "items": {"properties": {"a": {**TEXT, "example": "x"}, "b": {**TEXT, "enum": ["y", "z"]}}}},
        },
    },
    "act": {
        "x-haproxy": {
            "keyword": "act",
            "chosen_by": "type",
            "exclusive": [["low", "high"]],
            "lines": {"stop|go": "<type>", "set": "set [ low <low> ] [ high <high> ]", "put": ["put <low>", "put <high>"]},
        },
        "properties": {
            "type": {**TEXT, "enum": ["stop", "go", "set", "put"]},
            "low": {"type": "integer"},
            "high": {**TEXT, "example": "h"},
        },
    },
    "place": {
        "x-haproxy": {"header": "place <name>"},
        "properties": {
            "name": {**TEXT, "example": "p"},
            "level": {"type": "integer"},
            "open": {**TEXT, "enum": ["enabled", "disabled"]},
            "names": {"type": "array", "items": {**TEXT, "example": "m"}, "x-haproxy": {"repeat": "append", "keyword": "name"}},
            "inner": {"type": "object", "properties": {"deep": {"type": "integer", "minimum": 3}}},
        },
    },
}


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar({"components": {"schemas": SCHEMAS}})


def test_what_is_needed_each_option_and_all(grammar: Grammar) -> None:
    assert line_samples(grammar.line("hop")) == [
        {"name": "n"},
        {"name": "n", "via": "v", "at": 1},
        {"name": "n", "at": 9, "via": "v"},
        {"name": "n", "quick": True},
        {"name": "n", "to": [{"a": "x", "b": "y"}]},
        {"name": "n", "to": [{"a": "x", "b": "y"}, {"a": "x", "b": "z"}]},
        {"name": "n", "via": "v", "at": 1, "quick": True, "to": [{"a": "x", "b": "y"}]},
    ]


def test_each_alternative_and_none_that_excludes_another(grammar: Grammar) -> None:
    found = line_samples(grammar.line("act"))
    assert {each["type"] for each in found} == {"stop", "go", "set", "put"}
    assert {"type": "put", "high": "h"} in found
    assert {"type": "set", "high": "h"} in found
    assert not [each for each in found if {"low", "high"} <= set(each)]


def test_a_section_with_each_kind_of_line(grammar: Grammar) -> None:
    assert section_samples(grammar.section("place")) == [
        {"name": "p"},
        {"name": "p", "level": 7},
        {"name": "p", "level": 100},
        {"name": "p", "open": "enabled"},
        {"name": "p", "open": "disabled"},
        {"name": "p", "names": ["m"]},
        {"name": "p", "inner": {"deep": 3}},
    ]
