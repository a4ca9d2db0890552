"""Children with a name over HTTP."""

from pathlib import Path

from tests.app.client import CONFIG, CONFIGURATION, Client, settings

SERVERS = f"{CONFIG}/backends/app/servers"
SERVER = {"name": "s/1", "address": "127.0.0.1", "port": 81}


def test_a_life(client: Client) -> None:
    assert client.post(f"{SERVERS}?version=1", SERVER).json == SERVER
    assert client.get(f"{SERVERS}/s%2F1").json == SERVER
    taken = client.post(f"{SERVERS}?version=2", SERVER)
    assert (taken.status, taken.message) == (409, "object already exists: server s/1 already exists in app backend")
    changed = SERVER | {"weight": 0}
    assert client.put(f"{SERVERS}/s%2F1?version=2", changed).json == changed
    assert [each["name"] for each in client.get(SERVERS).json] == ["app1", "s/1"]
    assert client.delete(f"{SERVERS}/s%2F1?version=3").status == 202
    missing = client.get(f"{SERVERS}/s%2F1")
    assert (missing.status, missing.message) == (404, "missing object: server s/1 does not exist in app backend")


def test_a_zero_that_stands_is_sent_back(tmp_path: Path) -> None:
    """Elsewhere an optional 0 is an absent member."""
    line, web = "bind 127.0.0.1:8080 name main nice 0\n", f"{CONFIG}/frontends/web"
    with Client(settings(tmp_path), CONFIGURATION.replace("bind 127.0.0.1:8080 name main\n", line)) as client:
        shown = client.get(f"{web}/binds/main").json
        assert shown["nice"] == 0
        assert client.put(f"{web}/binds/main?version=1", shown).json == shown
        assert line in client.file.read_text()
        client.put(f"{web}?full_section=true&version=2", client.get(f"{web}?full_section=true").json)
        assert line in client.file.read_text()
        del shown["nice"]
        client.put(f"{web}/binds/main?version=3", shown)
        assert line.replace(" nice 0", "") in client.file.read_text()


def test_other_parents(client: Client) -> None:
    assert [each["name"] for each in client.get(f"{CONFIG}/frontends/web/binds").json] == ["main"]
    got = client.post(f"{CONFIG}/frontends/none/binds?version=1", {"name": "b", "address": "*", "port": 1})
    assert (got.status, got.message) == (400, "missing parent: frontend none does not exist")


def test_a_user_of_no_userlist_is_refused_before_its_body_and_version(client: Client) -> None:
    got = client.post(f"{CONFIG}/users?userlist=none&version=99", {})
    assert (got.status, got.message) == (400, "userlist not found")
    client.post(f"{CONFIG}/userlists?version=1", {"name": "people"})
    assert client.post(f"{CONFIG}/users?userlist=people&version=99", {}).status == 422
