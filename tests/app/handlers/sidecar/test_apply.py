"""`/v3/sidecar/apply`, `export` and `owners`: shapes of answers, and who may ask."""

from dataplaneapi.settings.roles import read_roles
from tests.app.client import Client

APPLY, OWNERS = "/v3/sidecar/apply", "/v3/sidecar/owners"
SHOP = b"backend shop from base\n    server a 127.0.0.1:1 weight 5\n"
TEXT = {"content-type": "text/plain"}


def test_shapes(client: Client) -> None:
    done = client.put(f"{APPLY}?owner=a", SHOP, headers=TEXT)
    assert done.status == 202 and done.headers["Reload-Id"]
    assert done.json["owner"] == "a" and done.json["version"] == 2 and done.json["created"] == ["backend/shop"] and done.json["reload"]
    assert client.get(OWNERS).json == [
        {
            "owner": "a",
            "objects": [
                {"object": "backend/shop", "members": ["from"]},
                {"object": "backend/shop/server/a", "members": ["address", "port", "weight"]},
            ],
        }
    ]
    assert client.get("/v3/sidecar/export?owner=a").json["backends"][0]["servers"]["a"]["weight"] == 5
    missing = client.get("/v3/sidecar/export?owner=b")
    assert missing.status == 404 and "GET /v3/sidecar/owners" in missing.message
    assert client.put(APPLY, SHOP, headers=TEXT).status == client.put(f"{APPLY}?owner=a%2Fb", SHOP, headers=TEXT).status == 400
    assert client.put(f"{APPLY}?owner=a&version=1", SHOP.replace(b"5", b"6"), headers=TEXT).status == 409
    conflict = client.put(f"{APPLY}?owner=b&dry_run=true", SHOP.replace(b"5", b"6"), headers=TEXT)
    assert conflict.status == 200 and conflict.json["conflicts"][0]["owners"] == ["a"] and conflict.json["valid"]


def test_rights(client: Client) -> None:
    every = ["read", "create", "change", "delete"]
    rules = [{"objects": "backend/shop", "may": every}, {"objects": "owner/a", "may": every}]
    client.app.services.roles = read_roles({"shop": rules}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "shop"}])
    assert client.put(f"{APPLY}?owner=a", SHOP, headers=TEXT).status == 202
    other = client.put(f"{APPLY}?owner=b", SHOP, headers=TEXT)
    assert other.status == 403 and "owner/b" in other.message
    beyond = client.put(f"{APPLY}?owner=a", SHOP + b"backend more from base\n", headers=TEXT)
    assert beyond.status == 403 and "may not create backend/more" in beyond.message
    adopted = client.put(f"{APPLY}?owner=a&dry_run=true", SHOP + b"backend app from base\n    server app1 127.0.0.1:9\n", headers=TEXT)
    assert adopted.status == 403 and "may not change" in adopted.message, "a dry run tells no guess of a value from another"
    assert "8081" not in adopted.body.decode() and "plan_token" not in adopted.json
    assert [each["owner"] for each in client.get(OWNERS).json] == ["a"] and client.get("/v3/sidecar/export?owner=b").status == 403


def test_a_plan_is_carried_out_once(client: Client) -> None:
    token = client.put(f"{APPLY}?owner=a&dry_run=true&prune=false", SHOP, headers=TEXT).json["plan_token"]
    assert client.get(OWNERS).json == []
    for wrong in (client.put(f"{APPLY}?plan={token}&owner=a"), client.put(f"{APPLY}?plan={token}", SHOP, headers=TEXT)):
        assert wrong.status == 400 and "plan" in wrong.message
    done = client.put(f"{APPLY}?plan={token}")
    assert done.status == 202 and done.json["created"] == ["backend/shop"] and done.json["owner"] == "a", done.body
    assert client.put(f"{APPLY}?plan={token}").status == 404
    assert "plan_token" not in client.put(f"{APPLY}?owner=b&dry_run=true", SHOP.replace(b"5", b"6"), headers=TEXT).json, "it has conflicts"


def test_a_plan_that_is_out_of_date(client: Client) -> None:
    token = client.put(f"{APPLY}?owner=a&dry_run=true", SHOP, headers=TEXT).json["plan_token"]
    assert client.put(f"{APPLY}?owner=b", SHOP, headers=TEXT).status == 202
    moved = client.put(f"{APPLY}?plan={token}")
    assert moved.status == 412 and "request a new plan" in moved.message


def test_a_plan_moves_with_what_it_left_as_it_was(client: Client) -> None:
    assert client.put(f"{APPLY}?owner=a", SHOP, headers=TEXT).status == 202
    more = SHOP + b"    server b 127.0.0.1:2\n"
    tokens = [client.put(f"{APPLY}?owner=a&dry_run=true", more, headers=TEXT).json["plan_token"] for _ in range(2)]
    assert client.put(f"{APPLY}?owner=b&force=true", SHOP.replace(b"5", b"6"), headers=TEXT).status == 202
    moved = client.put(f"{APPLY}?plan={tokens[0]}")
    assert moved.status == 412 and "weight of backend/shop/server/a has been changed" in moved.message, moved.body
    assert client.put(f"{APPLY}?owner=b&force=true", SHOP, headers=TEXT).status == 202
    assert client.put(f"{APPLY}?plan={tokens[1]}").status == 202, "it is as it was"


def test_a_plan_by_force_is_for_those_whom_it_has_shown(client: Client) -> None:
    heavy = SHOP.replace(b"5", b"6")
    assert client.put(f"{APPLY}?owner=a", SHOP, headers=TEXT).status == 202
    shown = client.put(f"{APPLY}?owner=b&dry_run=true&force=true", heavy, headers=TEXT).json
    assert [each["owners"] for each in shown["taken"]] == [["a"]]
    assert client.put(f"{APPLY}?owner=c", SHOP, headers=TEXT).status == 200
    assert client.put(f"{APPLY}?plan={shown['plan_token']}").status == 412


def test_too_much_to_delete(client: Client) -> None:
    assert client.put(f"{APPLY}?owner=a", SHOP + b"    server b 127.0.0.1:2\n", headers=TEXT).status == 202
    for more in ("", "&dry_run=true"):
        refused = client.put(f"{APPLY}?owner=a&max_delete=0{more}", SHOP, headers=TEXT)
        assert refused.status == 409 and refused.json["deleted"] == ["backend/shop/server/b"] and "plan_token" not in refused.json
    assert "plan_token" in client.put(f"{APPLY}?owner=a&max_delete=1&dry_run=true", SHOP, headers=TEXT).json


def test_no_transaction_holds_it_back(client: Client) -> None:
    before = client.file.read_bytes()
    batch = [{"method": "DELETE", "path": "/v3/services/haproxy/configuration/backends/app"}]
    for refused in (
        client.put(f"{APPLY}?owner=a&transaction_id=x", SHOP, headers=TEXT),
        client.post("/v3/sidecar/batch?transaction_id=x", batch),
    ):
        assert refused.status == 400 and "transaction_id in query is not known" in refused.message, refused.body
    assert client.file.read_bytes() == before
