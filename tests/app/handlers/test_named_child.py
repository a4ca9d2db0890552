"""Children with a name over HTTP."""

from tests.app.client import CONFIG, Client

SERVERS = f"{CONFIG}/backends/app/servers"
SERVER = {"name": "s/1", "address": "127.0.0.1", "port": 81}


def test_a_life(client: Client) -> None:
    assert client.post(f"{SERVERS}?version=1", SERVER).json == SERVER
    assert client.get(f"{SERVERS}/s%2F1").json == SERVER
    taken = client.post(f"{SERVERS}?version=2", SERVER)
    assert (taken.status, taken.message) == (409, "object already exists: server s/1 already exists in app backend")
    renamed = SERVER | {"name": "s2", "weight": 0}
    assert client.put(f"{SERVERS}/s%2F1?version=2", renamed).json == renamed
    assert [each["name"] for each in client.get(SERVERS).json] == ["app1", "s2"]
    assert client.delete(f"{SERVERS}/s2?version=3").status == 202
    missing = client.get(f"{SERVERS}/s2")
    assert (missing.status, missing.message) == (404, "missing object: server s2 does not exist in app backend")


def test_other_parents(client: Client) -> None:
    assert [each["name"] for each in client.get(f"{CONFIG}/frontends/web/binds").json] == ["main"]
    got = client.post(f"{CONFIG}/frontends/none/binds?version=1", {"name": "b", "address": "*", "port": 1})
    assert (got.status, got.message) == (400, "missing parent: frontend none does not exist")


def test_a_user_of_no_userlist_is_refused_before_its_body_and_version(client: Client) -> None:
    got = client.post(f"{CONFIG}/users?userlist=none&version=99", {})
    assert (got.status, got.message) == (400, "userlist not found")
    client.post(f"{CONFIG}/userlists?version=1", {"name": "people"})
    assert client.post(f"{CONFIG}/users?userlist=people&version=99", {}).status == 422
