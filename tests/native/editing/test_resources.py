"""The table of resources is whole: every row can be used."""

import pytest

from haproxy_native.editing.resources import Resource, Resources, resources
from haproxy_native.grammar.load import grammar

TABLE = resources()


@pytest.mark.parametrize("name", TABLE.by_name)
def test_a_row(name: str) -> None:
    row = TABLE[name]
    assert row.name == name
    assert row.kind in ("section", "named", "indexed", "singleton", "view")
    assert grammar().schemas.named(row.schema)
    assert set(row.parents) <= set(TABLE.by_name)
    assert bool(row.section) is (row.kind in ("section", "singleton"))


@pytest.mark.parametrize(
    ("parent", "member", "child"),
    [
        ("backends", "servers", "servers"),
        ("backends", "acl_list", "acls"),
        ("frontends", "binds", "binds"),
        ("global", "log_target_list", "log_targets"),
    ],
)
def test_children_of_a_section(parent: str, member: str, child: str) -> None:
    assert (member, TABLE[child]) in TABLE.children(parent)
    assert TABLE[child].member_of(parent) == member


def test_a_member_may_differ_by_parent() -> None:
    table = Resources(
        {
            "boxes": {"kind": "section", "schema": "box", "title": "Box", "section": "box"},
            "things": {
                "kind": "indexed",
                "schema": "thing",
                "title": "Thing",
                "parents": ["boxes", "bags"],
                "member": {"boxes": "thing_list"},
            },
        }
    )
    assert table.children("boxes") == (("thing_list", table["things"]),)
    assert table.children("bags") == (), "it is not embedded there"


def test_a_row_is_a_key() -> None:
    one = Resource("a", "section", "a", "A")
    assert {one: 1}[Resource("a", "section", "a", "A")] == 1
