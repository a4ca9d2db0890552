"""Maps of a running HAProxy over HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.app.client import Client, settings
from tests.app.handlers.sidecar.test_history import entered
from tests.haproxy.process import SMALL, HAProxy

MAPS = "/v3/services/haproxy/runtime/maps"
ENTRIES = f"{MAPS}/hosts.map/entries"
OWN = "# own\none 1\ntwo two words\n"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, haproxy_binary: str) -> Iterator[HAProxy]:
    directory = tmp_path_factory.mktemp("maps")
    (directory / "maps").mkdir()
    names = ["maps/hosts.map", "maps/ip.map", "other.map"]
    for name in names:
        (directory / name).write_text("192.0.2.1 x\n")
    kinds = ["str", "ip", "str"]
    rules = [f"  http-request set-var(txn.a) path,map_{kind}({directory}/{name})\n" for kind, name in zip(kinds, names, strict=True)]
    with HAProxy(directory, SMALL + "".join(rules), binary=haproxy_binary) as haproxy:
        yield haproxy


@pytest.fixture
def client(running: HAProxy) -> Iterator[Client]:
    """With OWN in the file and in the process."""
    given = settings(running.directory, master_runtime=str(running.master), master_worker_mode=True)
    with Client(given) as client:
        got = client.put("/v3/services/haproxy/storage/maps/hosts.map", OWN.encode(), headers={"Content-Type": "text/plain"})
        assert got.status == 200, got.body
        yield client


def file(client: Client) -> str:
    return (Path(client.settings.maps_dir) / "hosts.map").read_text()


def entries(client: Client) -> dict[str, str]:
    shown = client.get(ENTRIES).json
    assert all(each["id"].startswith("0x") for each in shown)
    return {each["key"]: each["value"] for each in shown}


def test_which_there_are(client: Client) -> None:
    shown = client.get(MAPS).json
    assert [each["storage_name"] for each in shown] == ["hosts.map", "ip.map"]
    every = client.get(f"{MAPS}?include_unmanaged=true").json
    assert [(Path(each["file"]).name, "storage_name" in each) for each in every] == [
        ("hosts.map", True),
        ("ip.map", True),
        ("other.map", False),
    ]
    one = client.get(f"{MAPS}/hosts").json
    assert one == {name: value for name, value in shown[0].items() if name != "storage_name"}


def test_entries(client: Client) -> None:
    assert entries(client) == {"one": "1", "two": "two words"}
    odd = {"key": "with/slash", "value": "a;b \\ c"}
    got = client.post(f"{ENTRIES}?force_sync=true", odd)
    assert (got.status, got.json) == (201, odd)
    got = client.get(f"{ENTRIES}/with%2Fslash")
    assert (got.status, got.json) == (200, odd)
    got = client.put(f"{ENTRIES}/one?force_sync=true", {"value": "1 2"})
    assert (got.status, got.json) == (200, {"key": "one", "value": "1 2"})
    assert client.delete(f"{ENTRIES}/two?force_sync=1").status == 204
    assert entries(client) == {"one": "1 2", "with/slash": "a;b \\ c"}
    assert file(client) == "# own\none 1 2\nwith/slash a;b \\ c\n"


# Signs that a path, a command or a line gives a meaning.
ODD = ['"quoted"', "a#b", "#first", "semi;colon", "a<b", "<<", "a&b", "{a}", "$x", "*", "a?b=c", "50%", "back\\slash", "..", ".", "ü"]


@pytest.mark.parametrize("key", ODD)
def test_what_is_shown_is_addressable(client: Client, key: str) -> None:
    assert client.post(ENTRIES, {"key": key, "value": "1"}).status == 201
    path = f"{ENTRIES}/{quote(key, safe='').replace('.', '%2E')}"
    assert client.get(path).json == {"key": key, "value": "1"}
    assert client.put(path, {"value": "2"}).json == {"key": key, "value": "2"}
    assert entries(client)[key] == "2"
    assert client.delete(path).status == 204
    assert key not in entries(client)
    if key.startswith("#"):
        return
    assert client.post(f"{ENTRIES}?force_sync=true", {"key": key, "value": "1"}).status == 201
    assert client.put(f"{path}?force_sync=true", {"value": "2"}).status == 200
    assert file(client) == f"{OWN}{key} 2\n"
    assert client.delete(f"{path}?force_sync=true").status == 204
    assert file(client) == OWN


def test_without_sync_the_file_stays(client: Client) -> None:
    assert client.post(ENTRIES, {"key": "x", "value": "y"}).status == 201
    assert client.put(f"{ENTRIES}/x", {"value": "z"}).status == 200
    assert client.delete(f"{ENTRIES}/one").status == 204
    assert (entries(client), file(client)) == ({"two": "two words", "x": "z"}, OWN)


def test_a_whole_map(client: Client) -> None:
    given = [{"key": "b", "value": "2 x"}, {"key": "a", "value": "1"}]
    got = client.put(f"{MAPS}/hosts.map?force_sync=true", given)
    assert (got.status, got.json) == (201, given)
    assert (entries(client), file(client)) == ({"b": "2 x", "a": "1"}, "# own\nb 2 x\na 1\n")
    assert client.put(f"{MAPS}/hosts.map", []).status == 201
    assert (entries(client), file(client)) == ({}, "# own\nb 2 x\na 1\n")
    assert client.delete(f"{MAPS}/hosts.map?force_sync=true").status == 204
    assert file(client) == "# own\n"
    many = [{"key": f"k{number}", "value": "v" * 20} for number in range(3000)]
    assert client.put(f"{MAPS}/hosts.map", many).status == 201
    assert len(entries(client)) == 3000


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("GET", "none.map", None, 404, "{maps}/none.map not found"),
        ("GET", "other.map", None, 404, "{maps}/other.map not found"),
        (
            "GET",
            "none.map/entries",
            None,
            404,
            "Please use #<id> or <file>. [show map {maps}/none.map] not found",
        ),
        ("GET", "hosts.map/entries/none", None, 404, "none not found"),
        ("PUT", "none.map", [{"key": "a", "value": "b"}], 404, "Unknown map identifier"),
        ("PUT", "hosts.map", [{"key": "a b", "value": "c"}], 400, "must not be empty or contain blanks"),
        ("PUT", "hosts.map", [{"key": "a", "value": "b\nc"}], 400, "0.value in body must not contain a line break"),
        ("PUT", "hosts.map", [{"key": "a", "value": "b" * 15_000}], 400, "the entry 'a' has more than 15000 bytes"),
        ("PUT", "hosts.map", {"key": "a"}, 422, ""),
        ("PUT", "ip.map", [{"key": "192.0.2.2", "value": "c"}, {"key": "x", "value": "y"}], 400, "'x' is not a valid IPv4 or IPv6 address"),
        ("DELETE", "none.map", None, 404, "Unknown map identifier"),
        ("DELETE", "none.map?force_sync=true", None, 404, "Unknown map identifier"),
        ("DELETE", "none.map?forceDelete=true", None, 404, "file none.map doesn't exist"),
        ("POST", "hosts.map/entries", {"key": "one", "value": "x"}, 409, "already exists"),
        ("POST", "hosts.map/entries?force_sync=true", {"key": "one", "value": "x"}, 409, "already exists"),
        (
            "PUT",
            "hosts.map",
            [{"key": "a"}],
            400,
            "must not be empty or contain line breaks, like that of 'a'",
        ),
        ("POST", "hosts.map/entries", {"key": "x"}, 400, "the value of the map entry 'x' must not be empty"),
        ("POST", "hosts.map/entries", {"key": "x", "value": ""}, 400, "the value of the map entry 'x' must not be empty"),
        ("POST", "hosts.map/entries?force_sync=1", {"key": "x", "value": ""}, 400, "the value of the map entry 'x' must not be empty"),
        ("POST", "hosts.map/entries", {"value": "x"}, 400, "the key of a map entry must not be empty"),
        ("POST", "hosts.map/entries?force_sync=1", {"key": "", "value": "x"}, 400, "the key of a map entry must not be empty"),
        ("POST", "hosts.map/entries", {"key": "x y", "value": "z"}, 400, "the key of a map must not contain blanks"),
        ("POST", "hosts.map/entries", {"key": "x", "value": "y\nshow info"}, 400, "value in body must not contain a line break"),
        ("POST", "hosts.map/entries?force_sync=1", {"key": "#x", "value": "y"}, 400, "cannot contain the key '#x'"),
        ("POST", "none.map/entries", {"key": "x", "value": "y"}, 404, "Unknown map identifier"),
        ("POST", "ip.map/entries?force_sync=true", {"key": "x", "value": "y"}, 400, "[3]  'x' is not a valid IPv4 or IPv6 address"),
        ("PUT", "hosts.map/entries/none", {"value": "x"}, 404, "[3]  entry not found. [set map {maps}/hosts.map none x] not found"),
        ("PUT", "hosts.map/entries/one", {}, 422, 'property "value" is missing'),
        ("PUT", "hosts.map/entries/one", {"value": ""}, 422, 'Error at "/value": value must not be empty'),
        ("PUT", "hosts.map", [{"key": "a", "value": " b"}], 400, "begins with a blank"),
        ("PUT", "hosts.map?force_sync=true", [{"key": "a", "value": "b "}], 400, "begins or ends with a blank"),
        ("DELETE", "hosts.map/entries/none", None, 404, "[3]  Key not found. [del map {maps}/hosts.map none] not found"),
        ("DELETE", "hosts.map/entries/none?force_sync=true", None, 404, "Key not found."),
    ],
)
def test_what_is_refused(client: Client, method: str, path: str, body: Any, status: int, said: str) -> None:
    maps = client.settings.maps_dir
    target, _, query = path.partition("?")
    got = client(method, f"{MAPS}/{quote(target)}?{query}", body)
    assert (got.status, said.format(maps=maps) in got.message) == (status, True), got.message
    assert (entries(client), file(client)) == ({"one": "1", "two": "two words"}, OWN)


def test_a_removed_map(client: Client) -> None:
    assert client.delete(f"{MAPS}/hosts.map?forceDelete=true").status == 204
    assert (entries(client), (Path(client.settings.maps_dir) / "hosts.map").exists()) == ({}, False)
    (Path(client.settings.maps_dir) / "hosts.map").touch()


def test_without_a_haproxy(tmp_path: Path) -> None:
    with Client(settings(tmp_path, master_runtime=str(tmp_path / "none.sock"))) as client:
        assert client.get(MAPS).status == 500
        assert "retry - unable to configure runtime client" in client.get(ENTRIES).message


def test_what_other_content_would_do(client: Client) -> None:
    plan = "/v3/sidecar/plan"
    text = {"Content-Type": "text/plain"}
    got = client.post(f"{plan}/maps/hosts.map", b"a b\n", headers=text)
    name = f"{client.settings.maps_dir}/hosts.map"
    commands = [f"prepare map {name}", f"add map @<version> {name} <<", f"commit map @<version> {name}"]
    assert (got.status, got.json) == (200, {"commands": commands, "reload": False, "reasons": []})
    got = client.post(f"{plan}/maps/hosts.map", b"only\n", headers=text).json
    assert (got["commands"], got["reload"], "without a value" in got["reasons"][0]["reason"]) == ([], True, True)
    assert client.post(f"{plan}/maps/new.map", b"a b\n", headers=text).json == {"commands": [], "reload": False, "reasons": []}
    assert client.post(f"{plan}/nothing/x", b"a", headers=text).status == 404
    assert (entries(client), file(client)) == ({"one": "1", "two": "two words"}, OWN)
    assert {path.name for path in Path(client.settings.maps_dir).iterdir()} == {"hosts.map", "ip.map"}


def test_a_map_from_elsewhere(client: Client) -> None:
    """By the number and by the path that the list has, in the process alone: its file is nobody's to write."""
    [other] = [row for row in client.get(f"{MAPS}?include_unmanaged=true").json if "storage_name" not in row]
    before = Path(other["file"]).read_bytes()
    for name in (other["id"], quote(other["file"], safe="")):
        target = f"{MAPS}/{name}"
        assert client.get(target).json["file"] == other["file"]
        assert client.put(target, [{"key": "a", "value": "1"}]).status == 201
        assert client.post(f"{target}/entries", {"key": "b", "value": "two words"}).status == 201
        assert client.put(f"{target}/entries/a", {"value": "3"}).status == 200
        assert client.get(f"{target}/entries/b").json == {"key": "b", "value": "two words"}
        assert {each["key"]: each["value"] for each in client.get(f"{target}/entries").json} == {"a": "3", "b": "two words"}
        assert client.delete(f"{target}/entries/b").status == 204
        for method, path, body in (
            ("POST", f"{target}/entries?force_sync=true", {"key": "c", "value": "1"}),
            ("PUT", f"{target}?force_sync=true", []),
            ("DELETE", f"{target}?forceDelete=true", None),
        ):
            got = client(method, path, body)
            assert (got.status, "is not in maps_dir" in got.message) == (400, True), got
        assert client.delete(target).status == 204
        assert client.get(f"{target}/entries").json == []
    assert Path(other["file"]).read_bytes() == before
    assert [client.get(f"{MAPS}/{name}").status for name in ("99", "-1", quote("/etc/none.map", safe=""))] == [404] * 3
    first = client.get(MAPS).json[0]
    assert client.get(f"{MAPS}/{first['id']}").json["file"] == first["file"], "a number is that of any map"


def test_what_the_history_says(client: Client) -> None:
    with entered(client):
        for method, path, body, said in [
            ("POST", ENTRIES, {"key": "k", "value": "v"}, "create map/hosts.map/entry/k: v"),
            ("PUT", f"{ENTRIES}/k", {"value": "w"}, "value v → w on map/hosts.map/entry/k"),
            ("DELETE", f"{ENTRIES}/k", None, "delete map/hosts.map/entry/k"),
            ("POST", f"{ENTRIES}?force_sync=true", {"key": "k", "value": "v"}, "map/hosts.map: 1 entry added"),
            ("PUT", f"{ENTRIES}/k?force_sync=true", {"value": "w"}, "map/hosts.map: 1 entry changed"),
            ("DELETE", f"{ENTRIES}/k?force_sync=true", None, "map/hosts.map: 1 entry removed"),
            ("PUT", f"{MAPS}/hosts", [{"key": "a", "value": "b"}], "change map/hosts.map in the process"),
            ("DELETE", f"{MAPS}/hosts", None, "change map/hosts.map in the process"),
        ]:
            assert client(method, path, body).status < 300
            assert client.get("/v3/sidecar/history").json[0]["summary"] == said
