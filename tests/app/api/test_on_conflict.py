"""`on_conflict=merge`: what an old version and an outdated transaction come to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.client import CONFIG, Client, Got, serving
from tests.app.handlers.sidecar.test_history import entered

TRANSACTIONS = "/v3/services/haproxy/transactions"
SERVER = f"{CONFIG}/backends/app/servers/app1"
ONE = {"name": "app1", "address": "127.0.0.1", "port": 8081}


@pytest.fixture(name="client")
def recorded_client(client: Client) -> Iterator[Client]:
    with entered(client):
        yield client


def weigh(client: Client, weight: int, query: str) -> Got:
    return client.put(f"{SERVER}?{query}", ONE | {"weight": weight})


def started(client: Client, weight: int) -> str:
    id_ = str(client.post(f"{TRANSACTIONS}?version=1").json["id"])
    assert weigh(client, weight, f"transaction_id={id_}").status == 202
    return id_


def test_a_write_on_an_old_version_is_merged(client: Client) -> None:
    assert weigh(client, 7, "version=1").status == 202
    assert client.post(f"{CONFIG}/backends?version=1&on_conflict=merge", {"name": "new"}).status == 202
    assert client.put(f"{SERVER}?version=1&on_conflict=merge", ONE | {"maxconn": 9}).status == 202
    assert client.get(SERVER).json == ONE | {"weight": 7, "maxconn": 9}
    assert (client.get(f"{CONFIG}/version").json, client.get(f"{CONFIG}/backends/new").status) == (4, 200)


def test_a_collision_shows_both_sides_and_who(client: Client) -> None:
    assert weigh(client, 7, "version=1").status == 202
    before = client.file.read_bytes()
    refused = weigh(client, 9, "version=1&on_conflict=merge")
    assert (refused.status, client.file.read_bytes()) == (409, before)
    (conflict,) = refused.json["conflicts"]
    assert conflict.pop("time").endswith("Z")
    assert conflict == {
        "object": "backend/app/server/app1",
        "member": "weight",
        "theirs": 7,
        "mine": 9,
        "author": "admin",
        "entry": "1",
        "version": 2,
    }
    assert refused.message == (
        "version mismatch: weight of backend/app/server/app1 was also changed by a later commit, by admin; nothing was changed. "
        "Read the objects in conflict again, and send the change with ?version=2"
    )


def test_a_refusal_names_the_calls_that_go_on(client: Client) -> None:
    id_ = started(client, 7)
    assert weigh(client, 9, "version=1").status == 202
    late = client.put(f"{TRANSACTIONS}/{id_}")
    assert (late.status, f"PUT {TRANSACTIONS}/{id_}?on_conflict=merge" in late.json["remedy"]) == (409, True)
    # To the letter what the Data Plane API says, which clients compare.
    assert late.message == "version mismatch: version mismatch, transaction version: 1, configured version: 2"
    late = client.put(f"{TRANSACTIONS}/{id_}")
    assert (late.status, f"PUT {TRANSACTIONS}/{id_}?on_conflict=merge" in late.message) == (406, True)
    assert f"POST /v3/sidecar/plan?transaction_id={id_}" in late.message
    stale = weigh(client, 1, "version=1")
    assert stale.message == "version mismatch: version in configuration file is 2, given version is 1"
    assert (stale.status, "?version=2" in stale.json["remedy"], "on_conflict=merge" in stale.json["remedy"]) == (409, True, True)


def test_an_outdated_transaction_is_merged(client: Client) -> None:
    id_ = started(client, 7)
    assert client.post(f"{CONFIG}/backends?version=1", {"name": "new"}).status == 202
    assert client.put(f"{TRANSACTIONS}/{id_}").status == 409
    assert client.get(f"{TRANSACTIONS}/{id_}").json["status"] == "outdated"
    done = client.put(f"{TRANSACTIONS}/{id_}?on_conflict=merge")
    assert (done.status, done.json["status"], done.headers["Configuration-Version"]) == (202, "success", "3")
    assert (client.get(SERVER).json["weight"], client.get(f"{CONFIG}/backends/new").status) == (7, 200)
    assert client.get(TRANSACTIONS).json == []


def test_two_writers_who_each_add_a_rule_are_both_served(client: Client) -> None:
    rules = f"{CONFIG}/backends/app/http_request_rules"

    def rule(number: int) -> dict[str, str]:
        return {"type": "set-header", "hdr_name": "X-By", "hdr_format": str(number)}

    id_ = str(client.post(f"{TRANSACTIONS}?version=1").json["id"])
    assert client.post(f"{rules}/0?transaction_id={id_}", rule(1)).status == 202
    assert client.post(f"{rules}/1?transaction_id={id_}", rule(2)).status == 202
    assert client.post(f"{rules}/0?version=1", rule(3)).status == 202
    assert client.post(f"{rules}/0?version=1&on_conflict=merge", rule(4)).status == 202
    assert client.put(f"{TRANSACTIONS}/{id_}?on_conflict=merge").status == 202
    assert client.get(rules).json == [rule(number) for number in (3, 4, 1, 2)]
    refused = client.put(f"{rules}?version=1&on_conflict=merge", [rule(5)])
    assert (refused.status, [(each["object"], each["member"]) for each in refused.json["conflicts"]]) == (
        409,
        [("backend/app", "http_request_rule_list")],
    )


def test_a_transaction_that_collides_stays_as_it_was(client: Client) -> None:
    id_ = started(client, 7)
    assert weigh(client, 9, "version=1").status == 202
    for _ in range(2):
        refused = client.put(f"{TRANSACTIONS}/{id_}?on_conflict=merge")
        assert (refused.status, refused.json["conflicts"][0]["mine"], client.get(SERVER).json["weight"]) == (409, 7, 9)


def test_the_plan_of_an_outdated_transaction(client: Client) -> None:
    id_ = started(client, 7)
    assert client.post(f"{CONFIG}/backends?version=1", {"name": "new"}).status == 202
    assert client.put(f"{TRANSACTIONS}/{id_}").status == 409
    plan = client.post(f"/v3/sidecar/plan?transaction_id={id_}").json
    assert (plan["effects"], "conflict" in plan) == ([{"object": "backend/app/server/app1", "member": "weight", "new": 7}], False)
    assert weigh(client, 9, "version=2").status == 202
    plan = client.post(f"/v3/sidecar/plan?transaction_id={id_}").json
    assert plan["effects"] == [{"object": "backend/app/server/app1", "member": "weight", "new": 7}]
    assert [(each["theirs"], each["mine"], each["author"]) for each in plan["conflicts"]] == [(9, 7, "admin")]
    assert "+  server app1 127.0.0.1:8081 weight 7\n" in plan["diff"]


def test_a_pushed_text_is_merged(client: Client) -> None:
    text = client.get(f"{CONFIG}/raw").body
    assert weigh(client, 7, "version=1").status == 202
    assert (
        client.post(f"{CONFIG}/raw?version=1&on_conflict=merge", text + b"# ours\n", headers={"Content-Type": "text/plain"}).status == 202
    )
    assert b"weight 7" in client.file.read_bytes() and client.file.read_bytes().endswith(b"# ours\n")


def test_a_text_that_is_gone(client: Client) -> None:
    client.file.write_text(client.file.read_text().replace("maxconn 1000", "maxconn 999"))
    client.post(f"{CONFIG}/raw?skip_version=true", b"# _version=9\n" + client.file.read_bytes(), headers={"Content-Type": "text/plain"})
    gone = weigh(client, 9, "version=4&on_conflict=merge")
    assert (gone.status, "neither the history nor a backup still has its text" in gone.message) == (409, True)
    ahead = weigh(client, 9, "version=99&on_conflict=merge")
    assert (ahead.status, "given version is 99" in ahead.message) == (409, True)


@pytest.mark.parametrize(
    ("headers", "query", "words"),
    [({"If-Match": "*"}, "version=1", "send one of the two"), ({}, "transaction_id=ID", "send it with the PUT that commits it")],
)
def test_where_it_has_no_meaning(client: Client, headers: dict[str, str], query: str, words: str) -> None:
    query = query.replace("ID", started(client, 2))
    refused = client.put(f"{SERVER}?{query}&on_conflict=merge", ONE, headers=headers)
    assert (refused.status, words in refused.message) == (400, True)


def test_the_setting_and_the_call(tmp_path: Path) -> None:
    with serving(tmp_path, on_conflict="merge") as plain, entered(plain) as client:
        assert client.post(f"{CONFIG}/backends?version=1", {"name": "new"}).status == 202
        assert weigh(client, 7, "version=1&on_conflict=refuse").status == 409
        assert weigh(client, 7, "version=1").status == 202


def test_without_a_right_to_what_came_between_its_value_is_not_shown(tmp_path: Path) -> None:
    roles = {"weigher": [{"may": ["change"], "objects": "backend/app/**", "reload": "any"}]}
    users = [{"name": name, "password": "pw", "insecure": True, "role": role} for name, role in (("root", "admin"), ("ann", "weigher"))]
    with (
        serving(tmp_path, roles=roles, users=users) as plain,
        entered(plain) as client,
    ):
        first = client.put(f"{SERVER}?version=1", ONE | {"weight": 7}, auth="root:pw")
        assert first.status == 202, first.body
        refused = client.put(f"{SERVER}?version=1&on_conflict=merge", ONE | {"weight": 9}, auth="ann:pw")
        (conflict,) = refused.json["conflicts"]
        assert (refused.status, "theirs" in conflict, conflict["mine"]) == (409, False, 9)
