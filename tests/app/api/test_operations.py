"""Operations as a document declares them."""

import inspect

import pytest

from dataplaneapi.api.operations import MissingHandler, Operation, operations
from dataplaneapi.api.parameters import Parameter

BUNDLE = {
    "paths": {
        "/things/{id}": {
            "parameters": [{"$ref": "#/components/parameters/id"}],
            "put": {
                "operationId": "replaceThing",
                "x-operation": {"resource": "things", "parent": "boxes", "action": "replace"},
                "parameters": [{"name": "version", "in": "query", "schema": {"type": "integer"}}],
                "requestBody": {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/thing"}}}},
                "responses": {"200": {"description": "", "content": {"text/plain": {}}}, "404": {"$ref": "#/components/responses/error"}},
            },
            "get": {"operationId": "getThing", "x-operation": {"handler": "things.read"}, "responses": {}},
        }
    },
    "components": {
        "parameters": {"id": {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}},
        "responses": {"error": {"content": {"application/problem+json": {}}}},
    },
}


def test_what_an_operation_knows() -> None:
    read, replace = operations(BUNDLE)
    assert (read.id, replace.id) == ("getThing", "replaceThing")
    assert (read.method, read.handler_name, read.resource, read.body) == ("GET", "things.read", None, None)
    assert (replace.method, replace.resource, replace.parent, replace.action, replace.names) == (
        "PUT",
        "things",
        "boxes",
        "replace",
        ("id",),
    )
    assert replace.parameters == (Parameter("id", "path", required=True), Parameter("version", "query", kind="integer"))
    assert replace.body is not None
    assert (replace.body.media_types, replace.body.required) == (("application/json",), True)
    assert replace.media_types == {"text/plain", "application/json", "application/problem+json"}
    assert read.media_types == {"application/json"}


def handled(about: dict[str, str]) -> Operation:
    return Operation("GET", "/x", {"x-operation": about}, {"x-resources": RESOURCES})


RESOURCES = {"things": {"kind": "named"}}


@pytest.mark.parametrize("about", [{"handler": "information.info"}, {"resource": "things", "action": "list"}])
def test_handlers_are_found(about: dict[str, str]) -> None:
    assert inspect.iscoroutinefunction(handled(about).handler)


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"handler": "nowhere.read"},
        {"handler": "information.nothing"},
        {"resource": "things", "action": "dance"},
        {"resource": "none", "action": "get"},
    ],
)
def test_no_handler(about: dict[str, str]) -> None:
    with pytest.raises(MissingHandler, match="no handler for GET /x"):
        assert handled(about).handler
