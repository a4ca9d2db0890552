"""A stored file has one name, however the configuration spells its path; a file elsewhere has its path."""

from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import pytest

from dataplaneapi.settings.roles import read_roles
from tests.app.client import Client, settings
from tests.app.handlers.sidecar.test_history import entered
from tests.haproxy.process import SMALL, HAProxy

MAPS, ACLS = "/v3/services/haproxy/runtime/maps", "/v3/services/haproxy/runtime/acls"
STORED = "/v3/services/haproxy/storage/maps/hosts.map"
PLAIN = {"Content-Type": "text/plain"}


@pytest.mark.parametrize(
    ("default", "spelled"),
    [
        ("", "{top}/maps/../maps/"),
        ("", "{top}/./maps//"),
        ("", "{top}/link/"),
        ("  default-path origin {top}\n", "maps/"),
        ("  default-path origin {top}/maps\n", ""),
        ("  default-path config\n", "./link/sub/../"),
    ],
)
def test_one_name(tmp_path: Path, haproxy_binary: str, default: str, spelled: str) -> None:
    (tmp_path / "maps" / "sub").mkdir(parents=True)
    (tmp_path / "acls").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "maps")
    for file in ("maps/hosts.map", "maps/sub/hosts.map", "maps/other.map", "other.map"):
        (tmp_path / file).write_text(f"{file} 1\n")
    (tmp_path / "acls" / "nets.acl").write_text("10.0.0.0/8\n")
    names = {"top": str(tmp_path)}
    place, directory = spelled.format_map(names), f"{tmp_path}/acls/../acls"
    text = SMALL.replace("defaults\n", f"{default.format_map(names)}defaults\n")
    for path in (f"{place}hosts.map", f"{tmp_path}/maps/sub/hosts.map", f"{tmp_path}/maps/../other.map"):
        text += f"  http-request set-var(txn.a) path,map({path})\n"
    text += f"  acl nets src -f {directory}/nets.acl\n  http-request deny if nets\n"
    with HAProxy(tmp_path, text, binary=haproxy_binary) as haproxy:
        given = settings(tmp_path, master_runtime=str(haproxy.master), master_worker_mode=True, acl_dir=str(tmp_path / "acls"))
        with Client(given) as client, entered(client):
            assert [row["storage_name"] for row in client.get(MAPS).json] == ["hosts.map"]
            assert client.get(f"{MAPS}/hosts").json["file"] == f"{place}hosts.map"
            for name in ("hosts.map", quote(f"{tmp_path}/maps/hosts.map", safe=""), quote(f"{place}hosts.map", safe="")):
                assert [row["key"] for row in client.get(f"{MAPS}/{name}/entries").json] == ["maps/hosts.map"], name
            assert client.put(STORED, b"k v\n", headers=PLAIN).status == 200, "without a reload"
            assert client.post(f"{MAPS}/hosts/entries?force_sync=true", {"key": "l", "value": "w"}).status == 201
            assert [row["key"] for row in client.get(f"{MAPS}/hosts/entries").json] == ["k", "l"]
            assert (tmp_path / "maps" / "hosts.map").read_text() == "k v\nl w\n"
            assert client.post(f"{MAPS}/hosts/entries", {"key": "m", "value": "x"}).status == 201
            assert client.get("/v3/sidecar/history").json[0]["objects"][-1] == "map/hosts.map/entry/m"
            assert client.delete(STORED).status == 409
            assert len(client.get("/v3/sidecar/references?object=map/hosts.map").json["references"]) == 1
            unused = [row["object"] for row in client.get("/v3/sidecar/lint").json if row["id"] == "file-unused"]
            assert "map/hosts.map" not in unused and "map/other.map" in unused
            # A stored file that HAProxy has not loaded, and a loaded one of the same name elsewhere.
            outside = quote(f"{tmp_path}/other.map", safe="")
            assert client.get(f"{MAPS}/other.map").status == 404
            assert [row["key"] for row in client.get(f"{MAPS}/{outside}/entries").json] == ["other.map"]
            assert client.post(f"{MAPS}/{outside}/entries", {"key": "m", "value": "x"}).status == 201
            assert client.get("/v3/sidecar/history").json[0]["objects"][-1] == f"map/{outside}/entry/m"
            assert client.post(f"{MAPS}/{outside}/entries?force_sync=true", {"key": "n", "value": "x"}).status == 400
            # ACLs by the same rules.
            assert [row["value"] for row in client.get(f"{ACLS}/nets.acl/entries").json] == ["10.0.0.0/8"]
            assert client.post(f"{ACLS}/nets.acl/entries?force_sync=true", {"value": "192.0.2.1"}).status == 201
            assert (tmp_path / "acls" / "nets.acl").read_text() == "10.0.0.0/8\n192.0.2.1\n"
            assert client.post(f"{ACLS}/nets.acl/entries", {"value": "192.0.2.2"}).status == 201
            object_ = client.get("/v3/sidecar/history").json[0]["objects"][-1]
            assert object_.startswith(f"acl/{quote(str(tmp_path / 'acls' / 'nets.acl'), safe='')}/entry/")
            assert client.put("/v3/sidecar/acls/nets.acl", b"192.0.2.9\n", headers=PLAIN).status == 200, "without a reload"


def test_permissions_go_by_it(tmp_path: Path, haproxy_binary: str) -> None:
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "hosts.map").write_text("a 1\n")
    place = f"{tmp_path}/maps/../maps/hosts.map"
    with ExitStack() as stack:
        haproxy = stack.enter_context(
            HAProxy(tmp_path, f"{SMALL}  http-request deny if {{ path,map({place}) -m found }}\n", binary=haproxy_binary)
        )
        client = stack.enter_context(Client(settings(tmp_path, master_runtime=str(haproxy.master), master_worker_mode=True)))
        for rule, status in (("map/hosts.map", 200), ("map/other.map", 403)):
            rules = {"some": [{"objects": rule, "may": ["read", "create"]}]}
            client.app.services.roles = read_roles(rules, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])
            for name in ("hosts", quote(place, safe="")):
                assert client.get(f"{MAPS}/{name}/entries").status == status
                assert client.post(f"{MAPS}/{name}/entries", {"key": name[:1], "value": "x"}).status == status + (status == 200)
