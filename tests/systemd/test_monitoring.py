"""Check alert rules and dashboard: Prometheus accepts every expression, and the server has every metric in them."""

import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from haproxy_native.features.fleet.sealing import new_secret
from tests.acceptance.quick import PLAIN
from tests.app.client import serving
from tests.haproxy.binaries import newest, program
from tests.haproxy.process import HAProxy, free_port
from tests.rules.sources import CHECKOUT

ALERTS = CHECKOUT / "systemd/prometheus-alerts.yaml"
DASHBOARD = json.loads((CHECKOUT / "systemd/grafana-dashboard.json").read_text())
# A series for each alert, a value each minute: with the first it stays silent, with the second it fires.
SERIES = {
    "DataplaneDown": ('up{job="dataplaneapi"}', "1x90", "0x90"),
    "HAProxyDown": ("dataplane_haproxy_up", "1x90", "0x90"),
    "HAProxyReloadFailed": ('dataplane_reload_duration_seconds_count{outcome="failed"}', "3x90", "0+1x90"),
    "HAProxyReloadPending": ("dataplane_reload_pending", "0x90", "1x90"),
    "HAProxyReloadsOften": ('dataplane_reload_duration_seconds_count{outcome="succeeded"}', "0+0.5x90", "0+2x90"),
    "DataplaneValidationImpossible": ('dataplane_validation_duration_seconds_count{outcome="impossible"}', "0x90", "0+1x90"),
    "DataplaneRunningUnknown": ("dataplane_running_known", "1x90", "0x90"),
    "DataplaneDiscoveryFails": ('dataplane_discovery_working{kind="consul", id="1", name="here"}', "1x90", "0x90"),
    "DataplaneFleetNodeNotWell": ("dataplane_fleet_well", "1x90", "0x90"),
    "DataplaneFleetNodeBehind": ("dataplane_fleet_behind_seconds", "0x90", "0+60x90"),
    "DataplaneFleetStoreAway": ("dataplane_fleet_store_up", "1x90", "0x90"),
    "DataplanePasswordsGuessed": ('dataplane_refused_logins_total{reason="limited"}', "3x90", "0+1x90"),
    "DataplaneAuditLost": ('dataplane_audit_lines_total{outcome="lost"}', "3x90", "0+1x90"),
    "HAProxyCertificateExpires": ('dataplane_certificate_expiry_timestamp_seconds{name="a.pem"}', "2000000x90", "86400x90"),
}


def promtool(*words: str) -> str:
    """Run promtool, and return the faults that it finds."""
    done = subprocess.run([program("promtool"), *words], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    return list(group["rules"])


def queries() -> Iterator[str]:
    """Return the expressions of the dashboard, with values for Grafana's variables."""
    targets = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    for text in [*targets, *(each["expr"] for each in DASHBOARD["annotations"]["list"])]:
        yield text.replace("$__rate_interval", "2m").replace("$__range", "6h").replace("$instance", ".*")


def fires(alert: str, series: str, values: str, directory: Path) -> bool:
    case = {
        "interval": "1m",
        "input_series": [{"series": series, "values": values}],
        "alert_rule_test": [{"eval_time": "90m", "alertname": alert, "exp_alerts": []}],
    }
    file = directory / "test.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": [case]}))
    fault = promtool("test", "rules", str(file))
    assert not fault or f"alertname: {alert}" in fault
    return bool(fault)


@pytest.mark.parametrize("alert", [rule["alert"] for rule in rules()])
def test_an_alert_fires_when_it_should(alert: str, tmp_path: Path) -> None:
    series, calm, alarming = SERIES[alert]
    assert not fires(alert, series, calm, tmp_path)
    assert fires(alert, series, alarming, tmp_path)


def test_prometheus_takes_every_query(tmp_path: Path) -> None:
    file = tmp_path / "queries.yaml"
    recorded = [{"record": f"query:{number}", "expr": text} for number, text in enumerate(queries())]
    assert len(recorded) > 10
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": recorded}]}))
    assert promtool("check", "rules", str(file)) == ""


def test_every_alert_has_a_row_on_the_page_that_it_names() -> None:
    for rule in rules():
        page, _, heading = rule["annotations"]["runbook"].partition("#")
        text = (CHECKOUT / page).read_text()
        assert f"## {heading.replace('-', ' ').capitalize()}\n" in text and f"| `{rule['alert']}` |" in text, rule["alert"]


def test_every_metric_of_haproxy_is_shown_by_its_exporter(tmp_path: Path) -> None:
    port = free_port()
    page = (CHECKOUT / "docs/how-to/monitoring.md").read_text()
    lines = re.search(r"( {4}frontend metrics\n.*?) {4}```", page, re.DOTALL)
    assert lines
    config = PLAIN.format() + lines[1].replace("127.0.0.1:8405", f"127.0.0.1:{port}") + "\nbackend b from plain\n    server s 127.0.0.1:1\n"
    with HAProxy(tmp_path, config, binary=newest()):
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode()
    used = set(re.findall(r"\bhaproxy_\w+", " ".join(queries())))
    assert used - set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE)) == set() and len(used) > 4
    assert 'haproxy_server_status{proxy="b",server="s",state="DOWN"}' in text


def test_every_metric_is_shown_by_the_server(tmp_path: Path) -> None:
    """The server is in a fleet whose store does not answer."""
    (key := tmp_path / "fleet.key").write_text(new_secret())
    key.chmod(0o600)
    fleet = {"group": "edge", "node": "lb1", "endpoints": [f"http://127.0.0.1:{free_port()}"], "keys": [str(key)]}
    with serving(tmp_path, fleet=fleet) as client:
        text = client.get("/metrics", auth=None).body.decode()
    shown = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    used = set(re.findall(r"\bdataplane_\w+", " ".join([*queries(), *(rule["expr"] for rule in rules())])))
    assert {re.sub(r"_(count|bucket)$", "", name) for name in used} - shown == set()
    assert len(used) > 10
