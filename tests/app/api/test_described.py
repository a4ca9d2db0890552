"""A call that is described is answered as the real one would be, and changes nothing."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.settings.roles import read_roles
from haproxy_native.commit.events import Event, Validated
from haproxy_native.request_context import NOBODY
from tests.app.api.test_read_only import held
from tests.app.client import CONFIG, CONFIGURATION, Client, settings
from tests.app.handlers.sidecar.test_history import entered

CHECK = "/v3/sidecar/access/check"
SERVICES = "/v3/services/haproxy"
SHOP = [{"objects": "**", "may": ["read"]}, {"objects": "backend/shop*", "may": ["create", "change", "delete"]}]
BOUNDARY = "multipart/form-data; boundary=b"
FORM = '--b\r\nContent-Disposition: form-data; name="file_upload"; filename="%s"\r\n\r\na b\n\r\n--b--\r\n'


@pytest.fixture(name="client")
def shop(tmp_path: Path) -> Iterator[Client]:
    """With a transaction of its user and one of another, a map, and entries in the history."""
    for name in ("maps", "general", "ssl", "spoe"):
        (tmp_path / name).mkdir()
    (tmp_path / "maps" / "hosts.map").write_text("a b\n")
    with Client(settings(tmp_path)) as client, entered(client):
        assert client.post(f"{CONFIG}/backends?version=1&force_reload=true", {"name": "shop"}).status == 201
        client.transaction = client.post(f"{SERVICES}/transactions?version=2").json["id"]
        yield client


def limited(client: Client, roles: Any = "shop") -> Client:
    client.app.services.roles = read_roles({"shop": SHOP}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": roles}])
    return client


def asked(client: Client, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
    answer = client.post(CHECK, {"method": method, "path": path, **({} if body is None else {"body": body}), **more})
    assert answer.status == 200, answer
    return dict(answer.json)


def entries(client: Client) -> list[str]:
    """Return the ids of the history's entries; their reload may end meanwhile."""
    return [entry["id"] for entry in client.get("/v3/sidecar/history").json]


def test_no_operation_does_anything(client: Client, tmp_path: Path) -> None:
    """With a body that is right for some, by a caller who may do everything."""
    limited(client, "admin")
    events: list[Event] = []
    client.engine.context.events.listen(events.append)
    before, history, allowed = held(tmp_path), entries(client), 0
    for operation in client.app.services.index.operations:
        body: Any = None
        if operation.body:
            body = {"name": "shop2"} if "application/json" in operation.body.media_types else CONFIGURATION
        name = client.transaction if "transactions" in operation.path else "shop"
        path = "/v3" + re.sub(r"\{[^}]+\}", name, operation.path) + "?version=2&parent_name=shop&confirm=9s"
        allowed += asked(client, operation.method, path, body)["allowed"]
    assert allowed > 100
    assert held(tmp_path) == before and entries(client) == history
    assert not client.get("/v3/sidecar/confirmations").json and not client.get("/v3/sidecar/operations").json
    assert not [each for each in events if not isinstance(each, Validated)], "neither history nor audit hear of a question"
    transaction = client.engine.transaction(client.transaction, author=NOBODY)
    assert transaction.status == "in_progress" and not transaction.closed


CALLS = [
    ("POST", f"{CONFIG}/backends?version=2", {"name": "shop2"}, True, 202),
    ("POST", f"{CONFIG}/backends?version=1", {"name": "shop2"}, None, 409),
    ("POST", f"{CONFIG}/backends?version=2", {"name": "shop"}, None, 409),
    ("POST", f"{CONFIG}/backends?version=2", {"name": "other"}, None, 403),
    ("POST", f"{CONFIG}/backends?version=2", {"name": "a b"}, None, 422),
    ("POST", f"{CONFIG}/backends", {"name": "shop2"}, None, 400),
    ("GET", f"{CONFIG}/backends/none", None, None, 404),
    ("GET", f"{CONFIG}/backends/shop", None, False, 200),
    ("PUT", f"{CONFIG}/backends/none?version=2", {"name": "none"}, None, 403),
    ("DELETE", f"{CONFIG}/backends/app?version=2", None, None, 403),
    ("POST", f"{CONFIG}/raw?version=2", CONFIGURATION + "\nbackend shop from base\n", True, 202),
    ("POST", f"{CONFIG}/raw?version=2", CONFIGURATION.replace("1000", "2000"), None, 403),
    ("DELETE", f"{SERVICES}/transactions/TRANSACTION", None, None, 403),
    ("PUT", f"{SERVICES}/transactions/TRANSACTION", None, None, 403),
    ("POST", f"{CONFIG}/backends?transaction_id=TRANSACTION", {"name": "shop2"}, None, 403),
    ("POST", f"{SERVICES}/transactions?version=2", None, False, 201),
    ("POST", "/v3/sidecar/reloads", None, None, 403),
    ("POST", "/v3/nowhere", None, None, 404),
    ("DELETE", "/v3/sidecar/reloads", None, None, 405),
]


