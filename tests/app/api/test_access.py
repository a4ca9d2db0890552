"""What callers of roles may ask for: nothing that is not declared, and no secret."""

import re
from collections.abc import Iterator

import pytest

from dataplaneapi.api.operations import ANYONE, Operation
from dataplaneapi.settings.roles import read_roles
from tests.app.client import CONFIG, Client

WHOAMI = "/v3/sidecar/whoami"
ADMIN = {"certificates": {"root": "admin"}}


def limited(client: Client, **roles: object) -> Client:
    """Its user has this role, or none."""
    users = [{"name": "admin", **({"role": next(iter(roles))} if roles else {})}]
    own = {name: rules for name, rules in roles.items() if rules}
    client.app.services.roles = read_roles(own, ADMIN, users)
    return client


def held(client: Client) -> dict[str, bytes]:
    """The configuration and all stored files."""
    files = [client.file, *(each for name in ("maps", "ssl", "general", "spoe") for each in (client.file.parent / name).rglob("*"))]
    return {str(each): each.read_bytes() for each in files if each.is_file()}


def every_call(client: Client, method: str = "") -> Iterator[tuple[Operation, int, str]]:
    for operation in client.app.services.index.operations:
        if (method and operation.method != method) or operation.path in ("/sidecar/events",):
            continue
        path = "/v3" + re.sub(r"\{[^}]+\}", "1", operation.path)
        body = {} if operation.body and "application/json" in operation.body.media_types else None
        answer = client(operation.method, path, body)
        yield operation, answer.status, answer.body.decode()


def test_without_a_role_nothing_but_who_one_is(client: Client) -> None:
    limited(client)
    before = held(client)
    for operation, status, body in every_call(client):
        if operation.access == ANYONE:
            assert status == 200
        else:
            assert status == 403 and "has no role" in body, (operation, status, body)
    assert held(client) == before


def test_a_viewer_changes_nothing(client: Client) -> None:
    limited(client, viewer=None)
    before = held(client)
    for operation, status, body in every_call(client):
        # What is not there is deleted already, and a PATCH without members changes none.
        is_nothing = (operation.method, status) in (("DELETE", 204), ("PATCH", 200))
        assert operation.method == "GET" or status >= 400 or operation.access in ("any", "read") or is_nothing, (operation, status, body)
        assert operation.method != "GET" or status != 403, (operation, body)
    assert held(client) == before


@pytest.mark.parametrize("rule", [{"objects": "backend/**", "may": ["read"]}, {"objects": "**", "may": ["change"]}, {"objects": "*"}])
def test_what_shows_of_everything_needs_the_right_to_everything(client: Client, rule: object) -> None:
    limited(client, some=[rule])
    of_everything = [(body, status) for operation, status, body in every_call(client, "GET") if not (operation.access or operation.rows)]
    assert len(of_everything) > 10
    for body, status in of_everything:
        assert (status == 403 and "may not read **" in body) or status in (400, 415, 422), body


def test_a_kept_answer_is_not_for_others(client: Client) -> None:
    assert client.get(f"{CONFIG}/backends").status == client.get(f"{CONFIG}/backends").status == 200
    limited(client)
    assert client.get(f"{CONFIG}/backends").status == 403
