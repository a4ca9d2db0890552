"""Apply declarations with a real HAProxy: at runtime if possible, without changes if nothing differs, and from YAML, text and JSON."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, Quick
from tests.databases import stored
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER
from tests.tls.pems import made

TRANSACTIONS = "/v3/services/haproxy/transactions"
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
        return httpx2.put(
            url, params={"owner": owner, **query}, content=body, headers={"content-type": kind}, auth=USER, timeout=60, verify=False
        )

    def carry_out(self, token: str) -> httpx2.Response:
        return httpx2.put(f"http://127.0.0.1:{self.port}/v3/sidecar/apply", params={"plan": token}, auth=USER, timeout=60, verify=False)

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
    assert done.json()["commands"] == planned.json()["commands"]
    before = sidecar.haproxy.file.read_bytes(), sidecar.haproxy.file.stat().st_mtime_ns
    for kind, body in TYPES.items():
        again = sidecar.apply(body, kind)
        assert again.status_code == 200
        assert again.json()["unchanged"] == ["backend/shop", "backend/shop/server/one", "backend/shop/server/two"]
        assert [again.json()[name] for name in ("created", "changed", "deleted", "commands")] == [[], [], [], []], (kind, again.text)
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
    assert refused.status_code == 409, refused.text
    (shown,) = refused.json()["conflicts"]
    assert shown.items() >= conflict.items() and (shown["author"], shown["entry"]) == (USER[0], "2"), shown
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


class Filed(Applied):
    """A server with directories for maps, certificates and general files."""

    def send(self, declaration: Any, **query: Any) -> httpx2.Response:
        return self.apply(json.dumps(declaration), "application/json", **query)

    def form(self, *parts: tuple[str, tuple[str, bytes]], owner: str = "team-a", **query: Any) -> httpx2.Response:
        url = f"http://127.0.0.1:{self.port}/v3/sidecar/apply"
        return httpx2.put(url, params={"owner": owner, **query}, files=list(parts), auth=USER, timeout=60, verify=False)

    def shown(self) -> dict[str, str]:
        rows = self.haproxy.ask(f"show map {self.directory}/maps_dir/hosts.map").splitlines()
        return dict(row.split(" ", 2)[1:] for row in rows if row)

    def serial(self) -> int:
        return int(self.haproxy.ask(f"show ssl cert {self.directory}/ssl_certs_dir/site.pem").partition("Serial: ")[2].split()[0], 16)

    def files(self) -> dict[str, bytes]:
        return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in self.directory.glob("*_dir/*")}


PEMS = {serial: made("one.example", serial).pem for serial in (17, 18)}
FILED = """\
frontend site from plain
    bind 127.0.0.1:{site} ssl crt {directory}/ssl_certs_dir/site.pem
    http-request set-var(txn.a) path,map({directory}/maps_dir/hosts.map)
    default_backend shop

backend shop from plain
    server one 127.0.0.1:1 weight 10
