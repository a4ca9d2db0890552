"""Use listen sections: every kind of child, reads and writes of the whole section, and changes of servers at runtime."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.editing.resources import Resource, resources
from haproxy_native.grammar.load import bundle
from tests.acceptance.objects import CHILDREN
from tests.acceptance.quick import PLAIN, Quick, is_live
from tests.app.client import CONFIG, Client, settings
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

# Sequences of filters have no paths, as in the reference.
NOT_IN_3_2 = ("filter_sequences", "force_be_switches")
OWN = {
    "name": "both",
    "from": "plain",
    "mode": "http",
    "balance": {"algorithm": "roundrobin"},
    "maxconn": 50,
    "stick_table": {"type": "ip", "size": 1024},
}
KINDS = [resource for _, resource in resources().children("listens")]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """Return a client of a server without HAProxy, which accepts the children of every version."""
    with Client(settings(tmp_path), "defaults plain\n  mode http\nlisten both from plain\n  # its own comment\n  mode http\n") as client:
        yield client


def test_every_kind_of_child_has_its_bodies() -> None:
    assert {resource.name for resource in KINDS} <= set(CHILDREN)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name != "filter_sequences"], ids=lambda kind: kind.name)
def test_the_life_of_a_child(client: Client, kind: Resource) -> None:
    one, two = CHILDREN[kind.name]
    row = bundle()["x-resources"][kind.name]
    base, before = f"{CONFIG}/listens/both/{row.get('path', kind.name)}", client.file.read_text().split("\n", 1)[1]
    place = {id(each): f"{base}/{at if kind.kind == 'indexed' else each[kind.key]}" for at, each in enumerate((one, two))}

    def write(method: str, target: str, body: Any = None) -> int:
        return int(client(method, f"{target}?version={client.engine.version(None)}", body).status)

    assert client.get(base).json == []
    for each in (one, two):
        assert write("POST", place[id(each)] if kind.kind == "indexed" and "append" not in row.get("verbs", ()) else base, each) in (
            201,
            202,
        )
        assert is_shown(client.get(place[id(each)]).json, each)
    assert all(map(is_shown, client.get(base).json, (one, two)))
    changed = {**two, kind.key: one[kind.key]} if kind.kind == "named" else two
    assert write("PUT", place[id(one)], changed) in (200, 202)
    assert is_shown(client.get(place[id(one)]).json, changed)
    if kind.kind == "indexed" and "replace_all" in row.get("verbs", ["replace_all"]):
        assert write("PUT", base, [two, one]) in (200, 202)
        assert all(map(is_shown, client.get(base).json, (two, one)))
    for _ in (one, two):
        assert write("DELETE", place[id(one)] if kind.kind == "indexed" or _ is one else place[id(two)]) in (202, 204)
    assert write("DELETE", place[id(one)]) == 404
    assert client.get(base).json == []
    text = client.file.read_text()
    assert text[text.index("defaults") :] == (before if before.startswith("defaults") else "defaults plain\n" + before)


def is_shown(answer: dict[str, Any], body: dict[str, Any]) -> bool:
    return {name: answer.get(name) for name in body} == body


def whole(kinds: list[Resource]) -> dict[str, Any]:
    found: dict[str, Any] = dict(OWN)
    for kind in kinds:
        own = CHILDREN[kind.name]
        found[kind.member_of("listens")] = {each[kind.key]: each for each in own} if kind.kind == "named" else own
    return found


def test_the_whole_section_is_written_read_and_written_again(client: Client) -> None:
    base = f"{CONFIG}/listens"
    body = {**whole(KINDS), "name": "second"}
    created = client.post(f"{base}?full_section=true&version={client.engine.version(None)}", body)
    assert created.status in (201, 202), created.body
    read = client.get(f"{base}/second?full_section=true").json
    assert {name: read.get(name) for name in body if not isinstance(body[name], list | dict)} == {
        name: value for name, value in body.items() if not isinstance(value, list | dict)
    }
    assert all(is_shown(mine, theirs) for kind in KINDS for mine, theirs in zip(*map(elements, (kind, kind), (read, body)), strict=True))
    text = client.file.read_text().partition("defaults")[2]
    again = client.put(f"{base}/second?full_section=true&version={client.engine.version(None)}", read)
    assert again.status in (200, 202), again.body
    assert client.file.read_text().partition("defaults")[2] == text
    fewer = {name: value for name, value in read.items() if name not in ("servers", "acl_list")}
    assert client.put(f"{base}/second?full_section=true&version={client.engine.version(None)}", fewer).status in (200, 202)
    assert client.get(f"{base}/second?full_section=true").json == fewer
    plain = client.get(f"{base}/second").json
    assert set(plain) == set(OWN)
    assert client.put(f"{base}/second?version={client.engine.version(None)}", {**plain, "maxconn": 60}).status in (200, 202)
    assert client.get(f"{base}/second?full_section=true").json == {**fewer, "maxconn": 60}


def elements(kind: Resource, section: dict[str, Any]) -> list[dict[str, Any]]:
    own = section[kind.member_of("listens")]
    return [own[name] for name in sorted(own)] if isinstance(own, dict) else own


LIVE = (
    PLAIN
    + """listen app
    bind 127.0.0.1:{site} name main
    balance roundrobin
    server one 127.0.0.1:1 weight 10   # the first
backend other
"""
)


@pytest.fixture(params=binaries.EACH)
def sidecar(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Quick]:
    with HAProxy(tmp_path, LIVE.format(site=free_port()), binary=binaries.exactly(request.param)) as haproxy, Quick(haproxy) as sidecar:
        yield sidecar


def test_its_servers_change_live(sidecar: Quick) -> None:
    worker = sidecar.haproxy.worker_pid()
    server = sidecar.get("listens/app/servers/one").json()
    assert is_live(sidecar.put("listens/app/servers/one", {**server, "weight": 77}, version=sidecar.version()))
    assert is_live(sidecar.put("listens/app/servers/one", {**server, "weight": 77, "maintenance": "enabled"}, version=sidecar.version()))
    state = sidecar.server("one")
    assert state is not None
    assert sidecar.stat("one")["weight"] == "77"
    assert sidecar.stat("one")["status"].startswith("MAINT")
    assert is_live(sidecar.post("listens/app/servers", {"name": "two", "address": "127.0.0.1", "port": 2}, version=sidecar.version()))
    assert sidecar.stat("two")["svname"] == "two"
    assert is_live(sidecar.delete("listens/app/servers/two", version=sidecar.version()))
    assert sidecar.stat("two") == {}
    assert sidecar.haproxy.worker_pid() == worker
    assert "weight 77" in sidecar.haproxy.file.read_text()
    assert "# the first" in sidecar.haproxy.file.read_text()


def test_haproxy_takes_one_with_everything(tmp_path: Path) -> None:
    kinds = [kind for kind in KINDS if kind.name not in (*NOT_IN_3_2, "ssl_front_uses")]
    binary = binaries.exactly("3.2")
    with HAProxy(tmp_path, LIVE.format(site=free_port()), binary=binary) as haproxy, Quick(haproxy) as sidecar:
        body = whole(kinds)
        for bind in body["binds"].values():
            bind["port"] = free_port()
        created = sidecar.post("listens", body, full_section=True, version=sidecar.version())
        outcome = sidecar.reloaded(created)
        assert outcome["status"] == "succeeded", outcome
        assert sidecar.stat("s1", "both")["weight"] == "10"
        assert sidecar.reloaded(sidecar.delete("listens/both", version=sidecar.version()))["status"] == "succeeded"
        assert sidecar.stat("s1", "both") == {}
