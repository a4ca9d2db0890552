"""Access to schemas: references, allOf, notes."""

from typing import Any

import pytest

from haproxy_native.grammar.schema import Schemas, arrange, has_no_value, is_switch, keyword_of

DOCUMENT: dict[str, Any] = {
    "components": {
        "schemas": {
            "base": {"required": ["a"], "properties": {"a": {"type": "string"}}, "x-haproxy": {"line": "base <a>", "order": "free"}},
            "whole": {
                "allOf": [{"$ref": "#/components/schemas/base"}],
                "required": ["b"],
                "properties": {"b": {"$ref": "#/components/schemas/size"}},
                "x-haproxy": {"line": "whole <a> <b>"},
            },
            "size": {"type": "integer", "x-size": True, "x-haproxy": {"keyword": "s"}},
            "renamed": {"$ref": "#/components/schemas/size", "x-haproxy": {"keyword": "t"}},
        }
    }
}
SCHEMAS = Schemas(DOCUMENT)


def test_parts_are_inherited_in_order() -> None:
    whole = SCHEMAS.named("whole")
    assert list(SCHEMAS.properties(whole)) == ["a", "b"]
    assert SCHEMAS.required(whole) == ["a", "b"]


def test_references_are_resolved_and_what_stands_beside_them_wins() -> None:
    assert SCHEMAS.properties(SCHEMAS.named("whole"))["b"]["x-size"] is True
    assert SCHEMAS.named("renamed")["type"] == "integer"
    assert SCHEMAS.note(SCHEMAS.named("renamed")) == {"keyword": "t"}


def test_notes_of_parts_fill_what_is_not_said() -> None:
    assert SCHEMAS.note(SCHEMAS.named("whole")) == {"line": "whole <a> <b>", "order": "free"}


def test_the_keyword_is_the_name_unless_it_is_said() -> None:
    assert keyword_of("max_conn", {}) == "max-conn"
    assert keyword_of("max_conn", {"keyword": "option x"}) == "option x"


@pytest.mark.parametrize(
    ("schema", "note", "switch", "alone"),
    [
        ({"type": "string", "enum": ["enabled", "disabled"]}, {}, True, True),
        ({"type": "string", "enum": ["enabled"]}, {}, True, True),
        ({"type": "string", "enum": ["enabled", "disabled"]}, {"values": {"enabled": "on"}}, True, False),
        ({"type": "string", "enum": ["enabled", "auto"]}, {}, False, False),
        ({"type": "boolean"}, {}, False, True),
        ({"type": "boolean"}, {"values": {"true": "on"}}, False, False),
        ({"type": "integer"}, {}, False, False),
    ],
)
def test_what_is_told_by_a_word_alone(schema: dict[str, Any], note: dict[str, Any], switch: bool, alone: bool) -> None:
    assert (is_switch(schema), has_no_value(schema, note)) == (switch, alone)


def test_members_are_arranged_at_every_depth() -> None:
    order = {"a": {}, "b": {"c": {}, "d": {}}}
    assert str(arrange({"b": [{"d": 1, "c": 2}], "a": 3}, order)) == "{'a': 3, 'b': [{'c': 2, 'd': 1}]}"
    assert str(arrange({"z": 1, "a": 2}, order)) == "{'a': 2, 'z': 1}", "what is not declared comes last"
    assert arrange("text", order) == "text"
    assert SCHEMAS.order(SCHEMAS.named("whole")) == {"a": {}, "b": {}}
