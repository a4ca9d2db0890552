"""One route walks all paths."""

from urllib.parse import unquote

import pytest

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.operations import Operation, RouteIndex, operations


def declared(*paths: str) -> list[Operation]:
    """`GET POST /path` each."""
    rows = [(path.split()[-1], path.split()[:-1]) for path in paths]
    table = {path: {method.lower(): {"x-operation": {}} for method in methods} for path, methods in rows}
    return list(operations({"paths": table}))


INDEX = RouteIndex(
    declared(
        "GET /services",
        "GET POST /c/backends",
        "GET PUT DELETE /c/backends/{name}",
        "GET POST /c/backends/{parent_name}/servers",
        "GET PUT /c/backends/{parent_name}/servers/{name}",
        "GET /c/stores/{store}/loads/{certificate}",
        "GET PUT /c/global/log_targets",
        "GET POST PUT /c/global/log_targets/{index}",
    ),
    lambda path, query: "try another" if path.endswith("wrong") else "",
)


def find(path: str, method: str = "GET") -> tuple[Operation, dict[str, str]]:
    return INDEX.find(method, path.encode())


@pytest.mark.parametrize(
    ("path", "found", "values"),
    [
        ("/v3/services", "/services", {}),
        ("/v3/services/", "/services", {}),
        ("/v3/c/backends/app", "/c/backends/{name}", {"name": "app"}),
        ("/v3/c/backends/app/", "/c/backends/{name}", {"name": "app"}),
        ("/v3/c/backends/a%70p", "/c/backends/{name}", {"name": "app"}),
        ("/v3/c/backends/a%2Fb", "/c/backends/{name}", {"name": "a/b"}),
        ("/v3/c/backends/gr%C3%BCn/servers/s%20", "/c/backends/{parent_name}/servers/{name}", {"parent_name": "grün", "name": "s "}),
        ("/v3/c/backends/%FF/servers", "/c/backends/{parent_name}/servers", {"parent_name": "\udcff"}),
        ("/v3/c/stores/a/loads/b.pem", "/c/stores/{store}/loads/{certificate}", {"store": "a", "certificate": "b.pem"}),
        ("/v3/c/global/log_targets/-1", "/c/global/log_targets/{index}", {"index": "-1"}),
    ],
)
def test_found(path: str, found: str, values: dict[str, str]) -> None:
    operation, given = find(path)
    assert (operation.path, given) == (found, values)


@pytest.mark.parametrize(
    "path",
    "/v3/nowhere /v3/c /v3/services%2Fx /v3/c//backends /v3/c/%62ackends /v3/c/backends// /v3/services// /v2/services /v3services / "
    "/c/backends /v3/c/backends/a/servers/b/c".split(),
)
def test_not_found(path: str) -> None:
    with pytest.raises(ApiError) as error:
        find(path)
    assert (error.value.status, error.value.message) == (404, f"path {unquote(path)} was not found")


@pytest.mark.parametrize("path", ["/v3", "/v3/"])
def test_the_root(path: str) -> None:
    with pytest.raises(ApiError, match="^no matching operation was found$"):
        find(path)


def test_help_stands_behind_the_text() -> None:
    with pytest.raises(ApiError, match="^path /v3/wrong was not found; try another$"):
        find("/v3/wrong")


@pytest.mark.parametrize(
    ("method", "path", "allow", "has", "meant"),
    [
        ("PATCH", "/v3/c/backends/a", b"GET, PUT, DELETE", "GET, PUT and DELETE", ""),
        ("HEAD", "/v3/services", b"GET", "GET", ""),
        ("OPTIONS", "/v3/services", b"GET", "GET", ""),
        ("PUT", "/v3/c/backends", b"GET, POST", "GET and POST", "PUT /v3/c/backends/{name}"),
        ("POST", "/v3/c/backends/a", b"GET, PUT, DELETE", "GET, PUT and DELETE", "POST /v3/c/backends"),
        ("PUT", "/v3/c/backends/a%2Fb/servers", b"GET, POST", "GET and POST", "PUT /v3/c/backends/a%2Fb/servers/{name}"),
        ("POST", "/v3/c/backends/a%2Fb/servers/x", b"GET, PUT", "GET and PUT", "POST /v3/c/backends/a%2Fb/servers"),
        ("POST", "/v3/c/global/log_targets", b"GET, PUT", "GET and PUT", "POST /v3/c/global/log_targets/{index}"),
        ("POST", "/v3/c/global/log_targets/", b"GET, PUT", "GET and PUT", "POST /v3/c/global/log_targets/{index}"),
    ],
)
def test_wrong_method(method: str, path: str, allow: bytes, has: str, meant: str) -> None:
    with pytest.raises(ApiError) as error:
        find(path, method)
    question = f"; did you mean {meant}?" if meant else ""
    assert error.value.status == 405
    assert error.value.message == f"method {method} is not allowed for path {unquote(path)}, which has {has}{question}"
    assert [value for _, value in error.value.headers] == [allow]
