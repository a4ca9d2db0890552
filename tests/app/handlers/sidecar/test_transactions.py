"""`GET /v3/sidecar/transactions`, and transactions that are ended."""

from pathlib import Path

from haproxy_native.disk.database import STATE
from tests.app.client import CONFIG, Client, serving
from tests.databases import connected

LIST, TRANSACTIONS = "/v3/sidecar/transactions", "/v3/services/haproxy/transactions"


def started(client: Client, name: str, auth: str = "admin:adminpwd") -> str:
    id_ = str(client.post(f"{TRANSACTIONS}?version=1", auth=auth).json["id"])
    assert client.post(f"{CONFIG}/backends?transaction_id={id_}", {"name": name}, auth=auth).status == 202
    return id_


def test_what_each_changes_and_who_has_it(client: Client) -> None:
    one, other = started(client, "one"), started(client, "other")
    rows = client.get(LIST).json
    assert [(row["id"], row["status"], row["version"], row["author"], row["objects"]) for row in rows] == [
        (other, "in_progress", 1, "admin", ["backend/other"]),
        (one, "in_progress", 1, "admin", ["backend/one"]),
    ]
    assert all(row["started"] <= row["used"] for row in rows)
    assert client.put(f"{TRANSACTIONS}/{one}").status == 202
    assert [(row["id"], row["status"], row["objects"]) for row in client.get(LIST).json] == [(other, "outdated", ["backend/other"])]


def test_those_of_others_are_left_out(tmp_path: Path) -> None:
    roles = {"some": [{"objects": "backend/*", "may": ["create"], "reload": "any"}]}
    users = [{"name": name, "password": "pw", "insecure": True, "role": role} for name, role in (("root", "admin"), ("ann", "some"))]
    with serving(tmp_path, roles=roles, users=users) as client:
        started(client, "roots", auth="root:pw")
        own = started(client, "own", auth="ann:pw")
        assert [row["id"] for row in client.get(LIST, auth="ann:pw").json] == [own]
        assert len(client.get(LIST, auth="root:pw").json) == 2


def test_one_that_was_ended_says_so(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        id_ = started(client, "one")
    with connected(client.engine.database.directory / STATE) as database:
        database.execute("UPDATE open_transaction SET used = 0")
    with serving(tmp_path, transaction_ttl=60.0) as client:
        assert client.get(LIST).json == []
        for method, where, status in (
            ("GET", f"{TRANSACTIONS}/{id_}", 404),
            ("PUT", f"{TRANSACTIONS}/{id_}", 404),
            ("GET", f"{CONFIG}/backends?transaction_id={id_}", 400),
            ("DELETE", f"{CONFIG}/backends/app?transaction_id={id_}", 400),
        ):
            got = client(method, where)
            assert (got.status, "since it had not been used for 60 s (transaction_ttl)" in got.message) == (status, True), got.body
