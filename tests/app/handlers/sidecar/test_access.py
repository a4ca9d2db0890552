"""`/v3/sidecar/whoami`: names, roles and rules."""

import pytest

from dataplaneapi.settings.roles import read_roles
from tests.app.client import Client

WHOAMI = "/v3/sidecar/whoami"


def test_without_roles(client: Client) -> None:
    assert client.get(WHOAMI).json == {"name": "admin", "address": "127.0.0.1", "limited": False}


def test_with_roles(client: Client) -> None:
    rule = {"objects": "map/*", "fields": ["b", "a"], "may": ["delete", "read"], "reload": "never", "max_objects": 2}
    client.app.services.roles = read_roles({"maps": [rule]}, {"users": {"admin": ["admin", "maps"]}}, [])
    shown = client.get(WHOAMI).json
    assert shown["limited"] is True and shown["roles"] == ["admin", "maps"]
    every = ["read", "create", "change", "delete", "secrets"]
    assert shown["rules"] == [
        {"objects": "**", "may": every, "reload": "any"},
        {"objects": "map/*", "may": ["read", "delete"], "fields": ["a", "b"], "reload": "never", "max_objects": 2},
    ]


CHECK = "/v3/sidecar/access/check"
READ = {"method": "GET", "path": "/v3/services/haproxy/configuration/backends"}
DELETE = {"method": "DELETE", "path": "/v3/services/haproxy/configuration/backends/app?version=1"}


def test_may_i(client: Client) -> None:
    assert client.post(CHECK, DELETE).json == {"allowed": True, "reload": True}
    client.app.services.roles = read_roles({}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "viewer"}])
    assert client.post(CHECK, READ).json["allowed"] is True
    refused = client.post(CHECK, DELETE).json
    assert refused == {"allowed": False, "code": 403, "reason": client("DELETE", DELETE["path"]).message}
    for other in ({"user": "ann"}, {"role": "admin"}):
        assert client.post(CHECK, READ | other).status == 403, "admins ask about others"


@pytest.mark.parametrize("name", ["missing.txt", "shop_%2F..%2Fsecret.txt"])
def test_a_read_of_a_stored_file_that_is_missing(client: Client, name: str) -> None:
    path = f"/v3/services/haproxy/storage/general/{name}"
    real, answer = client.get(path), client.post(CHECK, {"method": "GET", "path": path}).json
    assert (real.status, answer["allowed"], answer["code"]) == (404, False, 404), answer


def test_may_they(client: Client) -> None:
    users = [{"name": "admin", "role": "admin"}]
    client.app.services.roles = read_roles({}, {"users": {"ann": "viewer"}}, users)
    gone = client.post(CHECK, READ | {"user": "ann"}).json
    assert gone["code"] == 403 and "user ann does not exist" in gone["reason"]
    assert client.post(CHECK, READ | {"role": "viewer"}).json["allowed"] is True
    assert client.post(CHECK, DELETE | {"role": "viewer"}).json["code"] == 403
    assert client.post(CHECK, DELETE | {"user": "admin"}).json["allowed"] is True
    for wrong, text in (({"role": "none"}, "unknown role 'none'"), ({"role": "viewer", "user": "ann"}, "one of the two")):
        answer = client.post(CHECK, READ | wrong)
        assert answer.status == 422 and text in answer.message
    client.app.services.roles = None
    assert client.post(CHECK, READ | {"role": "viewer"}).status == 422
    assert client.post(CHECK, READ | {"user": "ann"}).json["allowed"] is True


def test_who_changes_everything_is_no_admin_yet(client: Client) -> None:
    rules = {"almost": [{"objects": "**", "may": ["read", "create", "change", "delete"]}]}
    client.app.services.roles = read_roles(rules, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "almost"}], "u")
    refused = client.post(CHECK, READ | {"role": "admin"})
    assert refused.status == 403 and "role admin may" in refused.message
    client.app.services.roles = read_roles(rules, {}, [{"name": "admin", "role": "admin"}])
    assert client.post(CHECK, READ | {"role": "almost"}).json["allowed"] is True


def test_what_is_no_question(client: Client) -> None:
    for wrong in ({}, {"method": "GET"}, READ | {"method": "BREW"}, READ | {"path": 7}, READ | {"content_type": 1}):
        assert client.post(CHECK, wrong).status in (400, 422), wrong
    for path in ("x", "/v3/ü?a=ü%", "http://elsewhere/v3/info", "?" * 5000):
        answer = client.post(CHECK, READ | {"path": path})
        assert answer.status == 200 and answer.json["allowed"] is False, (path, answer)
