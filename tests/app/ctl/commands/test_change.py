"""Changes of one line, beside a real server and HAProxy."""

import json
from pathlib import Path

import pytest

from tests.acceptance.quick import Quick
from tests.app.authority import Authority
from tests.app.ctl.calls import Ctl

HISTORY = "/v3/sidecar/history"


def test_a_server(ctl: Ctl, sidecar: Quick) -> None:
    """In maintenance and back, in the process; its weight in file and process."""
    assert ctl.output("maint", "shop/web1", "-m", "new disk") == "backend/shop/server/web1: maint, down\n"
    assert "MAINT" in sidecar.stat("web1", "shop")["status"]
    assert sidecar.get(HISTORY).json()[0]["message"] == "new disk"
    assert ctl.output("ready", "backend/shop/server/web1").startswith("backend/shop/server/web1: ready, ")
    assert "MAINT" not in sidecar.stat("web1", "shop")["status"]
    text = sidecar.text()
    planned = ctl.output("weight", "shop/web1", "40", "--dry-run")
    assert "+    server web1 127.0.0.1:1 weight 40\n" in planned and "live: set server shop/web1 weight 40\n" in planned, planned
    assert sidecar.text() == text
    assert ctl.output("weight", "shop/web1", "40").endswith(f"version {sidecar.version()}: live\n")
    assert "server web1 127.0.0.1:1 weight 40" in sidecar.text() and sidecar.stat("web1", "shop")["weight"] == "40"
    assert "web9" in ctl.refusal(1, "weight", "shop/web9", "1") and "shop is not known" in ctl.refusal(2, "ready", "shop/web1/x")


def test_members(ctl: Ctl, sidecar: Quick) -> None:
    """Numbers, words, nested members, what has been a text, and removal."""
    ctl.output("set", "backend/shop", "balance.algorithm=first", 'cookie.name="7"', 'description="8"', "--wait")
    shown = json.loads(ctl.output("get", "backend/shop", "-o", "json"))
    assert (shown["balance"], shown["cookie"]["name"], shown["description"]) == ({"algorithm": "first"}, "7", "8")
    ctl.output("set", "backend/shop", "description=9", "cookie=", "--wait")
    shown = json.loads(ctl.output("get", "backend/shop", "-o", "json"))
    assert shown["description"] == "9" and "cookie" not in shown
    assert ctl.output("set", "backend/shop/server/web2", "weight=7").endswith(": live\n") and sidecar.stat("web2", "shop")["weight"] == "7"
    assert "deny" in ctl.output("set", "backend/shop/http_request_rule/0", "deny_status=429", "--dry-run")
    assert "is no MEMBER=VALUE" in ctl.refusal(2, "set", "backend/shop", "mode")
    assert "weight in body must be an integer, not a string" in ctl.refusal(1, "set", "backend/shop/server/web2", "weight=heavy")
    assert "is no object of the configuration" in ctl.refusal(2, "set", "backend", "mode=http")


def test_objects_go(ctl: Ctl, sidecar: Quick) -> None:
    text = sidecar.text()
    planned = ctl.output("delete", "backend/shop/http_request_rule/0", "--dry-run")
    assert "-    http-request deny if own\n" in planned and "reload: " in planned and sidecar.text() == text
    done = ctl("delete", "backend/shop/http_request_rule/0", "--wait", "-m", "too strict")
    assert done.returncode == 0 and "succeeded" in done.stderr and "http-request" not in sidecar.text(), done
    assert sidecar.get(HISTORY).json()[0]["message"] == "too strict"
    assert "shop" in ctl.refusal(1, "delete", "backend/shop"), "the frontend refers to it"


def test_a_map(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    assert sidecar.client.post("/v3/services/haproxy/storage/maps", files={"file_upload": ("hosts.map", "a.example shop\n")}).is_success
    where = Path(sidecar.get("/v3/services/haproxy/storage/maps").json()[0]["file"])
    rule = {"type": "set-var", "var_name": "be", "var_scope": "txn", "var_expr": f"req.hdr(host),map({where})"}
    assert sidecar.post("backends/shop/http_request_rules/0", rule, version=sidecar.version(), force_reload=True).is_success
    ctl.output("map", "add", "hosts.map", "b.example", "shop")
    ctl.output("map", "add", "hosts.map", "a.example", "other")
    assert [line.split()[-2:] for line in where.read_text().splitlines()] == [["a.example", "other"], ["b.example", "shop"]]
    assert "b.example shop" in sidecar.haproxy.ask(f"show map {where}")
    ctl.output("map", "del", "hosts.map", "a.example")
    assert where.read_text() == "b.example shop\n" and "b.example" in ctl.output("map", "show", "hosts.map")
    assert "hosts.map" in ctl.output("map", "list")
    assert "map add takes MAP KEY VALUE" in ctl.refusal(2, "map", "add", "hosts.map", "c.example")


def test_a_certificate(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    both = tmp_path / "shop.pem"
    both.write_bytes(b"".join(file.read_bytes() for file in authority.issue("first")))
    ctl.output("cert", "put", str(both))
    path = "/v3/services/haproxy/storage/ssl_certificates/shop.pem"
    before = sidecar.get(path).json()["serial"]
    ctl.output("cert", "put", "-", "--name", "shop.pem", text=b"".join(file.read_bytes() for file in authority.issue("second")))
    assert "shop.pem" in ctl.output("cert", "list") and sidecar.get(path).json()["serial"] != before
    ctl.output("delete", "certificate/shop.pem")
    assert "shop.pem" not in ctl.output("cert", "list")


def test_the_whole_text(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    got = ctl("raw", "get")
    assert got.stdout == sidecar.text() and got.stderr == f"version {sidecar.version()}\n"
    file = tmp_path / "new.cfg"
    file.write_text(got.stdout.replace("weight 10", "weight 12"))
    assert "weight 12" in ctl.output("raw", "put", str(file), "--dry-run") and sidecar.text() == got.stdout
    assert "--version N says" in ctl.refusal(2, "raw", "put", str(file))
    assert "version" in ctl.refusal(3, "raw", "put", str(file), "--version", str(sidecar.version() + 1))
    ctl.output("raw", "put", str(file), "--version", str(sidecar.version()), "--wait")
    assert "weight 12" in sidecar.text()
    ctl.output("raw", "put", "-", "--force", "--wait", text=got.stdout)
    assert "weight 12" not in sidecar.text()
    assert ctl("raw", "put", "-", "--dry-run", text="backend x\n  nonsense\n").returncode == 1


def test_a_reload_and_what_differs(ctl: Ctl, sidecar: Quick) -> None:
    done = ctl("reload")
    assert done.returncode == 0 and "succeeded" in done.stderr, done
    assert ctl.output("drift") == "file and process agree\n"
    sidecar.haproxy.ask("set server shop/web1 weight 3")
    differing = ctl("drift")
    assert differing.returncode == 10 and "backend/shop/server/web1 weight: " in differing.stdout, differing
    sidecar.haproxy.ask("set server shop/web1 weight 10")


@pytest.mark.parametrize("command", ["set", "delete", "weight", "ready", "maint", "map", "cert", "raw", "reload"])
def test_help_has_an_example(ctl: Ctl, command: str) -> None:
    assert f"example: dataplaneapi ctl {command} " in ctl.output(command, "--help").replace("\n", " ") + " "
