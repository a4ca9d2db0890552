"""Stage stored files of every kind in transactions, with a real HAProxy: a commit writes all files with the text, or nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from haproxy_native.disk.database import KEYS
from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.acceptance.test_access import Caller
from tests.databases import connected
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER
from tests.tls.pems import made

CONFIG = (
    PLAIN
    + """\
frontend site from plain
    bind 127.0.0.1:{port} ssl crt-list {directory}/ssl_certs_dir/list.txt
    http-request set-var(txn.a) path,map({directory}/maps_dir/hosts.map)
    acl known src -f {directory}/acl_dir/known.lst
    http-request deny if !known
    errorfile 503 {directory}/general_storage_dir/503.http
    default_backend app

backend app from plain
    server one 127.0.0.1:1 weight 10
"""
)
OLD, NEW = (made(f"{name}.example", serial).pem for name, serial in (("old", 17), ("new", 18)))
PAGE = "HTTP/1.0 503 Sorry\r\nContent-Type: text/plain\r\n\r\n{}\n"
STORAGE, ENTRIES = f"{SERVICES}/storage", f"{SERVICES}/runtime/maps/hosts.map/entries"
TRANSACTIONS = f"{SERVICES}/transactions"
ROLES = {
    "entries": [
        {"objects": "**", "may": ["read"]},
        {"objects": "map/hosts.map/entry/*", "may": ["create", "change", "delete"]},
    ]
}
MEMBERS = {"name": "one", "address": "127.0.0.1", "port": 1}


class Stored(Quick):
    def begun(self) -> str:
        return str(self.post(TRANSACTIONS, version=self.version()).json()["id"])

    def upload(self, path: str, name: str, content: str, **query: Any) -> httpx2.Response:
        url = f"http://127.0.0.1:{self.port}{path}"
        return httpx2.post(url, params=query, files={"file_upload": (name, content.encode())}, auth=USER, timeout=60, verify=False)

    def files(self) -> dict[str, str]:
        return {f"{path.parent.name}/{path.name}": path.read_bytes().decode() for path in sorted(self.directory.glob("*_dir/*"))}

    def entries(self) -> dict[str, str]:
        rows = self.haproxy.ask(f"show map {self.directory}/maps_dir/hosts.map").splitlines()
        return dict(row.split(" ", 2)[1:] for row in rows if row)

    def certificates(self) -> str:
        return self.haproxy.ask(f"show ssl crt-list {self.directory}/ssl_certs_dir/list.txt")

    def stage_all(self, id_: str) -> None:
        """Stage a change of each kind of file, and of the text."""
        within, certs = {"transaction_id": id_}, self.directory / "ssl_certs_dir"
        answers = [
            self.upload(f"{STORAGE}/ssl_certificates", "new.pem", NEW, **within),
            self.put(f"{STORAGE}/ssl_crt_lists/list.txt", f"{certs}/new.pem\n", **within),
            self.delete(f"{STORAGE}/ssl_certificates/old.pem", **within),
            self.put(f"{STORAGE}/maps/hosts.map", "/b two\n", **within),
            self.upload(f"{STORAGE}/general", "more.http", PAGE.format("more"), **within),
            self.delete(f"{STORAGE}/general/unused.http", **within),
            self.put("/v3/sidecar/acls/known.lst", "127.0.0.1\n10.0.0.0/8\n", **within),
            self.put("backends/app/servers/one", MEMBERS | {"weight": 20}, **within),
        ]
        assert all(each.is_success for each in answers), [(each.status_code, each.text) for each in answers]


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Stored]:
    stored = {
        "ssl_certs_dir": {"old.pem": OLD, "list.txt": f"{tmp_path}/ssl_certs_dir/old.pem\n"},
        "maps_dir": {"hosts.map": "# by hand\n/a one\n"},
        "acl_dir": {"known.lst": "127.0.0.1\n"},
        "general_storage_dir": {"503.http": PAGE.format("sorry"), "unused.http": PAGE.format("unused")},
    }
    for directory, files in stored.items():
        (tmp_path / directory).mkdir()
        for name, content in files.items():
            (tmp_path / directory / name).write_bytes(content.encode())
    users = [{"name": USER[0], "password": USER[1], "insecure": True, "role": "admin"}]
    users += [{"name": "ann", "password": "ann", "insecure": True, "role": "entries"}]
    config = CONFIG.format(port=free_port(), directory=tmp_path)
    own = {"user": users, "roles": ROLES}
    with HAProxy(tmp_path, config, binary=binaries.exactly("3.4")) as haproxy, Stored(haproxy, dataplaneapi=own) as running:
        yield running


def test_all_kinds_come_with_the_commit(sidecar: Stored) -> None:
    before, id_ = sidecar.files(), sidecar.begun()
    sidecar.stage_all(id_)
    assert sidecar.files() == before and sidecar.entries() == {"/a": "one"}
    listed = sidecar.get(f"{STORAGE}/ssl_certificates", transaction_id=id_).json()
    assert [each["storage_name"] for each in listed] == ["new.pem"]
    assert sidecar.get(f"{STORAGE}/maps/hosts.map", transaction_id=id_).text == "/b two\n"
    assert sidecar.get(f"{STORAGE}/general/unused.http", transaction_id=id_).status_code == 404
    assert sidecar.get(f"{STORAGE}/general/unused.http").status_code == 200
    planned = sidecar.post("/v3/sidecar/plan", transaction_id=id_).json()
    assert planned["valid"], planned
    done = sidecar.commit(id_)
    assert done.is_success, done.text
    if "Reload-Id" in done.headers:
        assert sidecar.outcome(done.headers["Reload-Id"])["status"] == "succeeded"
    assert sidecar.files() == {
        "acl_dir/known.lst": "127.0.0.1\n10.0.0.0/8\n",
        "general_storage_dir/503.http": PAGE.format("sorry"),
        "general_storage_dir/more.http": PAGE.format("more"),
        "maps_dir/hosts.map": "/b two\n",
        "ssl_certs_dir/list.txt": f"{sidecar.directory}/ssl_certs_dir/new.pem\n",
        "ssl_certs_dir/new.pem": NEW,
    }
    assert sidecar.entries() == {"/b": "two"} and "new.pem" in sidecar.certificates() and "old.pem" not in sidecar.certificates()
    assert "10.0.0.0/8" in sidecar.haproxy.ask(f"show acl {sidecar.directory}/acl_dir/known.lst")
    server = sidecar.server("one")
    assert server and server.uweight == 20 and sidecar.version() == 2


def test_nothing_of_what_is_discarded_refused_or_outdated(sidecar: Stored) -> None:
    before, text = sidecar.files(), sidecar.text()
    discarded = sidecar.begun()
    sidecar.stage_all(discarded)
    assert sidecar.delete(f"{TRANSACTIONS}/{discarded}").status_code == 204
    with connected(sidecar.directory / "dataplane/engine/state" / KEYS) as keys:
        assert keys.execute("SELECT count(*) FROM staged_file").fetchone() == (0,)
    refused = sidecar.begun()
    gone = sidecar.put(f"{STORAGE}/ssl_crt_lists/list.txt", f"{sidecar.directory}/ssl_certs_dir/none.pem\n", transaction_id=refused)
    kept = sidecar.put(f"{STORAGE}/maps/hosts.map", "/c three\n", transaction_id=refused)
    said = sidecar.commit(refused)
    assert gone.is_success and kept.is_success and said.status_code == 400 and "none.pem" in said.text, said.text
    named = sidecar.begun()
    assert sidecar.delete(f"{STORAGE}/general/503.http", transaction_id=named).is_success
    in_use = sidecar.commit(named)
    assert in_use.status_code == 409 and "503.http referenced in haproxy conf at line" in in_use.text, in_use.text
    assert (sidecar.files(), sidecar.text(), sidecar.entries()) == (before, text, {"/a": "one"})
    for query in ({}, {"on_conflict": "merge"}):
        outdated = sidecar.begun()
        sidecar.stage_all(outdated)
        other = sidecar.put(f"{STORAGE}/maps/hosts.map", f"/x {len(query)}\n")
        assert other.is_success
        moved = sidecar.commit(outdated, **query)
        assert moved.status_code == 409 and "map/hosts.map is changed here" in moved.text, moved.text
        assert sidecar.files() == before | {"maps_dir/hosts.map": f"/x {len(query)}\n"} and sidecar.text() == text


def test_who_may_change_entries_changes_these_alone_by_every_call(sidecar: Stored) -> None:
    ann = Caller(sidecar, "ann")
    path, forms = sidecar.directory / "maps_dir" / "hosts.map", {"transaction_id": ann.ask("POST", TRANSACTIONS, version=1).json()["id"]}
    synced = {**forms, "force_sync": True}
    assert ann.ask("POST", ENTRIES, {"key": "/b", "value": "two"}, **synced).status_code == 201
    assert ann.ask("PUT", f"{ENTRIES}/%2Fa", {"value": "1"}, **synced).status_code == 200
    assert ann.ask("PUT", f"{STORAGE}/maps/hosts.map", "# by hand\n/a 1\n/b two\n/c three\n", **forms).status_code == 200
    refused = ann.ask("PUT", f"{STORAGE}/maps/hosts.map", "# mine\n/a 1\n/b two\n/c three\n", **forms)
    assert refused.status_code == 403 and "may not change map/hosts.map;" in refused.json()["message"], refused.text
    assert ann.ask("DELETE", f"{STORAGE}/maps/hosts.map", **forms).status_code == 403
    assert ann.ask("PUT", f"{STORAGE}/ssl_certificates/old.pem", NEW, **forms).status_code == 403
    done = ann.ask("PUT", f"{TRANSACTIONS}/{forms['transaction_id']}")
    assert done.is_success and path.read_text() == "# by hand\n/a 1\n/b two\n/c three\n", done.text
    assert sidecar.entries() == {"/a": "1", "/b": "two", "/c": "three"}
    whole = ann.ask("PUT", f"{STORAGE}/maps/hosts.map", "# by hand\n/a 1\n/c three\n")
    assert whole.is_success and sidecar.entries() == {"/a": "1", "/c": "three"}, whole.text
    turned = ann.ask("PUT", f"{STORAGE}/maps/hosts.map", "# by hand\n/c three\n/a 1\n")
    assert turned.status_code == 403 and path.read_text() == "# by hand\n/a 1\n/c three\n", "the order is the map's"


def test_what_was_answered_survives_a_kill_at_once(sidecar: Stored) -> None:
    deleted, id_ = sidecar.begun(), sidecar.begun()
    within = {"transaction_id": id_}
    calls = (
        lambda: sidecar.delete(f"{TRANSACTIONS}/{deleted}"),
        lambda: sidecar.put("backends/app/servers/one", MEMBERS | {"weight": 20}, **within),
        lambda: sidecar.put(f"{STORAGE}/maps/hosts.map", "/b two\n", **within),
        lambda: sidecar.commit(id_),
    )
    for call in calls:
        answer = call()
        assert answer.is_success, answer.text
        sidecar.kill()
        sidecar.start()
        left = [] if call is calls[-1] else [id_]
        assert [each["id"] for each in sidecar.get(TRANSACTIONS).json()] == left
    assert (sidecar.directory / "maps_dir/hosts.map").read_text() == "/b two\n" and "weight 20" in sidecar.text()
