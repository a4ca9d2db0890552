"""FastAPI answers in our shape, whatever fails inside it."""

import json
from typing import Annotated, Any

import pytest
from fastapi import Depends, HTTPException, Request
from fastapi.exceptions import RequestValidationError

from dataplaneapi.api.call import Call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.exchange import exchange_of
from dataplaneapi.api.responses import Response, empty
from dataplaneapi.auth.caller import CallAuthor
from haproxy_native.errors import Missing
from tests.app.client import CONFIG, Client

WRONG = [{"loc": ("body", "name"), "msg": "too long"}, {"loc": ("query", "version"), "msg": "missing"}]


@pytest.mark.parametrize(
    ("raised", "status", "message"),
    [
        (ApiError(415, "send JSON"), 415, "send JSON"),
        (Missing("backend b does not exist"), 404, "missing object: backend b does not exist"),
        (HTTPException(418, "a teapot"), 418, "a teapot"),
        (RequestValidationError(WRONG), 422, "name in body: too long\nversion in query: missing"),
        (ZeroDivisionError(), 500, "unexpected failure: ZeroDivisionError; the log has the traceback"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_failures(client: Client, raised: Exception, status: int, message: str) -> None:
    async def source() -> Call:
        raise raised

    async def handler(call: Annotated[Call, Depends(source)]) -> Response:
        raise AssertionError("there is no call")

    serve(client, handler)
    got = client.post("/v3/here", b"")
    assert (got.status, json.loads(got.body)) == (status, {"code": status, "message": message})


def test_a_handler_gets_what_its_annotation_makes(client: Client) -> None:
    seen = []

    async def source(request: Request) -> Call:
        exchange = exchange_of(request.scope)
        operation = exchange.operation
        assert operation is not None
        return Call(request.app.services, operation, {"made": await request.body()}, {}, CallAuthor(), exchange)

    async def handler(call: Annotated[Call, Depends(source)]) -> Response:
        seen.append((call.services, call.values["made"]))
        return empty(204, [(b"X-Mine", b"1")])

    serve(client, handler)
    got = client.post("/v3/here", b"body")
    assert (got.status, got.body, got.headers["X-Mine"], seen) == (204, b"", "1", [(client.app.services, b"body")])


def test_every_operation_is_a_route_of_the_router_of_its_tag(client: Client) -> None:
    operations, served = client.app.services.index.operations, client.app.operation_routes.values()
    assert len(client.app.routes) == len({operation.tag for operation in operations}) + 1
    assert {(*route.methods, route.path, *route.tags) for route in served} == {(each.method, each.path, each.tag) for each in operations}


def test_what_no_operation_is_for(client: Client) -> None:
    assert client.get("/v3/nowhere").status == 404
    assert client.post(f"{CONFIG}/version").status == 405


def serve(client: Client, handler: Any) -> None:
    """At POST /v3/here."""
    from dataplaneapi.api.operations import Operation, RouteNode

    operation = Operation("POST", "/here", {"operationId": "here", "x-operation": {}}, {})
    operation.handler = handler
    node = client.app.services.index.root.fixed["here"] = RouteNode()
    node.operations["POST"] = operation
    client.app.serve(operation)


def test_its_document_declares_the_operations(client: Client) -> None:
    document = client.app.openapi()
    served = {(operation.method.lower(), operation.path) for operation in client.app.services.index.operations}
    assert {(method, path) for path, methods in document["paths"].items() for method in methods if method != "parameters"} == served


def test_a_get_that_fails_is_not_kept(client: Client) -> None:
    for _ in range(2):
        assert client.get(f"{CONFIG}/backends/none").status == 404
        assert client.get(f"{CONFIG}/backends/app").status == 200
    assert list(client.app.responses._responses) == [(f"{CONFIG}/backends/app".encode(), b"", None)]
