"""Compare the table of resources with the schemas: it names only existing schemas, and has all that sections embed."""

import pytest

from haproxy_native.grammar.schema import followed
from openapi import bundle, operations
from tests.openapi.documents import document

TABLE = bundle.resources()
FIELDS = set(
    "title noun kind file section schema list body key full_section parents parent_parameter parent_in member path operation "
    "operations operation_ids suffix verbs parameters messages declared addition silent write_only fallback tag existence_first "
    "parent_needed optional".split()
)


def schemas() -> dict:
    return document()["components"]["schemas"]


def properties(schema: dict) -> dict:
    schema = followed(document(), schema)
    found: dict = {}
    for part in schema.get("allOf", []):
        found |= properties(part)
    return found | schema.get("properties", {})


def embedded(parent: str, resource: dict) -> str:
    member = resource["member"]
    return member[parent] if isinstance(member, dict) else member


def children() -> list[tuple[str, str]]:
    return [(name, parent) for name, resource in TABLE.items() for parent in resource.get("parents", [])]


@pytest.mark.parametrize("name", TABLE)
def test_its_schemas_are_there(name: str):
    resource = TABLE[name]
    assert set(resource) <= FIELDS
    assert resource["kind"] in operations.VERBS
    assert resource["schema"] in schemas()
    assert {"title", "noun", "operation"} <= set(resource)
    if resource["kind"] == "singleton":
        assert "list" not in resource
    else:
        item = resource.get("body", resource["schema"])
        assert schemas()[resource["list"]]["items"] == {"$ref": f"#/components/schemas/{item}"}


@pytest.mark.parametrize("name", TABLE)
def test_its_key_is_a_member(name: str):
    resource = TABLE[name]
    if resource["kind"] == "indexed":
        assert resource["key"] == "index"
    elif resource["kind"] != "singleton":
        assert resource["key"] in properties(schemas()[resource["schema"]])


@pytest.mark.parametrize("name", TABLE)
def test_sections_name_their_keyword_and_children_their_parents(name: str):
    resource = TABLE[name]
    assert ("section" in resource) == (resource["kind"] in ("section", "singleton"))
    assert bool(resource.get("parents")) == (resource["kind"] in ("named", "indexed")) == ("member" in resource)


@pytest.mark.parametrize("name", TABLE)
def test_what_is_said_of_a_missing_parent_can_be_seen(name: str):
    resource, messages = TABLE[name], TABLE[name].get("messages", {})
    refused = set(resource.get("parent_needed", ())) | ({"get", "replace", "delete"} if resource["kind"] == "indexed" else set())
    assert refused <= {"list", "get", "replace", "delete"} & set(operations.METHODS)
    assert not refused or "parents" in resource
    assert {situation for situation in messages if situation.startswith("orphan_")} <= {
        "orphan_create",
        *(f"orphan_{action}" for action in refused),
        *(["orphan_one"] if refused - {"list"} else []),
    }


@pytest.mark.parametrize(("name", "parent"), children())
def test_its_parents_embed_it(name: str, parent: str):
    resource = TABLE[name]
    assert "section" in TABLE[parent]
    member = properties(schemas()[TABLE[parent]["schema"]])[embedded(parent, resource)]
    if resource["kind"] == "named":
        assert member["additionalProperties"] == {"$ref": f"#/components/schemas/{resource['schema']}"}
    else:
        assert member["$ref"] == f"#/components/schemas/{resource['list']}"


@pytest.mark.parametrize("name", [name for name, resource in TABLE.items() if resource.get("full_section")])
def test_what_a_section_embeds_is_in_the_table(name: str):
    known = {embedded(name, resource) for resource in TABLE.values() if name in resource.get("parents", [])}
    own = schemas()[TABLE[name]["schema"]].get("allOf", [{}])[-1]
    assert set(own.get("properties", {})) == known


def test_no_two_resources_share_a_path_and_method():
    seen: dict[tuple[str, str], str] = {}
    for name in TABLE:
        for path, item in operations.expand({**TABLE, **only(name)}, everything=False).items():
            for method in item:
                assert seen.setdefault((path, method), name) == name


def only(name: str) -> operations.Table:
    return {each: resource | {"declared": each == name} for each, resource in TABLE.items()}
