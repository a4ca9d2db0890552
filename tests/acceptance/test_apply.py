"""Apply beside a real HAProxy: live first, nothing where nothing differs, conflicts with hand edits, YAML, text and JSON alike."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER

CONFIG = """\
frontend site from plain
    bind 127.0.0.1:{site}
    default_backend shop

backend shop from plain
    server one 127.0.0.1:1 weight 10
"""
TEXT = "backend shop from plain\n    server one 127.0.0.1:1 weight 10\n    server two 127.0.0.1:2 weight 20\n"
SERVERS = {name: {"name": name, "address": "127.0.0.1", "port": port, "weight": 10 * port} for name, port in (("one", 1), ("two", 2))}
JSON = json.dumps({"backends": [{"name": "shop", "from": "plain", "servers": SERVERS}]})
YAML = """\
backends:
- name: shop
  from: plain
  servers:
    one: &one {name: one, address: 127.0.0.1, port: 1, weight: 10}
    two: {<<: *one, name: two, port: 2, weight: 20}
"""
TYPES = {"text/plain": TEXT, "application/json": JSON, "application/yaml": YAML}


class Applied(Quick):
    def apply(self, body: str, kind: str = "text/plain", owner: str = "team-a", **query: Any) -> httpx2.Response:
        url = f"http://127.0.0.1:{self.port}/v3/sidecar/apply"
        return httpx2.put(url, params={"owner": owner, **query}, content=body, headers={"content-type": kind}, auth=USER, timeout=60)

    def states(self) -> dict[str, str]:
        rows = [line.split() for line in self.haproxy.ask("show servers state shop").splitlines()[2:] if line]
        return {row[3]: row[7] for row in rows}


@pytest.fixture
def sidecar(tmp_path: Path, haproxy_binary: str) -> Iterator[Applied]:
    config = (PLAIN + CONFIG).format(site=free_port())
    with HAProxy(tmp_path, config, binary=haproxy_binary) as haproxy, Applied(haproxy) as running:
        yield running


def test_live_and_once(sidecar: Applied) -> None:
    planned = sidecar.apply(TEXT, dry_run=True)
    assert planned.status_code == 200 and planned.json()["created"] == ["backend/shop/server/two"] and sidecar.version() == 1
    assert any(command.startswith("add server shop/two") for command in planned.json()["commands"]), planned.text
    done = sidecar.apply(TEXT)
    assert done.status_code == 200 and not done.json()["reload"] and done.json()["created"] == ["backend/shop/server/two"], done.text
    assert sidecar.states() == {"one": "10", "two": "20"} and sidecar.version() == 2
    before = sidecar.haproxy.file.read_bytes(), sidecar.haproxy.file.stat().st_mtime_ns
    for kind, body in TYPES.items():
        again = sidecar.apply(body, kind)
        assert again.status_code == 200
        assert again.json()["unchanged"] == ["backend/shop", "backend/shop/server/one", "backend/shop/server/two"]
        assert [again.json()[name] for name in ("created", "changed", "deleted")] == [[], [], []], (kind, again.text)
    assert (sidecar.haproxy.file.read_bytes(), sidecar.haproxy.file.stat().st_mtime_ns) == before and sidecar.version() == 2
    lighter = sidecar.apply(TEXT.replace("20", "5").replace("    server one 127.0.0.1:1 weight 10\n", ""))
    assert lighter.status_code == 200, lighter.text
    assert lighter.json()["changed"] == [{"object": "backend/shop/server/two", "member": "weight", "old": 20, "new": 5}]
    assert lighter.json()["deleted"] == ["backend/shop/server/one"] and sidecar.states() == {"two": "5"}


def test_conflicts_with_hands_and_with_others(sidecar: Applied) -> None:
    assert sidecar.apply(TEXT).status_code == 200
    classic = sidecar.put("backends/shop/servers/two", SERVERS["two"] | {"weight": 7}, version=sidecar.version())
    assert classic.status_code in (200, 202), classic.text
    refused = sidecar.apply(TEXT)
    conflict = {"object": "backend/shop/server/two", "member": "weight", "owners": ["outside"], "theirs": 7, "mine": 20}
    assert refused.status_code == 409 and refused.json()["conflicts"] == [conflict], refused.text
    assert sidecar.apply(TEXT.replace("127.0.0.1:1 ", "127.0.0.1:9 "), owner="team-b").json()["conflicts"][0]["owners"] == ["team-a"]
    assert sidecar.states()["two"] == "7"
    assert sidecar.apply(TEXT, unowned="weight").json()["changed"] == []
    taken = sidecar.apply(TEXT, force=True)
    assert taken.json()["taken"] == [conflict] and sidecar.states()["two"] == "20"
    assert [each["owner"] for each in sidecar.get("/v3/sidecar/owners").json()] == ["team-a"]
    exported = sidecar.get("/v3/sidecar/export", owner="team-a").json()
    assert sidecar.apply(json.dumps(exported), "application/json").json()["changed"] == []


def test_a_refusal_of_haproxy_leaves_everything(sidecar: Applied) -> None:
    before = sidecar.text()
    refused = sidecar.apply(TEXT + "frontend other from plain\n    bind 127.0.0.1:1\n    default_backend missing\n")
    assert refused.status_code == 400 and "missing" in refused.text and sidecar.text() == before
    assert sidecar.get("/v3/sidecar/owners").json() == []


def test_a_reload_is_scheduled(sidecar: Applied) -> None:
    done = sidecar.apply(TEXT + f"frontend other from plain\n    bind 127.0.0.1:{free_port()}\n    default_backend shop\n", max_delete=0)
    assert done.status_code == 202 and done.json()["reload"] and done.json()["reasons"], done.text
    assert sidecar.outcome(done.headers["reload-id"])["status"] == "succeeded"


def test_a_declaration_goes_back_unless_it_is_confirmed(sidecar: Applied) -> None:
    before = sidecar.text()
    done = sidecar.apply(TEXT, confirm="10m")
    assert done.status_code == 200 and "X-Ignored-Parameters" not in done.headers
    assert sidecar.delete(done.headers["Location"]).json()["status"] == "returned"
    assert sidecar.text().splitlines()[-4:] == before.splitlines()[-4:]
