"""`ctl references` and `rename`."""

import json

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl


def test_what_names_a_backend_and_another_name(ctl: Ctl, sidecar: Quick) -> None:
    named = ctl.output("references", "backend/shop")
    assert f"{sidecar.haproxy.file}:" in named
    before = sidecar.text()
    assert "backend shop" in ctl.output("rename", "backend/shop", "store", "--dry-run") and sidecar.text() == before
    case = {"request": {"url": "http://a/", "frontend": "site"}, "expect": {"backend": "shop"}}
    ctl.output("call", "replaceRoutingTest", "--name", "site", "-d", json.dumps({"cases": [case]}))
    ctl.output("apply", "-f", "-", "--owner", "a", "--force", text=json.dumps({"backends": [{"name": "shop", "mode": "http"}]}))
    planned = ctl.output("rename", "backend/shop", "store", "--dry-run", "--tests")
    assert "renamed with it: owner/a\n" in planned and "breaks test site, GET http://a/: backend is store, not shop" in planned
    ctl.output("call", "deleteRoutingTest", "--name", "site")
    ctl.output("rename", "backend/shop", "store", "--wait")
    assert sidecar.line("backend store") and not sidecar.line("backend shop")
    assert "404" in ctl.refusal(1, "references", "backend/shop")


def test_what_nothing_names(ctl: Ctl) -> None:
    answer = ctl("references", "backend/shop/server/web1")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "nothing refers to backend/shop/server/web1\n")
    assert ctl("references", "backend/shop/server/web1", "-o", "json").stderr == ""
