"""Agents, groups and messages over HTTP."""

from pathlib import Path

import pytest

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
    with serving(tmp_path, haproxy_bin="true") as client:
        body = {"type": "spoe", "spoe_engine": "one", "spoe_config": str(path)}
        assert client.post(f"{CONFIG}/frontends/web/filters/0?version=1&force_reload=true", body).status == 201
        changed = client.post(f"{ONE}/groups?version=3", {"name": "g1", "messages": "m1"})
        assert changed.status == 201
        record = client.get(f"/v3/sidecar/reloads/{changed.headers['Reload-Id']}").json
        assert "f.cfg" in str(record["reasons"])


NAMES = """\
# _version=1
[one]
spoe-agent a
  messages m1 "m2"   # m1
  groups g1
spoe-group g1
  messages m1
spoe-message m1
  args m1=src
spoe-message m2
  args ip=dst
[two]
spoe-agent a
  messages m1
spoe-message m1
  args ip=src
"""


@pytest.mark.parametrize(
    ("kind", "name", "body", "replaced"),
    [
        (
            "messages",
            "m1",
            {"args": "m1=src"},
            {
                'messages m1 "m2"': 'messages new "m2"',
                "g1\n  messages m1": "g1\n  messages new",
                "message m1\n  args m1": "message new\n  args m1",
            },
        ),
        ("messages", "m2", {"args": "ip=dst"}, {'"m2"': "new", "message m2": "message new"}),
        ("groups", "g1", {"messages": "m1"}, {"groups g1": "groups new", "spoe-group g1": "spoe-group new"}),
        ("agents", "a", {"messages": "m1 m2", "groups": "g1"}, {"[one]\nspoe-agent a": "[one]\nspoe-agent new"}),
    ],
)
def test_another_name(tmp_path: Path, kind: str, name: str, body: dict[str, str], replaced: dict[str, str]) -> None:
    path = furnish(tmp_path)
    path.write_text(NAMES)
    with serving(tmp_path) as client:
        one = f"{ONE}/{kind}/{name}?version=1"
        wrong = client.put(one, {**body, "name": "a b"})
        assert (wrong.status, "name in body" in wrong.message) == (400, True), wrong
        assert client.put(one, {**body, "name": "new"}).status == 200
        text = NAMES.replace("_version=1", "_version=2")
        for old, new in replaced.items():
            text = text.replace(old, new, 1)
        assert path.read_text().replace("messages new m2", 'messages new "m2"').replace("messages m1 m2", 'messages m1 "m2"') == text
        assert (client.get(f"{ONE}/{kind}/{name}").status, client.get(f"{ONE}/{kind}/new").status) == (404, 200)
        if kind == "messages":
            assert client.put(f"{ONE}/messages/new?version=2", {**body, "name": "m2" if name == "m1" else "m1"}).status == 409
