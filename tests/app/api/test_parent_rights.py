"""A write is judged with the section, file or process object that its object stands in, wherever the call names that."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from dataplaneapi.api.operations import Operation
from dataplaneapi.settings.roles import read_roles
from haproxy_native.editing.object_names import ObjectPlace, name_of
from haproxy_native.grammar.load import grammar
from tests.app.client import CONFIG, Client
from tests.samples import line_samples

EVERY = ["read", "create", "change", "delete"]
ADMIN = {"certificates": {"root": "admin"}}
# Parents outside of the configuration, by the beginning of the path, with the object that each is.
FILES = {
    "/services/haproxy/spoe/spoe_files/{parent_name}/": "spoe/one",
    "/services/haproxy/runtime/maps/{parent_name}/": "map/one.map",
    "/services/haproxy/storage/ssl_crt_lists/{name}/": "crt_list/one",
}
USERLISTS = """
userlist one
  group staff users joe
  user joe insecure-password x
userlist two
  group staff
  user joe insecure-password x
"""


def with_rule(client: Client, objects: str) -> Client:
    client.app.services.roles = read_roles({"own": [{"objects": objects, "may": EVERY}]}, ADMIN, [{"name": "admin", "role": "own"}])
    return client


def called(client: Client, operation: Operation, query: str) -> tuple[int, str]:
    path = operation.path.replace("{index}", "0")
    path = re.sub(r"\{\w+\}", "x", path if query else re.sub(r"\{\w+\}", "one", path, count=1))
    more = "&certificate=x&line_number=1" if operation.path.startswith(tuple(FILES)) else ""
    got = client(operation.method, f"/v3{path}?version=1{more}{query}", body_of(client, operation))
    return got.status, got.body.decode()


def body_of(client: Client, operation: Operation) -> object:
    """A body that its operation accepts."""
    resource = client.app.services.editor.resources.by_name.get(operation.resource or "")
    if operation.body is None or operation.action == "replace_all":
        return [] if operation.body else None
    if resource is None or resource.kind == "view":
        return "x" if operation.path.endswith("/scopes") else {"key": "k", "value": "v", "file": "f"}
    sample = first_sample(resource.schema) if not resource.file else {"name": "x"}
    return sample | ({resource.key: "x"} if resource.kind == "named" else {})


@cache
def first_sample(schema: str) -> dict[str, Any]:
    return line_samples(grammar().line(schema))[0]


def parents(client: Client) -> Iterator[tuple[Operation, str, str]]:
    """Every write of something that stands in an object that the call names: the operation, that object, and the query that names it."""
    editor = client.app.services.editor
    for operation in client.app.services.index.operations:
        if not operation.writes or operation.access == "any":
            continue
        resource = editor.resources.by_name.get(operation.resource or "")
        if resource and operation.parent is not None and resource.kind != "view":
            parameter = resource.parent_parameter
            above = editor.resources[operation.parent]
            is_asked = above.kind != "singleton" and len(operation.names) < 1 + operation.is_of_one
            query = f"&{parameter}=one" if is_asked else ""
            yield operation, name_of(ObjectPlace(above, None, "" if above.kind == "singleton" else "one")), query
        elif parent := next((object_ for start, object_ in FILES.items() if operation.path.startswith(start)), None):
            yield operation, parent, ""


def test_every_parent_counts(client: Client) -> None:
    judged = list(parents(client))
    assert len(judged) > 300 and len({query for _, _, query in judged}) > 4
    wrong = list[object]()
    for operation, parent, query in judged:
        status, body = called(with_rule(client, parent), operation, query)
        wrong += [(operation, parent, body)] if status == 403 else []
        other = f"{parent.rpartition('/')[0]}/other" if "/" in parent else "backend/other"
        status, body = called(with_rule(client, other), operation, query)
        wrong += [(operation, other, status, body)] if status != 403 else []
    assert not wrong


# Of a userlist by its name in the query: method, path, body, and the status for those who may.
OF_USERLIST = [
    ("POST", "/users?userlist={}", {"username": "jim", "password": "y", "secure_password": False}, 202),
    ("PUT", "/users/joe?userlist={}", {"username": "joe", "password": "y", "secure_password": False}, 202),
    ("PUT", "/users/joe?userlist={}", {"username": "jim", "password": "y", "secure_password": False}, 202),
    ("PATCH", "/users/joe?userlist={}", {"password": "y", "secure_password": False}, 202),
    ("DELETE", "/users/joe?userlist={}", None, 202),
    ("PUT", "/groups/staff?userlist={}", {"name": "staff", "users": ""}, 202),
    ("PUT", "/groups/staff?userlist={}", {"name": "crew", "users": "joe"}, 202),
    ("DELETE", "/groups/staff?userlist={}", None, 202),
    ("GET", "/users/joe?userlist={}", None, 200),
    ("GET", "/groups?userlist={}", None, 200),
]
WITH_SPELLINGS = [("PUT", "/users/joe?userlist={}"), ("GET", "/groups?userlist={}")]
# Each call with the plain name, and each spelling of it in a write and in a read.
SPELLED = [
    pytest.param(spelled, *call, marks=() if spelled == "one" or call[:2] in WITH_SPELLINGS else pytest.mark.soak)
    for spelled in ("one", "%22one%22", "'one'", "o%5Cx6ee")
    for call in OF_USERLIST
]


@pytest.mark.parametrize(("spelled", "method", "path", "body", "done"), SPELLED)
def test_of_a_userlist_in_the_query(client: Client, spelled: str, method: str, path: str, body: object, done: int) -> None:
    text = client.file.read_text() + USERLISTS
    assert client.post(f"{CONFIG}/raw?version=1", text.encode(), headers={"content-type": "text/plain"}).status == 202
    version = "" if method == "GET" else "&version=2"
    refused = with_rule(client, "userlist/two")(method, CONFIG + path.format(spelled) + version, body)
    assert refused.status == 403 or refused.json == [], refused
    got = with_rule(client, "userlist/one")(method, CONFIG + path.format(spelled) + version, body)
    assert got.status == done, got
