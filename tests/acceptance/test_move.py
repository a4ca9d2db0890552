"""Move a host as docs/operations.md describes: a backup has the server's own state, and HAProxy is as after a restart."""

import subprocess
from pathlib import Path

from tests.acceptance.quick import PLAIN
from tests.acceptance.test_apply import CONFIG, Applied
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import COMMAND, USER
from tests.until import until

OWN = "backend own from plain\n    server s 127.0.0.1:1\n"
MAPS = "/v3/services/haproxy/storage/maps"
SERVER = "/v3/services/haproxy/runtime/backends/own/servers/s"


def test_another_machine(tmp_path: Path, haproxy_binary: str) -> None:
    case = {"name": "home", "request": {"url": "http://a/"}, "expect": {"frontend": "site"}}
    config = (PLAIN + CONFIG).format(site=free_port())
    with HAProxy(tmp_path, config, binary=haproxy_binary) as haproxy, Applied(haproxy, delay=500) as sidecar:
        assert sidecar.reloaded(applied := sidecar.apply(OWN))["status"] == "succeeded"
        token = sidecar.post("/v3/sidecar/tokens", {"ttl": "1h"}).json()
        stored = sidecar.put("/v3/sidecar/tests/shop", {"cases": [case]})
        assert stored.is_success, stored.text
        assert sidecar.put(SERVER, {"admin_state": "drain"}).is_success
        transaction = {"transaction_id": sidecar.transaction()}
        assert sidecar.post("backends", {"name": "moved", "from": "plain"}, **transaction).is_success
        upload = {"file_upload": ("hosts.map", b"/a app\n", "text/plain")}
        assert sidecar.client.post(MAPS, files=upload, params=transaction).is_success
        newest = sidecar.get("/v3/sidecar/history", limit=1).json()[0]
        ran = subprocess.run([COMMAND, "backup", tmp_path / "backup", "-f", sidecar.file], check=False, capture_output=True, text=True)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert sidecar.delete(f"/v3/sidecar/tokens/{token['id']}").is_success
        sidecar.stop()
    (sidecar.directory / "dataplane").rename(tmp_path / "former")
    ran = subprocess.run([COMMAND, "restore", tmp_path / "backup", "-f", sidecar.file], check=False, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    with HAProxy(tmp_path, haproxy.file.read_text(), binary=haproxy_binary) as haproxy, Applied(haproxy, delay=500) as sidecar:
        (owner,) = sidecar.get("/v3/sidecar/owners").json()
        assert [each["object"] for each in owner["objects"]] == ["backend/own", "backend/own/server/s"]
        assert [each["id"] for each in sidecar.get("/v3/sidecar/tokens").json()] == [token["id"]]
        assert [each["name"] for each in sidecar.get("/v3/sidecar/tests").json()] == ["shop"]
        assert sidecar.get("/v3/sidecar/history", author=USER[0], limit=1).json()[0]["id"] == newest["id"]
        until(lambda: sidecar.get(SERVER).json()["admin_state"] == "drain", "it is set again in the new worker")
        assert [each["object"] for each in sidecar.get("/v3/sidecar/overrides").json()] == ["backend/own/server/s"]
        assert sidecar.apply(OWN).json().get("changed", []) == [], "what is declared is there"
        assert [each["id"] for each in sidecar.get("/v3/services/haproxy/reloads").json()] == [applied.headers["Reload-Id"]]
        assert sidecar.get(f"{MAPS}/hosts.map", **transaction).text == "/a app\n"
        done = sidecar.commit(transaction["transaction_id"])
        assert done.is_success and "backend moved" in sidecar.text(), done.text
        assert (sidecar.directory / "maps_dir" / "hosts.map").read_text() == "/a app\n"
