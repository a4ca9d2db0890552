"""`ctl get reload`: why a reload was needed, and why HAProxy refused one."""

import json
import re
import socket

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl
from tests.haproxy.process import free_port


def test_a_reload_has_its_reasons(ctl: Ctl, sidecar: Quick) -> None:
    ctl.output("set", "backend/shop", "fullconn=100", "--wait")
    id_ = json.loads(ctl.output("get", "reload", "-o", "json"))[-1]["id"]
    reason = "fullconn: HAProxy applies this only by a reload (backend shop, line "
    (row,) = [line for line in ctl.output("get", "reload").splitlines() if line.startswith(id_)]
    assert row.split()[1] == "succeeded" and f"  {reason}" in row, row
    shown = dict(line.split(maxsplit=1) for line in ctl.output("get", "reload", id_).splitlines() if line[0] != " ")
    assert (shown["id"], shown["status"]) == (id_, "succeeded") and shown["reasons"].startswith(reason) and "error" not in shown
    assert f"reload/{id_}\n" in ctl.output("get", "reload", "-o", "name")
    assert "404 " in ctl.refusal(1, "get", "reload", "2020-01-01-999")


def test_a_failed_reload_has_the_error_and_what_became_of_the_change(ctl: Ctl, sidecar: Quick) -> None:
    with socket.create_server(("127.0.0.1", port := free_port())):
        failed = ctl.refusal(5, "create", "frontend/site/bind/taken", "address=127.0.0.1", f"port={port}", "--wait")
    id_ = failed.split()[3]
    head, below = re.split(rf"{id_} +failed +", ctl.output("get", "reloads"))
    assert head.startswith("ID ") and "bind: HAProxy applies this only by a reload (frontend site, line " in below
    error = below.splitlines()[1]
    assert error.startswith("    ") and "cannot bind socket" in error and f"127.0.0.1:{port}" in error
    shown = ctl.output("get", f"reload/{id_}")
    assert f"error             {error.strip()}\n" in shown
    entry = next(row["id"] for row in sidecar.get("/v3/sidecar/history").json() if row["outcome"] == "taken_back")
    assert f"\nchanges           entry {entry} by admin: rolled back\n" in shown
    record = json.loads(ctl.output("get", "reload", id_, "-o", "json"))
    assert (record["status"], record["changes"][0]["outcome"]) == ("failed", "taken_back") and record["reload_timestamp"]
    rows = {line.split()[0]: line for line in ctl.output("history", "--limit", "5").splitlines()}
    assert "  rolled back  " in rows[entry]
    (later,) = [line for line in rows.values() if "delete frontend/site/bind/taken" in line]
    assert "  file only  " in later
    assert "\noutcome  file only\n" in ctl.output("history", later.split()[0])