"""


@contextmanager
def with_files(directory: Path, binary: str) -> Iterator[Filed]:
    for name in ("maps_dir", "ssl_certs_dir"):
        (directory / name).mkdir()
    (directory / "maps_dir" / "hosts.map").write_text("# by hand\nhand 1\n")
    (directory / "ssl_certs_dir" / "site.pem").write_text(PEMS[17])
    config = (PLAIN + FILED).format(site=free_port(), directory=directory)
    with HAProxy(directory, config, binary=binary) as haproxy, Filed(haproxy) as running:
        yield running


@pytest.fixture
def filed(tmp_path: Path, haproxy_binary: str) -> Iterator[Filed]:
    with with_files(tmp_path, haproxy_binary) as running:
        yield running


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory, haproxy_binary: str) -> Iterator[Filed]:
    """Run a server for calls that change nothing."""
    with with_files(tmp_path_factory.mktemp("unchanged"), haproxy_binary) as running:
        yield running


def entries(**values: str) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in values.items()]


def test_files_and_text_live_and_once(filed: Filed) -> None:
    servers = {"one": SERVERS["one"] | {"weight": 20}}
    declared = {
        "backends": [{"name": "shop", "from": "plain", "servers": servers}],
        "maps": [{"name": "hosts.map", "entries": entries(a="1", b="2")}],
        "certificates": [{"name": "site.pem", "content": PEMS[18]}],
    }
    planned = filed.send(declared, dry_run=True, force=True)
    assert planned.status_code == 200 and planned.json()["valid"] and not planned.json()["reload"], planned.text
    assert planned.json()["created"] == ["map/hosts.map/entry/a", "map/hosts.map/entry/b"]
    assert (
        filed.files() == {"maps_dir/hosts.map": b"# by hand\nhand 1\n", "ssl_certs_dir/site.pem": PEMS[17].encode()}
        and filed.version() == 1
    )
    refused = filed.send(declared)
    assert refused.status_code == 409 and "PRIVATE" not in refused.text, refused.text
    assert [each["object"] for each in refused.json()["conflicts"]] == ["certificate/site.pem", "backend/shop/server/one"]
    done = filed.send(declared, force=True)
    assert done.status_code == 200 and not done.json()["reload"] and "PRIVATE" not in done.text, done.text
    assert (filed.shown(), filed.serial(), filed.states()["one"]) == ({"hand": "1", "a": "1", "b": "2"}, 18, "20") and filed.version() == 2
    assert filed.files()["maps_dir/hosts.map"] == b"# by hand\nhand 1\na 1\nb 2\n"
    before = filed.files(), filed.haproxy.file.read_bytes()
    again = filed.send(declared)
    assert again.json()["unchanged"] == ["map/hosts.map", "certificate/site.pem", "backend/shop", "backend/shop/server/one"], again.text
    assert (filed.files(), filed.haproxy.file.read_bytes()) == before and filed.version() == 2
    exported = filed.get("/v3/sidecar/export", owner="team-a").json()
    assert exported["certificates"] == declared["certificates"] and exported["maps"] == declared["maps"]
    assert filed.send(exported).json()["changed"] == []
    owners = stored(filed.directory / "dataplane/engine/state", "owner")
    assert "PRIVATE" not in owners and "map/hosts.map/entry/a" in owners


def test_entries_of_others_stay(filed: Filed) -> None:
    def hosts(**values: str) -> dict[str, Any]:
        return {"maps": [{"name": "hosts", "entries": entries(**values)}]}

    assert filed.send(hosts(a="1", b="2")).status_code == 200
    assert filed.send(hosts(a="1", c="3"), owner="team-b").status_code == 200
    clash = filed.send(hosts(b="9"), owner="team-b")
    conflict = {"object": "map/hosts.map/entry/b", "member": "value", "owners": ["team-a"], "theirs": "2", "mine": "9", "line": 4}
    assert clash.status_code == 409 and clash.json()["conflicts"] == [conflict], clash.text
    gone = filed.send(hosts(), max_delete=0)
    assert gone.status_code == 409 and "map/hosts.map/entry/b first" in gone.text, gone.text
    assert filed.send(hosts()).json()["deleted"] == ["map/hosts.map/entry/b"]
    assert filed.shown() == {"hand": "1", "a": "1", "c": "3"}
    assert filed.send({}, owner="team-b").json()["deleted"] == ["map/hosts.map/entry/a", "map/hosts.map/entry/c"]
    assert filed.shown() == {"hand": "1"} and filed.send({}).status_code == 200 and filed.shown() == {"hand": "1"}


def test_a_form_of_text_and_files(filed: Filed) -> None:
    page = ("general", ("sorry.http", b"HTTP/1.0 503 Sorry\r\n\r\nsorry\n"))
    new_map = ("maps", ("new.map", b"# ours\nx 1\n"))
    text = f"backend other from plain\n    http-request set-var(txn.x) path,map({filed.directory}/maps_dir/new.map)\n"
    done = filed.form(("configuration", ("other.cfg", text.encode())), page, new_map)
    assert done.status_code == 202 and done.json()["created"] == ["backend/other", "general/sorry.http", "map/new.map"], done.text
    assert filed.outcome(done.headers["reload-id"])["status"] == "succeeded"
    assert filed.files()["maps_dir/new.map"] == new_map[1][1]
    again = filed.form(("configuration", ("other.yaml", b"backends: []")), page, new_map, dry_run=True)
    assert again.status_code == 200 and again.json()["deleted"] == ["backend/other"], again.text
    named = filed.form(page, ("configuration", ("other.cfg", text.encode())))
    assert named.status_code == 409 and "new.map referenced in haproxy conf at line" in named.text, named.text
    assert "maps_dir/new.map" in filed.files()
    wrong = filed.form(("mops", ("new.map", b"x 1\n")))
    assert wrong.status_code == 400 and "part mops, new.map: unknown, send configuration, maps" in wrong.text


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ({"maps": [{"name": "a.map"}]}, "entries in body is a list"),
        ({"maps": [{"name": "a.map", "entries": [{"key": "x"}]}]}, "is not an entry, which has key and value"),
        ({"maps": [{"name": "a.map", "entries": entries(x="1") * 2}]}, "the key 'x' is declared twice"),
        ({"maps": [{"name": "../a", "entries": []}]}, "not a file name"),
        ({"general": [{"name": "a", "masked": "<masked>"}]}, "masked in body is unknown; expected name and content"),
        ({"general": [{"name": "a", "content": "x"}] * 2}, "general/a is declared twice"),
        ({"certificats": []}, 'did you mean \\"certificates\\"?'),
    ],
)
def test_what_is_no_file(unchanged: Filed, declared: Any, why: str) -> None:
    refused = unchanged.send(declared)
    assert refused.status_code == 422 and why in refused.text, refused.text


def test_a_token_is_for_what_the_files_were(filed: Filed) -> None:
    declared = {"maps": [{"name": "hosts.map", "entries": entries(a="1")}]}
    tokens = [filed.send(declared, dry_run=True).json()["plan_token"] for _ in range(2)]
    path = filed.directory / "maps_dir" / "hosts.map"
    path.write_text("hand 1\na 5\n")
    stale = filed.carry_out(tokens[0])
    assert stale.status_code == 412 and path.read_text() == "hand 1\na 5\n", stale.text
    path.write_text("hand 1\n")
    filed.stop()
    filed.start()
    done = filed.carry_out(tokens[1])
    assert done.status_code == 200 and filed.shown() == {"hand": "1", "a": "1"}, done.text


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("set server shop/one weight 33", "weight of backend/shop/server/one is 33 in the running HAProxy, and was 10 when"),
        ("set server shop/one state maint", "state of backend/shop/server/one is maint in the running HAProxy, and was ready when"),
        ("add map {directory}/maps_dir/hosts.map x 1", "map/hosts.map has been changed in the running HAProxy"),
    ],
)
def test_a_token_is_for_what_the_process_was(filed: Filed, command: str, said: str) -> None:
    server = SERVERS["one"] | {"weight": 20}
    declared = {
        "backends": [{"name": "shop", "from": "plain", "servers": {"one": server}}],
        "maps": [{"name": "hosts.map", "entries": entries(a="1")}],
    }
    token = filed.send(declared, dry_run=True, force=True).json()["plan_token"]
    before = filed.files(), filed.text()
    filed.haproxy.ask(command.format(directory=filed.directory))
    live = filed.shown(), filed.states()
    stale = filed.carry_out(token)
    assert stale.status_code == 412 and said in stale.json()["message"], stale.text
    assert (filed.files(), filed.text()) == before and (filed.shown(), filed.states()) == live
    again = filed.carry_out(filed.send(declared, dry_run=True, force=True).json()["plan_token"])
    assert again.status_code == 200 and filed.states()["one"] == "20" and filed.shown() == {"hand": "1", "a": "1"}, again.text


@pytest.mark.parametrize("number", [2, pytest.param(1000, marks=pytest.mark.soak)])
def test_a_value_of_the_process_makes_a_token_stale_each_time(sidecar: Applied, number: int) -> None:
    for turn in range(number):
        token = sidecar.apply(TEXT.replace("weight 10", "weight 50"), dry_run=True, force=True).json()["plan_token"]
        sidecar.haproxy.ask(f"set server shop/one weight {turn % 40 + 60 * (turn % 2)}")
        stale = sidecar.carry_out(token)
        assert stale.status_code == 412 and "weight of backend/shop/server/one is" in stale.text, stale.text
    assert sidecar.version() == 1
