"""`/v3/sidecar/history`: shapes of answers; what is kept is in tests/native/history."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dataplaneapi.features.confirmations.feature import ConfirmationsFeature
from dataplaneapi.features.events.feature import EventsFeature
from dataplaneapi.settings.roles import read_roles
from tests.app.client import CONFIG, Client, serving
from tests.app.handlers.storage.test_files import upload as stored
from tests.app.spoe import FILES, upload
from tests.tls.pems import made

HISTORY = "/v3/sidecar/history"
USERS = "\nuserlist u\n  user ann insecure-password hunter2\n"


@contextmanager
def entered(client: Client) -> Iterator[Client]:
    """Changes are entered, and wait for their confirmation where they are to."""
    services = client.app.services
    rooms = services.history, EventsFeature.of(services).sources, ConfirmationsFeature.of(services).confirmations
    for room in rooms:
        client.runner.run(room.__aenter__())
    try:
        yield client
    finally:
        for room in reversed(rooms):
            client.runner.run(room.__aexit__(None, None, None))


@pytest.fixture(name="client")
def recorded_client(client: Client) -> Iterator[Client]:
    with entered(client):
        yield client


def test_an_entry(tmp_path: Path) -> None:
    """While its reload is due."""
    with serving(tmp_path, reload_delay=3600) as client, entered(client):
        _shows_an_entry(client)


def _shows_an_entry(client: Client) -> None:
    assert client.get(HISTORY).json == []
    server = f"{CONFIG}/backends/app/servers/app1?version=1"
    body, message = {"name": "app1", "address": "127.0.0.1", "port": 8081, "weight": 7}, {"X-Change-Message": " lighter\ttoday "}
    answer = client.put(server, body, headers=message)
    assert answer.status == 202
    (entry,) = client.get(HISTORY).json
    assert entry.pop("time").endswith("Z") and entry.pop("request_id") and entry.pop("address")
    assert entry == {
        "id": "1",
        "version": 2,
        "kind": "configuration",
        "outcome": "scheduled",
        "reload_id": answer.headers["Reload-Id"],
        "author": "admin",
        "message": "lighter today",
        "objects": ["backend/app", "backend/app/server/app1"],
        "summary": "weight set to 7 on backend/app/server/app1",
    }
    shown = client.get(f"{HISTORY}/1").json
    assert shown["effects"] == [{"object": "backend/app/server/app1", "member": "weight", "new": 7}]
    assert "+  server app1 127.0.0.1:8081 weight 7\n" in shown["diff"] and "(before)" in shown["diff"]


def test_finding(client: Client) -> None:
    for number, name in enumerate(("one", "two", "three"), 1):
        assert client.post(f"{CONFIG}/backends?version={number}", {"name": name}).status == 202
    assert [entry["id"] for entry in client.get(HISTORY).json] == ["3", "2", "1"]
    first = client.get(f"{HISTORY}?limit=2")
    assert [entry["id"] for entry in first.json] == ["3", "2"] and "before=2" in first.headers["Link"]
    assert [entry["id"] for entry in client.get(f"{HISTORY}?limit=2&before=2").json] == ["1"]
    assert [entry["id"] for entry in client.get(f"{HISTORY}?object=backend/t*").json] == ["3", "2"]
    assert client.get(f"{HISTORY}?author=nobody").json == [] and client.get(f"{HISTORY}?until=2020-01-01T00:00:00Z").json == []
    assert len(client.get(f"{HISTORY}?since=2020-01-01").json) == 3
    wrong = client.get(f"{HISTORY}?since=yesterday")
    assert wrong.status == 400 and "since in query is not a time: write RFC 3339" in wrong.message
    assert (
        client.get(f"{HISTORY}/9").status == client.get(f"{HISTORY}/9/raw").status == client.post(f"{HISTORY}/9/revert", None).status == 404
    )


def test_queries_that_find_nothing(client: Client) -> None:
    """A byte that is no UTF-8, and numbers beyond those of entries."""
    for query, status in (
        ("object=backend/%FF", 200),
        ("author=%ED%A0%80", 200),
        ("before=9" + "0" * 20, 400),
        ("before=9" + "0" * 17, 200),
    ):
        assert client.get(f"{HISTORY}?{query}").status == status


@pytest.mark.parametrize(
    "place",
    [HISTORY, f"{HISTORY}/1/diff", "/v3/sidecar/blame", "/v3/sidecar/events", "/v3/sidecar/references"],
    ids=lambda place: place[12:],
)
@pytest.mark.parametrize("name", ["%FF", "backend%2F", "Backend/app", "backend//server/a", "backend/50%25"])
def test_a_name_that_no_object_has(shared_client: Client, place: str, name: str) -> None:
    answer = shared_client.get(f"{place}?object={name}")
    assert answer.status == 400
    assert "object in query: " in answer.message and "names no object" in answer.message, answer.message


def test_a_name_that_encodes_more_than_it_has_to(client: Client) -> None:
    assert client.post(f"{CONFIG}/backends?version=1", {"name": "one"}).status == 202
    assert [entry["id"] for entry in client.get(f"{HISTORY}?object=backend/%256fne").json] == ["1"]


STORAGE = "/v3/services/haproxy/storage"
TEXT_BODY = {"Content-Type": "text/plain"}


def test_what_became_of_files(client: Client) -> None:
    """The verb, the object and what changed in it; a limited caller sees what it may read of that, and nobody a secret."""
    pem, other = made("site.example"), made("site.example", 9)
    calls = [
        (lambda: stored(client, "maps", "m.map", b"a b\nc d\n"), "create map/m.map"),
        (lambda: client.put(f"{STORAGE}/maps/m.map", b"a b\ne f\ng h\n", headers=TEXT_BODY), "map/m.map: 2 entries added, 1 removed"),
        (lambda: stored(client, "general", "e.http"), "create general/e.http"),
        (lambda: stored(client, "ssl_certificates", "site.pem", pem.pem.encode()), "create certificate/site.pem"),
        (
            lambda: client.put(f"{STORAGE}/ssl_certificates/site.pem", other.pem.encode(), headers=TEXT_BODY),
            "replace certificate/site.pem",
        ),
        (lambda: client.delete(f"{STORAGE}/maps/m.map"), "delete map/m.map"),
        (lambda: upload(client, "s.cfg", "# _version=1\n[one]\nspoe-message m\n  args ip=src"), "create spoe/s.cfg"),
        (
            lambda: client.post(f"{FILES}/s.cfg/scopes/%5Bone%5D/groups?version=1", {"name": "g", "messages": "m"}),
            "spoe/s.cfg: group g of [one] added",
        ),
        (lambda: client.delete(f"{FILES}/s.cfg/scopes/%5Bone%5D/messages/m?version=2"), "spoe/s.cfg: message m of [one] removed"),
        (lambda: client.delete(f"{FILES}/s.cfg"), "delete spoe/s.cfg"),
    ]
    for call, said in calls:
        got = call()
        assert got.status < 300, got
        assert client.get(HISTORY).json[0]["summary"] == said
    rules = [{"objects": "map/*", "may": ["read"]}, {"objects": "backend/none", "may": ["read"]}]
    client.app.services.roles = read_roles({"some": rules}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])
    assert [entry.get("summary") for entry in client.get(HISTORY).json] == [said for _, said in reversed(calls) if "map/" in said]


def test_what_was_refused(client: Client) -> None:
    assert client.post(f"{CONFIG}/backends?version=9", {"name": "one"}).status == 409
    client.post(f"{CONFIG}/backends?version=1", {"name": "one"})
    assert client.post(f"{CONFIG}/backends?version=2", {"name": "one"}).status == 409
    refused, before = client.get(f"{HISTORY}?refused=true").json
    assert refused["outcome"] == "refused" and "already exists" in refused["reason"] and refused["author"] == "admin"
    assert "given version is 9" in before["reason"] and refused["objects"] == before["objects"] == ["backend/one"]


def test_refusals_before_any_commit(client: Client) -> None:
    """Each once, whether a handler refuses, or the check of the body, or that of the path; refused reads are none."""
    server = f"{CONFIG}/backends/app/servers/app1?version=1"
    assert client.put(server, {"name": "app1", "address": "127.0.0.1", "check": "maybe"}).status == 422
    assert client.put(server, b"{").status == 415
    assert client.delete(f"{CONFIG}/backends/none?version=1").status == 404
    assert client.post("/v3/sidecar/history/9/revert", None).status == 404
    assert client.get(f"{CONFIG}/backends/none").status == 404 and client.get("/v3/nowhere").status == 404
    assert client.post("/v3/sidecar/plan", {}).status == 415
    assert client.put(server, {"name": "app1", "address": "127.0.0.1"}, auth="admin:wrong").status == 401
    refused = [entry["objects"][0] for entry in client.get(f"{HISTORY}?refused=true").json]
    assert refused == ["history/9", "backend/none", "backend/app/server/app1", "backend/app/server/app1"]


def test_taking_back(client: Client) -> None:
    client.post(f"{CONFIG}/backends?version=1", {"name": "one"})
    client.post(f"{CONFIG}/backends?version=2", {"name": "two"})
    answer = client.post(f"{HISTORY}/1/revert", None)
    assert answer.status == 202 and answer.headers["Reload-Id"]
    assert answer.json["version"] == 4 and answer.json["changes"] == 1 and answer.json["entry"]["cause"] == "revert/1"
    assert client.get(f"{CONFIG}/backends/one").status == 404 and client.get(f"{CONFIG}/backends/two").status == 200
    again = client.post(f"{HISTORY}/1/revert", None)
    assert again.status == 200 and again.json == {"version": 4, "changes": 0}
    assert client.post(f"{HISTORY}/1/restore", None).json["entry"]["cause"] == "restore/1"
    assert client.get(f"{CONFIG}/backends/one").status == 200 and client.get(f"{CONFIG}/backends/two").status == 404
    blamed = client.get("/v3/sidecar/blame?object=backend/one").json
    assert blamed[0]["text"] == "backend one" and blamed[0]["entry"] == "4" and blamed[0]["author"] == "admin"


def test_secrets_of_a_collision(client: Client) -> None:
    """In the answer, and among what was refused."""
    text = client.file.read_text() + "\nuserlist u\n  user a insecure-password hunter1\n"
    assert client.post(f"{CONFIG}/raw?version=1", text.encode(), headers={"Content-Type": "text/plain"}).status == 202
    for number in (2, 3):
        body = {"username": "a", "password": f"hunter{number}", "secure_password": False}
        answer = client.put(f"{CONFIG}/users/a?userlist=u&version={number}", body)
        assert answer.status < 300, answer.body
    collision = client.post(f"{HISTORY}/2/revert", None)
    assert collision.status == 409 and "password of userlist/u/user/a is" in collision.message and "<masked>" in collision.message
    assert (collision.json["conflicts"][0]["member"], collision.json["conflicts"][0]["entry"]) == ("password", "3")
    assert b"hunter" not in collision.body + client.get(f"{HISTORY}?refused=true").body


def test_secrets(client: Client) -> None:
    text = client.file.read_text() + "\nuserlist u\n  user a insecure-password hunter2\n"
    assert client.post(f"{CONFIG}/raw?version=1", text.encode(), headers={"Content-Type": "text/plain"}).status == 202
    body = {"username": "b", "password": "hunter3", "secure_password": False}
    assert client.post(f"{CONFIG}/users?userlist=u&version=2", body).status == 202
    shown = [client.get(f"{HISTORY}{rest}").body for rest in ("", "/1", "/2", "/1/raw", "/2/raw", "/2/diff", "/2/diff?from=1")]
    assert not any(b"hunter" in each for each in shown) and sum(b"<masked>" in each for each in shown) >= 5


def test_spoe_files(client: Client) -> None:
    spoe = "/v3/services/haproxy/spoe/spoe_files"
    form = b'--x\r\nContent-Disposition: form-data; name="file_upload"; filename="a.cfg"\r\n\r\n[one]\n\r\n--x--\r\n'
    assert client.post(spoe, form, headers={"Content-Type": "multipart/form-data; boundary=x"}).status == 201
    assert client.post(f"{spoe}/a.cfg/scopes?version=1", b'"[two]"', headers={"Content-Type": "application/json"}).status == 201
    scopes = lambda: client.get(f"{spoe}/a.cfg/scopes").json  # noqa: E731
    assert scopes() == ["[one]", "[two]"]
    (second, first) = client.get(f"{HISTORY}?object=spoe/a.cfg").json
    assert client.post(f"{HISTORY}/{second['id']}/revert", None).json["changes"] == 1 and scopes() == ["[one]"]
    assert client.post(f"{HISTORY}/{second['id']}/restore", None).json["changes"] == 1 and scopes() == ["[one]", "[two]"]
    assert client.post(f"{HISTORY}/{first['id']}/revert", None).status == 409, "it has another scope by now"


def test_what_is_masked_is_not_taken_back(client: Client) -> None:
    """Neither as a text nor as an object, a declaration or a plan, for every caller; what has no secret in it goes back as it is."""
    text = client.get(f"{CONFIG}/raw").body + USERS.encode()
    plain = {"Content-Type": "text/plain"}
    assert client.post(f"{CONFIG}/raw?skip_version=true", text, headers=plain).status == 202
    shown = client.get(f"{HISTORY}/1/raw").body
    assert b"hunter2" not in shown and b"_md5hash" not in shown
    effects = client.get(f"{HISTORY}/1").json["effects"]
    (section,) = [each["new"] for each in effects if each["object"] == "userlist/u"]
    (user,) = section["users"].values()
    one, apply = "/v3/services/haproxy/configuration/users/ann?userlist=u&version=2", "/v3/sidecar/apply?owner=a&dry_run=true"
    line = shown[: shown.index(b"<masked>")].count(b"\n") + 1
    calls = [
        (client.post(f"{CONFIG}/raw?skip_version=true", shown, headers=plain), f"line {line} "),
        (client.post("/v3/sidecar/plan", shown, headers=plain), f"line {line} "),
        (client.put(apply, shown[shown.index(b"userlist u") :], headers=plain), "line 2 "),
        (client.put(apply, {"userlists": [section]}), "userlists.0.users.ann.password "),
        (client.put(one, user), "password "),
        (client.post(one.replace("/ann", ""), {**user, "username": "bob"}), "password "),
    ]
    for answer, place in calls:
        assert answer.status == 422 and answer.message.startswith(f"{place}has <masked>") and "PATCH" in answer.message, answer.body
    assert b"masked" not in client.get(f"{CONFIG}/raw").body
    got = client.get(one.partition("&version")[0]).json
    assert (
        client.put(one.replace("version=2", "version=1"), got).status in (200, 202)
        and b"insecure-password hunter2" in client.get(f"{CONFIG}/raw").body
    )


def test_an_entry_of_what_a_role_has_no_rule_for(client: Client) -> None:
    path = f"{CONFIG}/backends/app/servers/app1?version=1"
    assert client.put(path, {**client.get(path.partition("?")[0]).json, "weight": 7}).status == 202
    roles = {"some": [{"objects": "backend/mine", "may": ["read", "create", "change", "delete"]}]}
    client.app.services.roles = read_roles(roles, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])
    calls = [(client.get, HISTORY + "/{}"), (lambda path: client.post(path, None), HISTORY + "/{}/revert")]
    for call, path in calls:
        there, missing = (call(path.format(entry)) for entry in (1, 9))
        assert (there.status, missing.status) == (403, 404) and b"weight" not in there.body, there.body
    assert b"weight 7" in client.app.services.engine.raw()


def test_who_may_take_a_change_back_is_told_why_it_cannot_be(client: Client) -> None:
    path = f"{CONFIG}/backends/app/servers/app1"
    roles = {"some": [{"objects": "backend/app", "may": ["read", "create", "change", "delete"]}]}
    client.app.services.roles = read_roles(roles, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])
    for version, weight in ((1, 7), (2, 9)):
        assert client.put(f"{path}?version={version}", {**client.get(path).json, "weight": weight}).status == 202
    refused = client.post(f"{HISTORY}/1/revert", None)
    assert refused.status == 409 and "weight" in refused.message and "9" in refused.message, refused.body
