"""Derive a schema from another: it has the members of the other, except for its own declarations."""

import pytest

from openapi import bundle
from openapi.derived import Unknown, derived

SCHEMAS = {
    "params": {"properties": {"weight": {"type": "integer", "x-haproxy": {"keyword": "w"}}, "name": {"type": "string", "pattern": "x"}}},
    "server": {"allOf": [{"$ref": "#/components/schemas/params"}, {"properties": {"id": {"type": "integer", "nullable": True}}}]},
    "added": {
        "type": "object",
        "members_of": "server",
        "properties": {"id": {"type": "string", "nullable": None}, "name": {"readOnly": True}, "weight": {}},
    },
    "strange": {"members_of": "server", "properties": {"wieght": {}}},
    "orphan": {"members_of": "none", "properties": {}},
}


def test_members_come_from_the_source_in_an_order_of_their_own() -> None:
    made = derived("added", SCHEMAS)
    assert list(made["properties"].items()) == [
        ("id", {"type": "string"}),
        ("name", {"type": "string", "pattern": "x", "readOnly": True}),
        ("weight", {"type": "integer"}),
    ]
    assert "members_of" not in made


def test_other_schemas_stay() -> None:
    assert derived("server", SCHEMAS) == SCHEMAS["server"]


@pytest.mark.parametrize(("name", "said"), [("strange", "server has no member wieght"), ("orphan", "no schema none")])
def test_what_the_source_has_not_is_refused(name: str, said: str) -> None:
    with pytest.raises(Unknown, match=said):
        derived(name, SCHEMAS)


def test_an_added_server_has_the_declared_members_of_a_server() -> None:
    schemas = bundle.document()["components"]["schemas"]
    added, params = schemas["runtime_add_server"]["properties"], schemas["server_params"]["properties"]
    for name in added.keys() & params.keys():
        assert (added[name]["type"], added[name]["description"]) == (params[name]["type"], params[name]["description"])
