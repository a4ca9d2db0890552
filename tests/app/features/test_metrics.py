"""The counters as Prometheus reads them, after real requests."""

import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.app.client import CONFIG, Client, serving
from tests.haproxy.binaries import program
from tests.haproxy.process import free_port
from tests.tls.pems import made

Samples = dict[str, float]


def samples(client: Client) -> Samples:
    got = client.get("/metrics", auth=None)
    assert (got.status, got.headers["Content-Type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    return {
        name_of(sample.name, sample.labels): sample.value
        for family in text_string_to_metric_families(got.body.decode())
        for sample in family.samples
    }


def name_of(name: str, labels: dict[str, str]) -> str:
    return name + ("{" + ",".join(f"{key}={value}" for key, value in sorted(labels.items())) + "}" if labels else "")


def test_requests_are_counted_by_operation_and_code(client: Client) -> None:
    client.get(f"{CONFIG}/backends")
    client.get(f"{CONFIG}/backends")
    client.post(f"{CONFIG}/backends", {})
    client.get("/v3/nowhere")
    client.get("/v3/info", auth=None)
    found = samples(client)
    assert found["dataplane_requests_total{code=200,operation=getBackends}"] == 2
    assert found["dataplane_requests_total{code=422,operation=createBackend}"] == 1
    assert found["dataplane_requests_total{code=404,operation=none}"] == 1
    assert found["dataplane_requests_total{code=401,operation=none}"] == 1
    assert found["dataplane_request_duration_seconds_count{operation=getBackends}"] == 2
    assert found["dataplane_refused_logins_total{reason=none}"] == 1
    assert found["dataplane_request_duration_seconds_bucket{le=+Inf,operation=getBackends}"] == 2


def test_a_commit_is_counted_with_its_validation_and_its_reload(client: Client) -> None:
    before = samples(client)
    assert (before["dataplane_configuration_version"], before["dataplane_open_transactions"]) == (1, 0)
    client.post("/v3/services/haproxy/transactions?version=1")
    client.post(f"{CONFIG}/backends?version=1&force_reload=true", {"name": "one"})
    client.post(f"{CONFIG}/backends?version=2", {"name": "two"})
    found = samples(client)
    assert found["dataplane_validation_duration_seconds_count{outcome=accepted}"] == 2
    assert found["dataplane_commit_duration_seconds_count{outcome=reloaded}"] == 1
    assert found["dataplane_commit_duration_seconds_count{outcome=scheduled}"] == 1
    assert found["dataplane_reload_duration_seconds_count{outcome=succeeded}"] == 1
    assert (found["dataplane_configuration_version"], found["dataplane_reload_pending"], found["dataplane_haproxy_up"]) == (3, 1, 0)


def test_a_refused_text_is_counted_as_such(tmp_path: Path) -> None:
    with serving(tmp_path, validate_cmd="false") as client:
        client.post(f"{CONFIG}/backends?version=1", {"name": "one"})
        found = samples(client)
    assert found["dataplane_validation_duration_seconds_count{outcome=refused}"] == 1
    assert found["dataplane_commit_duration_seconds_count{outcome=failed}"] == 1


def test_sources_of_services_are_told_once_they_were_looked_at(client: Client) -> None:
    body = {"address": "127.0.0.1", "port": free_port(), "enabled": True, "retry_timeout": 1, "name": "here"}
    made = client.post("/v3/service_discovery/consul", body).json
    client.post("/v3/service_discovery/consul", {**body, "retry_timeout": 1000, "name": "later"})
    name = f"dataplane_discovery_working{{id={made['id']},kind=consul,name=here}}"
    deadline = time.monotonic() + 120
    while name not in (found := samples(client)):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert found[name] == 0
    assert not [each for each in found if "later" in each]


def test_promtool_finds_nothing_to_complain_about(client: Client) -> None:
    client.post(f"{CONFIG}/backends?version=1", {"name": "one"})
    text = client.get("/metrics", auth=None).body
    done = subprocess.run([program("promtool"), "check", "metrics"], input=text, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_without_the_package_its_name_is_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    got = client.get("/metrics", auth=None)
    assert got.status == 501
    assert "pip install prometheus-client" in got.message


def test_calls_that_nobody_answered_are_counted(client: Client) -> None:
    before = samples(client).get("dataplane_runtime_errors_total{kind=absent}", 0)
    client.get("/v3/services/haproxy/runtime/maps")
    after = samples(client)["dataplane_runtime_errors_total{kind=absent}"]
    assert after > before
    assert samples(client)["dataplane_runtime_errors_total{kind=absent}"] == after, "the look of the metrics themselves is no error"


def test_when_stored_certificates_expire(tmp_path: Path) -> None:
    certificates = tmp_path / "certificates"
    certificates.mkdir()
    (certificates / "site.pem").write_text(made("www.example.com", 12).pem)
    with serving(tmp_path, ssl_certs_dir=str(certificates)) as client:
        when = datetime(2044, 5, 1, 8, tzinfo=UTC).timestamp()
        assert samples(client)["dataplane_certificate_expiry_timestamp_seconds{name=site.pem}"] == when
        (certificates / "site.pem").write_text("broken")
        assert "dataplane_certificate_expiry_timestamp_seconds{name=site.pem}" not in samples(client)
