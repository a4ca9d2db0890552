"""`/v3/sidecar/lint`: its forms, and findings by role, transaction and stored file."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.client import CONFIG, Client, settings

LINT = "/v3/sidecar/lint"
TEXT = """\
# _version=1
global
  user root
frontend f
  mode http
  bind 127.0.0.1:1
  timeout client 1s
  use_backend nothing if {{ path /x }}
  use_backend %[path,map({maps}/hosts.map)]
backend b
  server a 10.0.0.1:80 check
  server b 10.0.0.2:80
  timeout connect 1s
  timeout server 1s
userlist u
  user ann insecure-password hunter2
"""
USERS = [{"name": name, "password": "pw", "insecure": True, "role": role} for name, role in (("admin", "admin"), ("bob", "some"))]
ROLES = {"some": [{"objects": "backend/*", "may": ["read"]}, {"objects": "map/*", "may": ["read"]}]}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps/hosts.map").write_text("a b\nc gone\n")
    with Client(settings(tmp_path, users=USERS, roles=ROLES), TEXT.format(maps=tmp_path / "maps")) as client:
        yield client


def ids(found: list[dict[str, str]]) -> list[str]:
    return [each["id"] for each in found]


def test_forms(client: Client) -> None:
    found = client.get(LINT, auth="admin:pw")
    assert found.status == 200 and found.headers["Content-Type"] == "application/json"
    assert ids(found.json) == ["process-is-root", "name-undefined", "map-value-undefined", "server-without-check", "password-in-clear"]
    assert found.json[2]["object"] == "map/hosts.map" and found.json[2]["line"] == 2
    sarif = client.get(LINT, auth="admin:pw", headers={"Accept": "application/sarif+json"})
    assert sarif.headers["Content-Type"] == "application/sarif+json" and sarif.json["version"] == "2.1.0"
    text = client.get(f"{LINT}?format=text", auth="admin:pw", headers={"Accept": "application/json"})
    assert text.headers["Content-Type"] == "text/plain" and text.body.count(b"\n    ") >= 10
    assert all(b"hunter2" not in each.body for each in (found, sarif, text))
    assert client.get(f"{LINT}?format=xml", auth="admin:pw").status == 400


def test_a_role_sees_what_it_may_read(client: Client) -> None:
    assert ids(client.get(LINT, auth="bob:pw").json) == ["server-without-check"]
    sarif = json.loads(client.get(f"{LINT}?format=sarif", auth="bob:pw").body)
    assert [each["ruleId"] for each in sarif["runs"][0]["results"]] == ["server-without-check"]
    assert b"user root" not in client.get(f"{LINT}?format=text", auth="bob:pw").body


def test_a_transaction_with_its_files(client: Client) -> None:
    id_ = client.post("/v3/services/haproxy/transactions?version=1", auth="admin:pw").json["id"]
    backend = f"{CONFIG}/backends?transaction_id={id_}"
    assert client.post(backend, {"name": "nothing"}, auth="admin:pw").status == 202
    assert "name-undefined" not in ids(client.get(f"{LINT}?transaction_id={id_}", auth="admin:pw").json)
    assert "name-undefined" in ids(client.get(LINT, auth="admin:pw").json)
    assert client.delete(f"/v3/services/haproxy/storage/maps/hosts.map?transaction_id={id_}", auth="admin:pw").status in (202, 204)
    assert "file-missing" in ids(client.get(f"{LINT}?transaction_id={id_}", auth="admin:pw").json)
    assert client.get(f"{LINT}?transaction_id=none", auth="admin:pw").status == 400
