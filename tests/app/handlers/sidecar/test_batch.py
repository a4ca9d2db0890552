"""`POST /v3/sidecar/batch`: several calls as one commit."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.app.client import CONFIG, Client, Got, serving
from tests.app.handlers.sidecar.test_history import entered

BATCH, TRANSACTIONS = "/v3/sidecar/batch", "/v3/services/haproxy/transactions"
Call = dict[str, Any]


def call(method: str, path: str, body: Any = None) -> Call:
    return {"method": method, "path": f"{CONFIG}/{path}"} | ({} if body is None else {"body": body})


def server(name: str, **members: Any) -> Call:
    return call("POST", "backends/new/servers", {"name": name, "address": "127.0.0.1", "port": 80} | members)


NEW = call("POST", "backends", {"name": "new"})


def send(client: Client, *calls: Call, query: str = "", **more: Any) -> Got:
    got: Got = client.post(f"{BATCH}{query}", list(calls), **more)
    return got


def test_several_calls_are_one_commit(client: Client) -> None:
    rule = {"type": "set-header", "hdr_name": "X-A", "hdr_format": "a"}
    calls = [NEW, server("s1"), call("POST", "frontends/web/http_request_rules/0", rule), call("DELETE", "backends/app/servers/app1")]
    done = send(client, *calls)
    assert (done.status, done.json["version"], done.headers["Configuration-Version"]) == (202, 2, "2")
    assert done.json["reload"] is True and done.headers["Reload-Id"]
    bodies = [{"from": "base", "name": "new"}, {"name": "s1", "address": "127.0.0.1", "port": 80}, rule, None]
    assert [(each["status"], each.get("body")) for each in done.json["results"]] == [(202, body) for body in bodies]
    assert client.get(f"{CONFIG}/backends/new/servers/s1").status == 200
    assert client.get(f"{CONFIG}/backends/app/servers").json == []
    assert client.get(TRANSACTIONS).json == []


def test_the_first_refusal_is_that_of_all_with_its_index(client: Client) -> None:
    before = client.file.read_bytes()
    refused = send(client, NEW, server("s1"), server("s1"), server("s2", port="no"))
    assert (refused.status, refused.json["index"], client.file.read_bytes()) == (409, 2, before)
    assert refused.message.startswith(f"call 2 (POST {CONFIG}/backends/new/servers): object already exists: ")
    wrong = send(client, NEW, server("s2", port="no"))
    assert (wrong.status, wrong.json["index"], client.file.read_bytes(), client.get(TRANSACTIONS).json) == (400, 1, before, [])


def test_whether_one_with_a_stored_file_may_be_made(client: Client) -> None:
    stored = {"method": "POST", "path": "/v3/services/haproxy/storage/maps", "file": "hosts.map", "body": "a.example app\n"}
    asked = client.post("/v3/sidecar/access/check", {"method": "POST", "path": BATCH, "body": [NEW, stored]})
    assert asked.json == {"allowed": True, "reload": True}
    assert client.get("/v3/services/haproxy/storage/maps").json == []


def test_what_haproxy_refuses_changes_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, validate_cmd="false") as client:
        before = client.file.read_bytes()
        assert (send(client, NEW).status, client.file.read_bytes()) == (400, before)


@pytest.mark.parametrize(
    ("wrong", "status", "words"),
    [
        (call("GET", "backends"), 400, "a batch accepts only writes"),
        (call("POST", "backend", {"name": "x"}), 404, "backends"),
        (call("DELETE", "backends"), 405, "not allowed"),
        (call("POST", "raw", "global\n"), 400, "send this call separately"),
        ({"method": "POST", "path": "/v3/services/haproxy/transactions?version=1"}, 400, "send this call separately"),
        ({"method": "POST", "path": BATCH, "body": []}, 400, "send this call separately"),
        ({"method": "POST", "path": "/v3/services/haproxy/spoe/spoe_files/a/scopes"}, 400, "send this call separately"),
        (call("POST", "backends?version=1", {"name": "x"}), 400, "version in query belongs to the batch"),
        (call("POST", "backends?transaction_id=1", {"name": "x"}), 400, "transaction_id in query belongs to the batch"),
        (call("POST", "backends?force_reload=true", {"name": "x"}), 400, "force_reload in query belongs to the batch"),
        (call("POST", "backends"), 400, "required"),
    ],
)
def test_what_is_no_call_of_a_batch(shared_client: Client, wrong: Call, status: int, words: str) -> None:
    before = shared_client.file.read_bytes()
    refused = send(shared_client, NEW, wrong)
    assert (refused.status, words in refused.message, refused.json["index"]) == (status, True, 1), refused.message
    assert shared_client.file.read_bytes() == before


@pytest.mark.parametrize(
    ("body", "status"), [([], 422), ({}, 422), ([1], 400), ([{"method": "POST"}], 422), ([{"method": "X", "path": "/"}], 422)]
)
def test_what_is_no_batch(shared_client: Client, body: Any, status: int) -> None:
    assert shared_client.post(BATCH, body).status == status


def test_a_batch_has_so_many_calls_at_most(client: Client) -> None:
    refused = send(client, *[{"method": "POST", "path": "/"}] * 10_001)
    assert (refused.status, "more than 10000" in refused.message) == (413, True)


def test_the_version_and_what_came_between(client: Client) -> None:
    with entered(client):
        assert client.post(f"{CONFIG}/backends?version=1", {"name": "other"}).status == 202
        assert send(client, NEW, query="?version=1").status == 409
        planned = send(client, NEW, server("s1"), query="?version=1&on_conflict=merge&dry_run=true")
        assert planned.status == 200, planned.body
        assert [each["object"] for each in planned.json["effects"]] == ["backend/new"] and "-backend other" not in planned.json["diff"]
        merged = send(client, NEW, server("s1"), query="?version=1&on_conflict=merge")
        assert (merged.status, merged.json["version"]) == (202, 3), merged.body
        assert send(client, server("s2")).json["version"] == 4
    assert [each["name"] for each in client.get(f"{CONFIG}/backends").json] == ["app", "other", "new"]


def test_a_collision_with_what_came_between(client: Client) -> None:
    with entered(client):
        assert client.post(f"{CONFIG}/backends?version=1", {"name": "new", "mode": "tcp"}).status == 202
        for more in ("", "&dry_run=true"):
            refused = send(client, NEW, query=f"?version=1&on_conflict=merge{more}")
            assert (refused.status, [(each["object"], each["author"]) for each in refused.json["conflicts"]]) == (
                409,
                [("backend/new", "admin")],
            )


def test_a_plan_of_it(client: Client) -> None:
    before = client.file.read_bytes()
    planned = send(client, NEW, server("s1"), query="?dry_run=true")
    assert (planned.status, planned.json["reload"], client.file.read_bytes()) == (200, True, before)
    assert [each["object"] for each in planned.json["effects"]] == ["backend/new"]
    assert len(planned.json["results"]) == 2 and "+  server s1 127.0.0.1:80" in planned.json["diff"]


def test_without_a_difference_nothing_is_written(client: Client) -> None:
    before = client.file.read_bytes()
    same = send(client, call("PUT", "backends/app/servers/app1", {"name": "app1", "address": "127.0.0.1", "port": 8081}))
    assert (same.status, [each["status"] for each in same.json["results"]], client.file.read_bytes()) == (200, [200], before)


def test_strict_holds_for_all_calls(client: Client) -> None:
    loose = send(client, NEW, server("s1", wieght=1))
    assert (loose.status, loose.json["results"][1]["headers"]) == (202, {"X-Ignored-Members": "wieght (weight?)"})
    strict = send(client, server("s2"), server("s3", wieght=1), query="?strict=true")
    assert (strict.status, strict.json["index"], "wieght" in strict.message) == (422, 1, True)
    assert send(client, server("s4"), query="?strict=true&bogus=1").status == 422
    assert client.put("/v3/sidecar/apply?owner=a&strict=true&bogus=1", {"backends": []}).status == 422


def test_a_batch_waits_for_its_confirmation_as_one(client: Client) -> None:
    with entered(client):
        done = send(client, NEW, server("s1"), query="?confirm=60s")
        assert (done.status, "Location" in done.headers) == (200, True)
        (entry,) = client.get("/v3/sidecar/history").json
        assert [effect["object"] for effect in client.get(f"/v3/sidecar/history/{entry['id']}").json["effects"]] == ["backend/new"]
        (waiting,) = client.get("/v3/sidecar/confirmations").json
        assert waiting["status"] == "pending"


def test_a_large_batch_is_read_as_a_whole_list(client: Client) -> None:
    calls = [NEW, *[server(f"server-{number}", cookie="c" * 11_000) for number in range(100)]]
    assert len(json.dumps(calls)) > 1_000_000
    done = send(client, *calls)
    assert (done.status, done.json["version"], len(client.get(f"{CONFIG}/backends/new/servers").json)) == (202, 2, 100)


def test_each_call_needs_its_right_and_none_reads_more(tmp_path: Path) -> None:
    roles = {
        "some": [{"objects": "backend/new/**", "may": ["create", "change"], "reload": "any"}, {"objects": "backend/new", "may": ["create"]}]
    }
    users = [{"name": name, "password": "pw", "insecure": True, "role": role} for name, role in (("root", "admin"), ("ann", "some"))]
    with serving(tmp_path, roles=roles, users=users) as client:
        before = client.file.read_bytes()
        refused = send(client, NEW, server("s1"), call("DELETE", "backends/app"), NEW, auth="ann:pw")
        assert (refused.status, refused.json["index"], client.file.read_bytes()) == (403, 2, before)
        # What is changed and changed back in one batch was not allowed either.
        there_and_back = [call("PUT", "backends/app", {"name": "app", "mode": mode}) for mode in ("tcp", "http")]
        refused = send(client, *there_and_back, auth="ann:pw")
        assert (refused.status, refused.json["index"], client.file.read_bytes()) == (403, 0, before)


def random_call(chance: random.Random) -> Call:
    name = chance.choice(["app", "new", "newer"])
    member = {"name": chance.choice(["s1", "s2", "app1"]), "address": "127.0.0.1", "weight": chance.randint(1, 9)}
    rule = {"type": "set-header", "hdr_name": "X-A", "hdr_format": str(chance.randint(1, 99))}
    return chance.choice(
        [
            call("POST", "backends?full_section=true", {"name": name, "from": "base", "servers": {"s9": {"name": "s9", "address": "::1"}}}),
            call("PUT", f"backends/{name}", {"name": name, "mode": "http", "retries": chance.randint(1, 9)}),
            call("DELETE", f"backends/{name}"),
            call("POST", f"backends/{name}/servers", member),
            call("PUT", f"backends/{name}/servers/{member['name']}", member),
            call("DELETE", f"backends/{name}/servers/{member['name']}"),
            call("POST", f"frontends/web/http_request_rules/{chance.randint(0, 2)}", rule),
            call("PUT", f"backends/{name}/http_request_rules", [rule]),
        ]
    )


def single(client: Client, id_: str, made: Call) -> Got:
    separator = "&" if "?" in made["path"] else "?"
    got: Got = client(made["method"], f"{made['path']}{separator}transaction_id={id_}", made.get("body"))
    return got


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))])
def test_a_batch_is_the_same_calls_in_one_transaction_byte_for_byte(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    (tmp_path / "one").mkdir(), (tmp_path / "other").mkdir()
    with serving(tmp_path / "one") as one, serving(tmp_path / "other") as other:
        for _ in range(12):
            calls = [random_call(chance) for _ in range(chance.randint(1, 6))]
            version = one.get(f"{CONFIG}/version").json
            id_ = one.post(f"{TRANSACTIONS}?version={version}").json["id"]
            answers = []
            for made in calls:
                answers.append(single(one, id_, made))
                if answers[-1].status >= 400:
                    break
            got = send(other, *calls)
            if answers[-1].status >= 400:
                assert (got.status, got.json["index"]) == (answers[-1].status, len(answers) - 1)
                one.delete(f"{TRANSACTIONS}/{id_}")
            elif other.get(f"{CONFIG}/version").json == version:
                one.delete(f"{TRANSACTIONS}/{id_}")
            else:
                one.put(f"{TRANSACTIONS}/{id_}")
                assert [each.get("body") for each in got.json["results"]] == [each.json if each.body else None for each in answers]
            assert one.file.read_bytes() == other.file.read_bytes()


STORED = "/v3/services/haproxy/storage/maps"


def test_stored_files_are_part_of_a_batch(tmp_path: Path) -> None:
    with serving(tmp_path, haproxy_bin="true") as client:
        directory = Path(client.settings.maps_dir)
        come = {"method": "POST", "path": STORED, "file": "new.map", "body": "a 1\n"}
        change = {"method": "PUT", "path": f"{STORED}/new.map", "content_type": "text/plain", "body": "a 2\n"}
        done = send(client, NEW, come, change)
        assert (done.status, done.json["version"], [each["status"] for each in done.json["results"]]) == (202, 2, [202] * 3), done.json
        assert {path.name: path.read_bytes() for path in directory.iterdir()} == {"new.map": b"a 2\n"}
        refused = send(client, call("POST", "backends", {"name": "other"}), {"method": "DELETE", "path": f"{STORED}/new.map"}, come, come)
        assert (refused.status, refused.json["index"]) == (409, 3)
        assert {path.name: path.read_bytes() for path in directory.iterdir()} == {"new.map": b"a 2\n"}
        assert client.get(f"{CONFIG}/version").json == 2
