"""`ctl explain` and `test`."""

import json
from pathlib import Path
from xml.etree.ElementTree import parse

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl

OWN = {"request": {"url": "http://a/own", "frontend": "site"}, "expect": {"status": 403}}
OTHER = {"request": {"url": "http://a/", "frontend": "site"}, "expect": {"backend": "blog"}}


def test_the_way_of_a_request(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    shown = ctl.output("explain", "http://a/own", "--frontend", "site", "-H", "X-A: 1")
    lines = [line.strip().partition(": ")[2] or line for line in shown.splitlines()]
    assert shown.startswith("site, 127.0.0.1:") and "http-request deny if own" in lines and "-> status 403\n" in shown
    way = ctl.output("explain", "/", "--host", "a", "--frontend", "site", "-X", "POST", "--src", "10.0.0.1")
    assert "-> backend shop: web1 (up, weight 10), web2 (up, weight 20), here to web" in way
    assert json.loads(ctl.output("explain", "/", "--host", "a", "--frontend", "site", "-o", "json"))["backend"] == "shop"
    (tmp_path / "other.cfg").write_text("frontend f\n mode http\n timeout client 1s\n bind :80\n http-request return status 204\n")
    assert "-> status 204" in ctl.output("explain", "http://a/", "--config", str(tmp_path / "other.cfg"))
    assert "is not NAME: VALUE" in ctl.refusal(2, "explain", "http://a/", "-H", "X")
    assert "no listener accepts this request" in ctl.refusal(1, "explain", "http://a/", "--frontend", "none")


def test_tests(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    file, junit = tmp_path / "site.yaml", tmp_path / "out.xml"
    file.write_text(json.dumps({"cases": [OWN, OTHER]}))
    failed = ctl("test", "-f", str(file), "--junit", str(junit), "--coverage")
    assert failed.returncode == 5, failed.stderr
    assert failed.stdout.splitlines()[:2] == ["FAILED GET http://a/", "  backend is shop, not blog"]
    assert "1 passed, 1 failed" in failed.stdout and parse(junit).getroot().get("failures") == "1"
    file.write_text("cases: [{request: {url: http://a/own, frontend: site}, expect: {status: 403}}]")
    assert "1 passed, 0 failed" in ctl.output("test", "-f", str(file))
    assert ctl("test", "-f", str(file), "--fail-under", "100").returncode == 0
    file.write_text("cases: [{request: {url: http://a/, frontend: site}, expect: {status: 200}}]")
    assert ctl("test", "-f", str(file), "--fail-under", "100").returncode == 5
    assert "there is no test none" in ctl.refusal(1, "test", "none")
    assert "name stored tests or --file, not both" in ctl.refusal(2, "test", "none", "-f", str(file))
    file.write_text("[]")
    assert "has no list of cases" in ctl.refusal(2, "test", "-f", str(file))


def test_what_breaks_a_test(ctl: Ctl, sidecar: Quick) -> None:
    ctl.output("call", "replaceRoutingTest", "--name", "site", "-d", json.dumps({"cases": [OWN]}))
    assert "site" in ctl.output("get", "test")
    declared = {"backends": [{"name": "shop", "http_request_rule_list": [{"type": "allow"}]}]}
    refused = ctl("apply", "-f", "-", "--owner", "a", "--force", "--tests", text=json.dumps(declared))
    assert (refused.returncode, "this breaks 1 test of routing" in refused.stderr) == (1, True), refused
    planned = ctl("plan", "-f", "-", "--owner", "a", "--force", "--tests", text=json.dumps(declared))
    assert planned.returncode != 0 and "breaks test site, GET http://a/own: status is 200, not 403" in planned.stdout, planned
    assert "breaks test" not in ctl.output("plan", "-f", "-", "--owner", "a", "--force", text=json.dumps(declared))
    ctl.output("call", "deleteRoutingTest", "--name", "site")
