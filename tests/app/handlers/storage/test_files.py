"""Stored files over HTTP."""

from pathlib import Path
from typing import Any

import pytest

from tests.app.client import CONFIG, Client, Got, serving

STORAGE = "/v3/services/haproxy/storage"
FORM = {"Content-Type": "multipart/form-data; boundary=edge"}
TEXT = {"Content-Type": "text/plain"}


def form(name: str, content: bytes, field: str = "file_upload") -> bytes:
    head = f'--edge\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
    return head.encode() + content + b"\r\n--edge--\r\n"


def upload(client: Client, store: str, name: str, content: bytes = b"k v\n", **more: Any) -> Got:
    return client.post(f"{STORAGE}/{store}", form(name, content, **more), headers=FORM)


def test_a_map_file(client: Client) -> None:
    directory = Path(client.settings.maps_dir)
    assert client.get(f"{STORAGE}/maps").json == []
    got = upload(client, "maps", "my.hosts")
    described = {
        "description": "managed but not loaded map file (no runtime ID)",
        "file": f"{directory}/my.hosts.map",
        "storage_name": "my.hosts.map",
        "size": 4,
    }
    assert (got.status, got.json) == (201, described)
    assert upload(client, "maps", "my.hosts").status == 409
    assert client.get(f"{STORAGE}/maps").json == [
        {"description": "managed map file", "file": described["file"], "storage_name": "my.hosts.map"}
    ]
    for query, status in (("", 200), ("?skip_reload=true", 204), ("?force_reload=true", 204)):
        assert client.put(f"{STORAGE}/maps/my.hosts{query}", f"k {status}".encode(), headers=TEXT).status == status
        got = client.get(f"{STORAGE}/maps/my.hosts.map")
        assert (got.status, got.headers["Content-Type"], got.body) == (200, "application/octet-stream", f"k {status}".encode())
    assert client.delete(f"{STORAGE}/maps/my.hosts.map").status == 204
    assert client.get(f"{CONFIG}/version").json == 1
    assert list(directory.iterdir()) == []


def test_a_file_for_general_use(client: Client) -> None:
    assert upload(client, "general", "a.http", b"").json["size"] == 0
    assert client.put(f"{STORAGE}/general/a.http", form("other.http", b"\r\n\xff"), headers=FORM).status == 200
    assert client.get(f"{STORAGE}/general/a.http").body == b"\r\n\xff"
    assert [each["storage_name"] for each in client.get(f"{STORAGE}/general").json] == ["a.http"]


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "said"),
    [
        ("POST", "maps", form("x", b"", field="other"), FORM, 400, "http: no such file"),
        ("POST", "maps", form("", b"x"), FORM, 400, "no file name"),
        ("POST", "maps", b"x", {"Content-Type": "multipart/form-data"}, 400, "no multipart boundary param in Content-Type"),
        ("POST", "general", b"x", TEXT, 415, 'header Content-Type has unexpected value "text/plain"'),
        ("PUT", "maps/none.map", b"x", TEXT, 404, "missing object: file none.map doesn't exist in dir: "),
        ("PUT", "maps/there.map", b"", TEXT, 400, "value is required but missing"),
        ("PUT", "maps/there.map", form("x", b"x"), FORM, 415, "header Content-Type has unexpected value"),
        ("PUT", "general/..%2Fhaproxy.cfg", form("x", b"x"), FORM, 404, "missing object: file _haproxy.cfg doesn't exist in dir: "),
        ("GET", "general/..%2Fhaproxy.cfg", None, {}, 404, "missing object: file _haproxy.cfg doesn't exist in dir: "),
        ("DELETE", "general/%2Fetc%2Fpasswd", None, {}, 404, "missing object: file _etc_passwd doesn't exist in dir: "),
    ],
)
def test_what_is_refused(
    client: Client, method: str, path: str, body: bytes | None, headers: dict[str, str], status: int, said: str
) -> None:
    upload(client, "maps", "there.map")
    got = client(method, f"{STORAGE}/{path}", body, headers=headers)
    assert (got.status, got.message[: len(said)]) == (status, said)
    assert [path.name for path in Path(client.settings.maps_dir).iterdir()] == ["there.map"]
    assert not list(Path(client.settings.general_storage_dir).glob("*"))


