"""`ctl history`, `workers`, `overrides`, `whoami` and `export`."""

import json

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl


def test_the_history_and_one_entry_of_it(ctl: Ctl, sidecar: Quick) -> None:
    sidecar.put_server("web1", {"weight": 33}, "shop")
    lines = ctl.output("history", "--object", "backend/shop", "--limit", "1").splitlines()
    assert lines[0].split() == ["ID", "TIME", "AUTHOR", "OUTCOME", "VERSION", "SUMMARY"]
    number, _, author, outcome, *_ = lines[1].split()
    assert (author, outcome, len(lines)) == ("admin", "live", 2) and lines[1].endswith("weight 10 → 33 on backend/shop/server/web1")
    entry = ctl.output("history", number)
    assert "+    server web1 127.0.0.1:1 weight 33\n" in entry and "member=weight old=10 new=33" in entry
    assert "weight 33" in ctl.output("history", number, "--diff", str(int(number) - 1))
    assert "404" in ctl.refusal(1, "history", "99999")
    assert ctl.output("history", "--until", "2020-01-01T00:00:00Z") == ""
    assert ctl.output("history", "--since", "1h", "--until", "0s", "--object", "backend/shop", "--limit", "1").splitlines() == lines


def test_workers_overrides_and_whoami(ctl: Ctl, sidecar: Quick) -> None:
    assert ctl.output("workers").splitlines()[1].split()[:2] == [str(sidecar.haproxy.worker_pid()), "yes"]
    assert sidecar.put("/v3/services/haproxy/runtime/backends/shop/servers/web2", {"admin_state": "drain"}).status_code == 200
    assert ctl.output("overrides").splitlines()[1].split()[:4] == ["backend/shop/server/web2", "admin_state", "drain", "ready"]
    assert sidecar.delete("/v3/sidecar/overrides/backend/shop/server/web2").status_code == 204
    assert ctl.output("overrides") == ""
    assert ctl.output("whoami") == "name     admin\naddress  127.0.0.1\nlimited  no\n"


def test_what_is_exported_can_be_applied_again(ctl: Ctl) -> None:
    ctl.output("apply", "-f", "-", "--owner", "exported", "--wait", text="backends: [{name: exported, from: plain, mode: tcp}]")
    text = ctl.output("export", "--owner", "exported")
    assert sorted(text.replace("-", " ").split("\n")) == ["", "  from: plain", "  mode: tcp", "  name: exported", "backends:"]
    assert "0 created, 0 changed, 0 deleted, 1 unchanged" in ctl.output("apply", "-f", "-", "--owner", "exported", text=text)
    assert json.loads(ctl.output("export", "--owner", "exported", "-o", "json"))["backends"][0]["mode"] == "tcp"
