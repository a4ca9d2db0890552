"""Agents, groups and messages over HTTP."""

from pathlib import Path

from tests.app.client import CONFIG, serving
from tests.app.spoe import FILE, FILES, ONE, TEXT, furnish

AGENT = {"async": "disabled", "messages": "m1", "name": "a1", "use-backend": "app"}
MESSAGE = {"args": "ip=src", "event": {"name": "on-client-session"}, "name": "m1"}


def test_reading(tmp_path: Path) -> None:
    furnish(tmp_path)
    with serving(tmp_path) as client:
        assert client.get(f"{ONE}/agents").json == [AGENT], "options that the file does not have are absent"
        assert client.get(f"{ONE}/agents/a1").json == AGENT
        assert client.get(f"{ONE}/messages").json == [MESSAGE]
        assert client.get(f"{ONE}/groups").json == []
        for target, said in [
            (f"{ONE}/agents/none", "missing object: agent none does not exist"),
            (f"{FILE}/scopes/%5Bx%5D/agents", "missing object: scope [x] does not exist"),
            (f"{FILES}/none/scopes/%5Bx%5D/agents", "client none not configured"),
        ]:
            assert (client.get(target).status, client.get(target).message) == (404, said)


def test_writing(tmp_path: Path) -> None:
    path = furnish(tmp_path)
    with serving(tmp_path) as client:
        group = {"name": "g1", "messages": "m1"}
        created = client.post(f"{ONE}/groups?version=3", group)
        assert (created.status, created.json, "Reload-Id" in created.headers) == (201, group, False)
        taken = client.post(f"{ONE}/groups?version=4", group)
        assert (taken.status, taken.message) == (409, "object already exists: spoe-group g1 already exists")
        replaced = client.put(f"{ONE}/groups/g1?version=4", {"name": "g1", "messages": 'm1 m2 # "x'})
        assert (replaced.status, replaced.json["name"]) == (200, "g1")
        agent = client.put(f"{ONE}/agents/a1?version=5", {**AGENT, "async": "enabled"})
        assert (agent.status, agent.body, "Content-Type" in agent.headers) == (200, b"", False)
        missing = client.put(f"{ONE}/agents/none?version=6", {"name": "a1"})
        assert (missing.status, missing.message) == (404, "missing object: spoe-agent none does not exist")
        assert client.delete(f"{ONE}/groups/g1?version=6").status == 204
        assert client.delete(f"{ONE}/groups/g1?version=7").status == 404
        assert path.read_text() == TEXT.replace("=3", "=7").replace("  no option async", "  option async")


def test_a_body_that_is_wrong(tmp_path: Path) -> None:
    path = furnish(tmp_path)
    with serving(tmp_path) as client:
        for body, said in [
            ({}, "name in body is required"),
            ({"name": "x", "async": "on"}, "async in body should be one of [enabled disabled]"),
        ]:
            got = client.post(f"{ONE}/agents?version=3", body)
            assert (got.status, got.message) == (422, said)
        assert path.read_text() == TEXT


def test_a_reload_is_told_where_the_configuration_reads_the_file(tmp_path: Path) -> None:
    path = furnish(tmp_path)
    with serving(tmp_path) as client:
        body = {"type": "spoe", "spoe_engine": "one", "spoe_config": str(path)}
        assert client.post(f"{CONFIG}/frontends/web/filters/0?version=1&force_reload=true", body).status == 201
        changed = client.post(f"{ONE}/groups?version=3", {"name": "g1", "messages": "m1"})
        assert changed.status == 201
        record = client.get(f"/v3/sidecar/reloads/{changed.headers['Reload-Id']}").json
        assert "f.cfg" in str(record["reasons"])
