"""`/v3/sidecar/whoami`: names, roles and rules."""

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