def test_a_reload_for_what_the_running_configuration_refers_to(tmp_path: Path) -> None:
    (tmp_path / "general").mkdir()
    (tmp_path / "general" / "503.http").touch()
    (tmp_path / "haproxy.cfg").write_text(f"frontend f\n  errorfile 503 {tmp_path}/general/503.http\n")
    with serving(tmp_path) as client:
        got = client.put(f"{STORAGE}/general/503.http", form("x", b"1"), headers=FORM)
        assert (got.status, got.body, bool(got.headers["Reload-Id"])) == (202, b"", True)
        got = client.put(f"{STORAGE}/general/503.http?skip_reload=true&force_reload=true", form("x", b"2"), headers=FORM)
        assert got.status == 204
        got = client.delete(f"{STORAGE}/general/503.http")
        line = f"at line 2: errorfile 503 {tmp_path}/general/503.http"
        assert (got.status, got.message[-len(line) :]) == (409, line)


def test_a_directory_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "general").touch()
    with serving(tmp_path) as client:
        for got in (client.get(f"{STORAGE}/general"), client.get(f"{STORAGE}/general/x"), upload(client, "general", "x")):
            assert (got.status, "general_storage_dir" in got.message) == (503, True)
        assert client.get(f"{STORAGE}/maps").status == 200


def test_in_a_transaction_files_appear_at_the_commit(tmp_path: Path) -> None:
    with serving(tmp_path, haproxy_bin="true") as client:
        directory = Path(client.settings.maps_dir)
        assert upload(client, "maps", "old.map").status == 201
        id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
        within = f"transaction_id={id_}"
        got = client.post(f"{STORAGE}/maps?{within}", form("new.map", b"n 1\n"), headers=FORM)
        assert (got.status, got.json["file"], got.json["size"]) == (201, f"{directory}/new.map", 4)
        assert client.post(f"{STORAGE}/maps?{within}", form("new.map", b"n 1\n"), headers=FORM).status == 409
        assert client.put(f"{STORAGE}/maps/new.map?{within}", b"n 2\n", headers=TEXT).status == 200
        assert client.delete(f"{STORAGE}/maps/old.map?{within}").status == 204
        assert client.put(f"{STORAGE}/maps/old.map?{within}", b"o\n", headers=TEXT).status == 404
        assert [each["storage_name"] for each in client.get(f"{STORAGE}/maps?{within}").json] == ["new.map"]
        assert (client.get(f"{STORAGE}/maps/new.map?{within}").body, client.get(f"{STORAGE}/maps/new.map").status) == (b"n 2\n", 404)
        assert [path.name for path in directory.iterdir()] == ["old.map"]
        assert client.get("/v3/sidecar/transactions").json[0]["objects"] == ["map/new.map", "map/old.map"]
        assert client.put(f"/v3/services/haproxy/transactions/{id_}").status in (200, 202)
        assert {path.name: path.read_bytes() for path in directory.iterdir()} == {"new.map": b"n 2\n"}


@pytest.mark.parametrize("given", ["skip_reload=true", "force_reload=true", "wait=1s"])
def test_what_belongs_to_the_commit(client: Client, given: str) -> None:
    assert upload(client, "maps", "a.map").status == 201
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    refused = client.put(f"{STORAGE}/maps/a.map?transaction_id={id_}&{given}", b"n 2\n", headers=TEXT)
    assert (refused.status, given.partition("=")[0] in refused.message) == (400, True)
    assert client.get(f"{STORAGE}/maps?transaction_id=none").status in (400, 404)


def test_entries_of_a_map_in_a_transaction(client: Client) -> None:
    assert upload(client, "maps", "a.map", b"a 1\n").status == 201
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    entries = "/v3/services/haproxy/runtime/maps/a.map/entries"
    refused = client.post(f"{entries}?transaction_id={id_}", {"key": "b", "value": "2"})
    assert (refused.status, "force_sync=true" in refused.message) == (400, True)
    assert client.post(f"{entries}?transaction_id={id_}&force_sync=true", {"key": "b", "value": "2"}).status == 201
    assert client.put(f"{entries}/a?transaction_id={id_}&force_sync=true", {"value": "9"}).status == 200
    assert client.get(f"{entries}?transaction_id={id_}").json == [{"key": "a", "value": "9"}, {"key": "b", "value": "2"}]
    assert client.get(f"{entries}/b?transaction_id={id_}").json == {"key": "b", "value": "2"}
    assert client.delete(f"{entries}/a?transaction_id={id_}&force_sync=true").status == 204
    assert client.delete(f"{entries}/a?transaction_id={id_}&force_sync=true").status == 404
    assert client.get(f"{STORAGE}/maps/a.map").body == b"a 1\n"
    assert client.get(f"{STORAGE}/maps/a.map?transaction_id={id_}").body == b"b 2\n"
