"""Bodies in the shape of their schemas."""

from typing import Any

import pytest

from dataplaneapi.api.normalize import ResolvedSchemas, unwritable

SCHEMAS = ResolvedSchemas(
    {
        "base": {"type": "object", "properties": {"name": {"type": "string"}, "mode": {"type": "string"}, "flag": {"type": "boolean"}}},
        "backend": {
            "type": "object",
            "allOf": [
                {"$ref": "#/components/schemas/base"},
                {
                    "properties": {
                        "weight": {"type": "integer", "nullable": True},
                        "count": {"type": "integer"},
                        "ratio": {"type": "number", "nullable": True},
                        "sure": {"type": "boolean", "nullable": True},
                        "balance": {"$ref": "#/components/schemas/balance"},
                        "acl_list": {"$ref": "#/components/schemas/acls"},
                        "servers": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/server"}},
                        "metadata": {"type": "object", "additionalProperties": True},
                        "opts": {"type": "object", "additionalProperties": {"type": "object"}},
                        "words": {"type": "array", "items": {"type": "string"}},
                        "hash_type": {"type": "string", "x-former-names": ["hashing"]},
                    }
                },
            ],
        },
        "balance": {"type": "object", "properties": {"algorithm": {"type": "string"}}},
        "acls": {"type": "array", "items": {"$ref": "#/components/schemas/acl"}},
        "user": {
            "type": "object",
            "required": ["secure", "groups"],
            "properties": {"secure": {"type": "boolean"}, "groups": {"type": "string"}},
        },
        "acl": {"type": "object", "properties": {"acl_name": {"type": "string"}}},
        "server": {"type": "object", "properties": {"name": {"type": "string"}, "port": {"type": "integer", "nullable": True}}},
    }
)
BACKEND = {"$ref": "#/components/schemas/backend"}


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ({"name": "b", "colour": "green"}, {"name": "b"}),
        ({"mode": None, "name": "b", "balance": None, "metadata": None, "servers": None}, {"name": "b"}),
        ({"name": "", "flag": False, "count": 0, "words": [], "metadata": {}, "servers": {}}, {}),
        ({"weight": 0, "sure": False, "ratio": 0}, {"weight": 0, "ratio": 0, "sure": False}),
        ({"balance": {}}, {"balance": {}}),
        ({"balance": {"algorithm": "", "x": 1}}, {"balance": {}}),
        ({"metadata": {"a": None, "b": {"c": []}}}, {"metadata": {"a": None, "b": {"c": []}}}),
        ({"opts": {"a": {"b": 0}}}, {"opts": {"a": {"b": 0}}}),
        ({"acl_list": [{"acl_name": "a", "index": 3}, None]}, {"acl_list": [{"acl_name": "a"}, {}]}),
        ({"servers": {"s": {"name": "s", "port": 0, "x": 1}}}, {"servers": {"s": {"name": "s", "port": 0}}}),
        ({"mode": "http", "name": "b"}, {"name": "b", "mode": "http"}),
        ({"Name": "b", "MODE": "tcp"}, {"name": "b", "mode": "tcp"}),
        ({"Name": "b", "name": "c"}, {"name": "c"}),
    ],
)
def test_what_is_kept(sent: Any, taken: Any) -> None:
    shaped = SCHEMAS.normalize(sent, BACKEND)
    assert (shaped.value, shaped.mistyped, shaped.unwritable) == (taken, [], [])


def test_members_come_in_the_order_of_the_schema() -> None:
    assert list(SCHEMAS.normalize({"weight": 1, "mode": "x", "name": "n"}, BACKEND).value) == ["name", "mode", "weight"]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"name": 7}, "name in body must be a string, not a number"),
        ({"weight": "7"}, "weight in body must be an integer, not a string"),
        ({"weight": 1.0}, "weight in body must be an integer, not a number"),
        ({"weight": True}, "weight in body must be an integer, not a boolean"),
        ({"weight": 2**63}, "weight in body must be an integer of 64 bits"),
        ({"flag": "yes"}, "flag in body must be a boolean, not a string"),
        ({"flag": 1}, "flag in body must be a boolean, not a number"),
        ({"balance": "roundrobin"}, "balance in body must be an object, not a string"),
        ({"acl_list": {}}, "acl_list in body must be an array, not an object"),
        ({"acl_list": [{"acl_name": 1}]}, "acl_list.0.acl_name in body must be a string, not a number"),
        ({"servers": {"s": {"port": []}}}, "servers.s.port in body must be an integer, not an array"),
        ({"words": ["a", 1]}, "words.1 in body must be a string, not a number"),
        ("text", "value must be an object, not a string"),
    ],
)
def test_wrong_types(sent: Any, said: str) -> None:
    assert SCHEMAS.normalize(sent, BACKEND).mistyped == [said]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a\0b", "a NUL character"),
        ("a\nserver x", "a line break"),
        ("a\rb", "a line break"),
        ("\ud800", "an unpaired surrogate"),
        ("\udc80", None),
        ("grün \U0001f600", None),
        ("tab\there", None),
    ],
)
def test_what_can_never_stand_in_the_file(text: str, reason: str | None) -> None:
    assert unwritable(text) == reason
    said = [f"servers.s.name in body must not contain {reason}"] if reason else []
    assert SCHEMAS.normalize({"servers": {"s": {"name": text}}}, BACKEND).unwritable == said


def test_unknown_members_are_remembered_where_they_were() -> None:
    shaped = SCHEMAS.normalize({"colour": 1, "servers": {"s": {"adress": "x"}}}, BACKEND)
    assert shaped.unknown == {"": {"colour"}, "servers.s": {"adress"}}


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"hash-type": "x"}, 'hash-type in body is not known; did you mean "hash_type"?'),
        ({"acl_list": [{"acl-name": "x"}]}, 'acl_list.0.acl-name in body is not known; did you mean "acl_name"?'),
        ({"hashing": {"method": "x"}}, 'hashing in body is not known; did you mean "hash_type"?'),
        ({"hashing": None}, None),
        ({"hashing": ""}, None),
        ({"hash-type": "x", "hash_type": "y"}, None),
        ({"hash": "x", "metadata": {"hash-type": 1}}, None),
    ],
)
def test_a_member_of_older_versions_is_told_where_it_would_be_lost(sent: Any, said: str | None) -> None:
    assert SCHEMAS.normalize(sent, BACKEND).misnamed == ([said] if said else [])


def test_schemas_along_a_path() -> None:
    *_, last = SCHEMAS.at(BACKEND, ("servers", "s", "port"))
    assert last == {"type": "integer", "nullable": True}
    *_, last = SCHEMAS.at({"$ref": "#/components/schemas/acls"}, (0, "acl_name"))
    assert last == {"type": "string"}


def test_a_false_that_is_required_is_kept() -> None:
    assert SCHEMAS.normalize({"secure": False, "groups": ""}, {"$ref": "#/components/schemas/user"}).value == {"secure": False}
