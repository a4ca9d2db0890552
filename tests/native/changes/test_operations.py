"""Operations come back from JSON as they were, and others by what they have done to the text."""

import json

import pytest

from haproxy_native.changes.operations import (
    ChangeText,
    Create,
    Delete,
    Edit,
    Patch,
    PutText,
    Replace,
    ReplaceAll,
    as_operation,
    as_row,
    storable,
)
from haproxy_native.editing import patches
from haproxy_native.editing.object_names import ObjectPlace
from haproxy_native.editing.resources import resources
from haproxy_native.planning.observed import Claim
from haproxy_native.text.document import Document

TABLE = resources()
APP = (TABLE["backends"], "app")
SERVER, RULE = ObjectPlace(TABLE["servers"], APP, "one"), ObjectPlace(TABLE["http_request_rules"], APP, 0)
BODY = {"name": "one", "address": "127.0.0.1", "port": 1}
BEFORE, AFTER = Document.parse("backend app\n"), Document.parse("backend app\n  server \udcff 127.0.0.1\n")


@pytest.mark.parametrize(
    "operation",
    [
        Create(ObjectPlace(TABLE["servers"], APP, ""), BODY),
        Create(ObjectPlace(TABLE["backends"], None, ""), {"name": "app", "servers": {"one": BODY}}, full=True),
        Replace(SERVER, BODY),
        Patch(RULE, {"cond": None}),
        Delete(RULE),
        ReplaceAll(ObjectPlace(TABLE["http_request_rules"], APP, ""), [{"type": "allow"}]),
    ],
)
def test_operations_on_objects(operation: Edit) -> None:
    assert storable([operation], patches.NONE) == [operation]
    assert as_operation(json.loads(json.dumps(as_row(operation))), patches.NONE) == operation


def test_others_are_what_they_have_done_to_the_text() -> None:
    patch = patches.patch(BEFORE, AFTER)
    assert patch
    (made,) = storable([Replace(SERVER, BODY), PutText("", AFTER)], patch)
    assert made == ChangeText(patch, frozenset({Claim("app", "one")}))
    assert as_operation(json.loads(json.dumps(as_row(made))), patch) == made
    assert made.apply(BEFORE).data == AFTER.data


def test_an_object_that_is_not_known_any_more() -> None:
    row = {**as_row(Delete(RULE)), "of": "http_request_rules_of_old"}
    assert as_operation(row, patches.NONE) == ChangeText(patches.NONE)
