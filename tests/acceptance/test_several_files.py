"""Run HAProxy with several files: edit each section in its file, change all files together, and edit any of them by hand."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.quick import Quick
from tests.haproxy.process import HAProxy, free_port

MAIN = """\
# ours
global
  stats socket {stats} mode 600 level admin
  stats timeout 2m

defaults base
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
"""
WEB = """\
# the shop's
frontend web from base
  bind 127.0.0.1:%d
  default_backend shop

# keep
backend shop from base
  server one 127.0.0.1:1 weight 10
"""
API = "# the partners'\nbackend api from base\n  server one 127.0.0.1:1 weight 10\n"


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Quick]:
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "10-web.cfg").write_text(WEB % free_port())
    (tmp_path / "conf.d" / "20-api.cfg").write_text(API)
    more = {"config_files_after": [str(tmp_path / "conf.d")]}
    ours = {"transaction": {"transaction_dir": str(tmp_path / "t"), "backups_number": 2}}
    with (
        HAProxy(tmp_path, MAIN, arguments=("-f", str(tmp_path / "conf.d"))) as haproxy,
        Quick(haproxy, settings=more, dataplaneapi=ours) as running,
    ):
        yield running


@pytest.fixture
def conf(sidecar: Quick) -> Path:
    return sidecar.directory / "conf.d"


def body(sidecar: Quick) -> str:
    return sidecar.haproxy.file.read_text().split("\n", 4)[-1] if sidecar.version() > 1 else sidecar.haproxy.file.read_text()


def weight(sidecar: Quick, server: str) -> str:
    return sidecar.haproxy.ask(f"get weight {server}").split()[0]


def test_all_sections_are_seen(sidecar: Quick) -> None:
    assert [each["name"] for each in sidecar.get("backends").json()] == ["shop", "api"]
    assert [each["name"] for each in sidecar.get("frontends").json()] == ["web"]
    assert sidecar.get("backends/shop").json()["from"] == "base"


def test_a_live_change_is_live_and_in_its_file(sidecar: Quick, conf: Path) -> None:
    before, api = (conf / "10-web.cfg").read_text(), (conf / "20-api.cfg").stat()
    server = {"name": "one", "address": "127.0.0.1", "port": 1, "weight": 20}
    answer = sidecar.put("backends/shop/servers/one", server, version=sidecar.version())
    assert answer.status_code == 200, answer.text
    assert weight(sidecar, "shop/one") == "20"
    assert (conf / "10-web.cfg").read_text() == before.replace("weight 10", "weight 20")
    assert (conf / "20-api.cfg").stat().st_mtime_ns == api.st_mtime_ns
    assert body(sidecar) == MAIN.replace("{stats}", str(sidecar.haproxy.stats))


def test_a_transaction_over_several(sidecar: Quick, conf: Path) -> None:
    web, api, before = (conf / "10-web.cfg").read_text(), (conf / "20-api.cfg").read_text(), body(sidecar)
    transaction = sidecar.transaction()
    assert sidecar.post("backends", {"name": "new", "from": "base"}, transaction_id=transaction).status_code == 202
    assert sidecar.delete("backends/shop/servers/one", transaction_id=transaction).status_code == 202
    assert (
        sidecar.put("defaults/base", {**sidecar.get("defaults/base").json(), "retries": 2}, transaction_id=transaction).status_code == 202
    )
    assert (conf / "10-web.cfg").read_text() == web
    assert sidecar.get("raw", transaction_id=transaction, file="20-api.cfg").text == api + "\nbackend new from base\n"
    assert sidecar.commit(transaction, force_reload=True).status_code == 200
    assert (conf / "20-api.cfg").read_text() == api + "\nbackend new from base\n"
    assert (conf / "10-web.cfg").read_text() == web.replace("  server one 127.0.0.1:1 weight 10\n", "")
    assert body(sidecar) == before + "  retries 2\n"
    assert "new" in sidecar.haproxy.ask("show backend")


def test_text_of_one_file(sidecar: Quick, conf: Path) -> None:
    text = sidecar.get("raw", file="20-api.cfg").text
    assert text == (conf / "20-api.cfg").read_text()
    assert sidecar.get("raw").text == sidecar.haproxy.file.read_text()
    other = sidecar.get("raw", file="/etc/passwd")
    assert other.status_code == 404
    assert "is not one of the configuration's files" in other.text
    answer = sidecar.post("raw", text.replace("weight 10", "weight 30"), version=sidecar.version(), file=str(conf / "20-api.cfg"))
    assert answer.status_code == 201, answer.text
    assert answer.text == (conf / "20-api.cfg").read_text() == text.replace("weight 10", "weight 30")
    assert weight(sidecar, "api/one") == "30"
    backup = sidecar.get("raw", version=sidecar.version() - 1, file="20-api.cfg")
    assert backup.text == text


def test_what_haproxy_refuses_is_told_with_its_file(sidecar: Quick, conf: Path) -> None:
    before = (conf / "20-api.cfg").read_text()
    answer = sidecar.post("raw", "backend api from base\n  server one 127.0.0.1:1 chek\n", version=sidecar.version(), file="20-api.cfg")
    assert answer.status_code == 400
    assert "line 2 in 'backend api from base': server one 127.0.0.1:1 chek" in answer.json()["message"]
    assert answer.json()["alerts"][0]["file"] == str(conf / "20-api.cfg")
    assert (conf / "20-api.cfg").read_text() == before
    other = sidecar.post("raw", "backend \0file:/etc/passwd\0\n", version=sidecar.version())
    assert other.status_code == 400


def test_edits_by_hand_are_noticed_in_any_file(sidecar: Quick, conf: Path) -> None:
    stale = sidecar.version()
    (conf / "20-api.cfg").write_text((conf / "20-api.cfg").read_text() + "\nbackend byhand from base\n")
    assert sidecar.post("backends", {"name": "late", "from": "base"}, version=stale).status_code == 409
    assert sidecar.version() == stale + 1
    (conf / "30-more.cfg").write_text("backend more from base\n")
    assert sidecar.post("backends", {"name": "late", "from": "base"}, version=stale + 1).status_code == 409
    assert [each["name"] for each in sidecar.get("backends").json()] == ["shop", "api", "byhand", "more"]
    answer = sidecar.post("backends", {"name": "late", "from": "base"}, version=stale + 2, force_reload=True)
    assert answer.status_code == 201, answer.text
    assert (conf / "30-more.cfg").read_text() == "backend more from base\n\nbackend late from base\n"
    assert "late" in sidecar.haproxy.ask("show backend")


def test_a_failed_reload_puts_back_all_of_them(sidecar: Quick, conf: Path) -> None:
    before = {path.name: path.read_text() for path in conf.glob("*.cfg")}
    taken = free_port()
    with socket.create_server(("127.0.0.1", taken)):
        transaction = sidecar.transaction()
        bind = {"name": "taken", "address": "127.0.0.1", "port": taken}
        assert sidecar.post("frontends/web/binds", bind, transaction_id=transaction).status_code == 202
        assert sidecar.post("backends", {"name": "lost", "from": "base"}, transaction_id=transaction).status_code == 202
        answer = sidecar.commit(transaction, force_reload=True)
    assert answer.status_code == 400, answer.text
    assert {path.name: path.read_text() for path in conf.glob("*.cfg")} == before
    assert [each["name"] for each in sidecar.get("backends").json()] == ["shop", "api"]


def test_all_of_it_survives_a_restart(sidecar: Quick, conf: Path) -> None:
    version, before = sidecar.version(), {path.name: path.read_text() for path in conf.glob("*.cfg")}
    transaction = sidecar.transaction()
    assert sidecar.delete("backends/shop/servers/one", transaction_id=transaction).status_code == 202
    sidecar.kill()
    sidecar.start()
    assert sidecar.version() == version
    assert sidecar.commit(transaction, force_reload=True).status_code == 200
    before["10-web.cfg"] = before["10-web.cfg"].replace("  server one 127.0.0.1:1 weight 10\n", "")
    assert {path.name: path.read_text() for path in conf.glob("*.cfg")} == before


def test_a_conflict_names_its_file(sidecar: Quick, conf: Path) -> None:
    declared = {"backends": [{"name": "api", "servers": {"one": {"address": "127.0.0.1", "port": 99}}}]}
    refused = sidecar.put("/v3/sidecar/apply", declared, owner="team-a")
    (conflict,) = refused.json()["conflicts"]
    where = {"object": "backend/api/server/one", "member": "port", "line": 3, "file": str(conf / "20-api.cfg")}
    assert refused.status_code == 409 and conflict.items() >= where.items(), refused.text
