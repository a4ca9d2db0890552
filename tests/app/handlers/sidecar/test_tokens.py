"""`/v3/sidecar/tokens`: who may create, see and revoke which."""

import base64
from dataclasses import replace
from typing import Any

import pytest

from dataplaneapi.settings.roles import read_roles
from tests.app.client import Client

TOKENS = "/v3/sidecar/tokens"
WANTED = {"role": "viewer", "ttl": "12h", "from": ["192.0.2.1", "127.0.0.0/8"], "note": "nightly"}


@pytest.fixture(name="client")
def limited_client(client: Client) -> Client:
    as_user(client, "admin")
    return client


def as_user(client: Client, *roles: str, **rules: Any) -> None:
    """The one user has these roles from now on."""
    given = {"users": {"admin": list(roles)}, "certificates": {"root": "admin"}}
    client.app.services.roles = read_roles(rules, given, [])


def test_a_token_from_birth_to_death(client: Client) -> None:
    answer = client.post(TOKENS, WANTED)
    assert answer.status == 201
    token = answer.json
    secret, networks = token.pop("secret"), ["192.0.2.1/32", "127.0.0.0/8"]
    assert token | {"id": "", "created": "", "expires": ""} == {
        "id": "",
        "role": "viewer",
        "ttl": "43200s",
        "from": networks,
        "note": "nightly",
        "creator": "admin",
        "created": "",
        "expires": "",
    }
    path = f"{TOKENS}/{token['id']}"
    assert client.get(path).json == token and client.get(TOKENS).json == [token]
    with_token = {"auth": None, "headers": {"authorization": f"Bearer {secret}"}}
    who = client.get("/v3/sidecar/whoami", **with_token).json
    assert (who["token"], who["creator"], who["expires"]) == (token["id"], "admin", token["expires"])
    (seen,) = client.get(TOKENS, **with_token).json
    assert seen["last_address"] == "127.0.0.1"
    assert client.post(TOKENS, WANTED, **with_token).status == 403
    assert client.delete(path, **with_token).status == 204, "it may end itself"
    assert client.get(TOKENS, **with_token).status == 401 and client.get(path).status == client.delete(path).status == 404


def test_of_others(client: Client) -> None:
    create = client.app.services.bearers.tokens.create
    token, _ = client.runner.run(create(["viewer"], "certificates", "node", 60.0))
    path = f"{TOKENS}/{token.id}"
    assert client.get(path).json["creator"] == "node" and "node no longer has a role" in client.get(path).json["state"]
    as_user(client, "editor")
    assert [each["id"] for each in client.get(TOKENS).json] == [token.id], "an editor reads everything"
    assert client.delete(path).status == 403
    as_user(client, "own", own=[{"objects": "map/*"}])
    assert client.get(TOKENS).json == [] and client.get(path).status == 403
    assert [client.delete(each).status for each in (path, f"{TOKENS}/none")] == [403, 403], "neither tells whether it is there"
    as_user(client, "own", own=[{"objects": "token/*", "may": ["delete"]}])
    assert client.delete(path).status == 204


@pytest.mark.parametrize(
    ("members", "status", "text"),
    [
        ({"role": None}, 422, "role in body is required"),
        ({"role": []}, 422, "role in body is"),
        ({"role": {"viewer": True}}, 422, "role in body must be the name of a role"),
        ({"role": ["viewer", 7]}, 422, "role in body must be the name of a role"),
        ({"role": "views"}, 422, "unknown role 'views'; expected one of viewer, operator"),
        ({"ttl": None}, 422, "ttl in body is required"),
        ({"ttl": "soon"}, 422, "ttl in body is not a duration"),
        ({"ttl": "0s"}, 422, "ttl in body must be from 1s to 8784h"),
        ({"ttl": "9000h"}, 422, "ttl in body must be from 1s to 8784h"),
        ({"from": ["10.0.0.1/8"]}, 422, "has host bits set"),
        ({"from": ["here"]}, 422, "from in body must be a network or an address"),
        ({"from": "10.0.0.0/8"}, 400, "from"),
        ({"note": "x" * 201}, 422, "note in body should be at most 200"),
    ],
)
def test_bodies_that_are_wrong(client: Client, members: dict[str, Any], status: int, text: str) -> None:
    answer = client.post(TOKENS, WANTED | members)
    assert (answer.status, text in answer.message) == (status, True), answer.message
    assert client.get(TOKENS).json == []


def test_where_the_server_is_read_only(client: Client) -> None:
    token = client.post(TOKENS, WANTED).json
    client.app.services.settings = replace(client.app.services.settings, read_only=True)
    assert client.post(TOKENS, WANTED).status == 403
    assert client.delete(f"{TOKENS}/{token['id']}").status == 204, "a token that is stolen is revoked all the same"


def test_without_roles(client: Client) -> None:
    secret = client.post(TOKENS, WANTED).json["secret"]
    client.app.services.roles = None
    assert client.post(TOKENS, WANTED).status == 409
    answer = client.get(TOKENS, auth=None, headers={"authorization": f"Bearer {secret}"})
    assert answer.status == 403 and "the settings no longer have roles" in answer.message


def test_one_without_a_role(client: Client) -> None:
    roles, client.app.services.roles = client.app.services.roles, None
    wanted = {"ttl": "8h"}
    token = client.post(TOKENS, wanted).json
    assert "role" not in token and "state" not in token
    with_token = {"auth": None, "headers": {"authorization": f"Bearer {token['secret']}"}}
    assert client.get("/v3/sidecar/whoami", **with_token).json["limited"] is False
    assert client.get("/v3/services/haproxy/configuration/raw", **with_token).status == 200
    assert client.post(TOKENS, wanted, **with_token).status == 403, "a token cannot create tokens"
    client.app.services.roles = roles
    answer = client.get(TOKENS, **with_token)
    assert answer.status == 403 and "the settings now have roles" in answer.message
    assert client.post(TOKENS, wanted).status == 422, "where there are roles it needs one"


def test_bytes_that_are_no_token(client: Client) -> None:
    for text in ("Bearer", "Bearer " + base64.b64encode(b"admin:adminpwd").decode(), "Bearer \xff", f"Bearer dps_{'x' * 43}"):
        answer = client.get(TOKENS, auth=None, headers={"authorization": text})
        challenge = 'Bearer realm="API", error="invalid_token"' if "dps_" in text else 'Basic realm="API"'
        assert answer.status == 401 and answer.headers["WWW-Authenticate"] == challenge
