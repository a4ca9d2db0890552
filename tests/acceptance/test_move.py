"""A host is moved as docs/operations.md says: what people have made goes with it, what described the former HAProxy does not."""

import re
import subprocess
from pathlib import Path

from tests.acceptance.quick import PLAIN
from tests.acceptance.test_apply import CONFIG, Applied
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER
from tests.rules.sources import CHECKOUT

OWN = "backend own from plain\n    server s 127.0.0.1:1\n"
# The command of the page, for the directory that its last lines leave out.
COMMAND = re.compile(r"^find /etc/haproxy/dataplane/engine .*\n(?:    .*\n)*", re.MULTILINE)


def test_another_machine(tmp_path: Path, haproxy_binary: str) -> None:
    (command,) = COMMAND.findall((CHECKOUT / "docs/operations.md").read_text())
    case = {"name": "home", "request": {"url": "http://a/"}, "expect": {"frontend": "site"}}
    config = (PLAIN + CONFIG).format(site=free_port())
    with HAProxy(tmp_path, config, binary=haproxy_binary) as haproxy, Applied(haproxy, delay=500) as sidecar:
        assert sidecar.reloaded(sidecar.apply(OWN))["status"] == "succeeded"
        token = sidecar.post("/v3/sidecar/tokens", {"ttl": "1h"}).json()
        stored = sidecar.put("/v3/sidecar/tests/shop", {"cases": [case]})
        assert stored.is_success, stored.text
        newest = sidecar.get("/v3/sidecar/history", limit=1).json()[0]
        sidecar.stop()
        subprocess.run(["sh", "-c", command.replace("/etc/haproxy/dataplane", str(sidecar.directory / "dataplane"))], check=True)
    with HAProxy(tmp_path, haproxy.file.read_text(), binary=haproxy_binary) as haproxy, Applied(haproxy, delay=500) as sidecar:
        (owner,) = sidecar.get("/v3/sidecar/owners").json()
        assert [each["object"] for each in owner["objects"]] == ["backend/own", "backend/own/server/s"]
        assert [each["id"] for each in sidecar.get("/v3/sidecar/tokens").json()] == [token["id"]]
        assert [each["name"] for each in sidecar.get("/v3/sidecar/tests").json()] == ["shop"]
        assert sidecar.get("/v3/sidecar/history", author=USER[0], limit=1).json()[0]["id"] == newest["id"]
        assert sidecar.apply(OWN).json().get("changed", []) == [], "what is declared is there"
        assert sidecar.get("/v3/services/haproxy/reloads").json() == []