@pytest.mark.parametrize(("method", "path", "body", "reload", "status"), CALLS)
def test_the_answer_of_the_real_call(client: Client, method: str, path: str, body: Any, reload: bool | None, status: int) -> None:
    limited(client)
    path = path.replace("TRANSACTION", client.transaction)
    if status == 403 and client.transaction in path:
        client.engine.context.transactions.get(client.transaction).author = "users/bob"
    verdict = asked(client, method, path, body)
    is_text = isinstance(body, str)
    headers = {"content-type": "text/plain"} if is_text else {}
    real = client(method, path, body.encode() if is_text else body, headers=headers)
    assert real.status == status
    if status < 400:
        assert verdict == {"allowed": True, "reload": reload}
    else:
        assert verdict == {"allowed": False, "code": status, "reason": real.message}


def test_uploads(client: Client) -> None:
    limited(client)
    path = f"{SERVICES}/storage/maps"
    there, new = (asked(client, "POST", path, FORM % name, content_type=BOUNDARY) for name in ("hosts.map", "new.map"))
    assert (there["code"], new["code"]) == (403, 403) and "map/new.map" in new["reason"]
    limited(client, "admin")
    assert asked(client, "POST", path, FORM % "new.map", content_type=BOUNDARY) == {"allowed": True, "reload": False}
    path = f"{SERVICES}/storage/ssl_certificates"
    real = client.post(path, (FORM % "new.pem").encode(), headers={"content-type": BOUNDARY})
    invalid = asked(client, "POST", path, FORM % "new.pem", content_type=BOUNDARY)
    assert invalid == {"allowed": False, "code": 400, "reason": real.message}, "the content is no certificate"


def test_what_takes_several_changes(client: Client) -> None:
    """Each of them is looked at: of a restore, the files and the configuration."""
    assert client.put(f"{SERVICES}/storage/maps/hosts.map", b"a c\n", headers={"content-type": "text/plain"}).status in (200, 202)
    first = client.get("/v3/sidecar/history").json[-1]["id"]
    assert client.post(f"{CONFIG}/backends?version=2&force_reload=true", {"name": "more"}).status == 201
    assert asked(client, "POST", f"/v3/sidecar/history/{first}/restore")["allowed"] is True
    maps = [{"objects": "**", "may": ["read"]}, {"objects": "map/*", "may": ["create", "change", "delete"]}]
    client.app.services.roles = read_roles({"maps": maps}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "maps"}])
    refused = asked(client, "POST", f"/v3/sidecar/history/{first}/restore")
    assert refused == {"allowed": False, "code": 403, "reason": client.post(f"/v3/sidecar/history/{first}/restore").message}


def test_where_nothing_is_to_be_changed(tmp_path: Path) -> None:
    with Client(settings(tmp_path, read_only=True)) as client:
        refused = asked(client, "POST", f"{CONFIG}/backends?version=1", {"name": "b"})
        assert refused["code"] == 403 and "read-only" in refused["reason"]
        assert asked(client, "GET", f"{CONFIG}/backends")["allowed"] is True


VIEWER, MAPS = [{"objects": "**", "may": ["read"]}], [{"objects": "map/*", "may": ["read", "change"]}]


@pytest.mark.parametrize("rules", [MAPS, pytest.param(VIEWER, marks=pytest.mark.soak)])
def test_who_may_change_nothing_is_told_so_as_by_the_call(client: Client, rules: Any) -> None:
    """Every operation that is refused for rights is refused in the same words, and no other is said to be."""
    client.app.services.roles = read_roles({"some": rules}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])
    form = {"content-type": BOUNDARY}
    compared, wrong = 0, list[Any]()
    for operation in client.app.services.index.operations:
        if operation.method == "GET" or operation.asks:
            continue
        kinds = operation.body.media_types if operation.body else ()
        body: Any = None
        if kinds:
            body = {"name": "shop2", "value": "v", "key": "k"} if "application/json" in kinds else CONFIGURATION
            body = FORM % "new.map" if "multipart/form-data" in kinds and len(kinds) == 1 else body
        name = client.transaction if "transactions" in operation.path else "shop"
        path = "/v3" + re.sub(r"\{[^}]+\}", name, operation.path) + "?version=2&parent_name=shop&key=a&name=a"
        is_text = isinstance(body, str)
        more = {"content_type": BOUNDARY} if is_text and body.startswith("--b") else {}
        verdict = asked(client, operation.method, path, body, **more)
        headers = form if more else {"content-type": "text/plain"} if is_text else {}
        real = client(operation.method, path, body.encode() if is_text else body, headers=headers)
        if real.status == 403:
            compared += 1
            wrong += [(operation, verdict, real.message)] if verdict != {"allowed": False, "code": 403, "reason": real.message} else []
        elif verdict.get("code") == 403:
            wrong.append((operation, verdict, f"{real.status} {real.body}"))
    assert not wrong
    assert compared > 100
