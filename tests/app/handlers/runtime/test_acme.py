"""Certificates that a real HAProxy renews, and what it says where it has none."""

from pathlib import Path

import pytest

from tests.app.client import serving
from tests.app.handlers.conftest import RUNTIME
from tests.haproxy import binaries
from tests.haproxy.acme import configuration
from tests.haproxy.process import SMALL, HAProxy, free_port


@pytest.mark.parametrize("version", ["3.2", "3.4"])
def test_state_and_renewal(tmp_path: Path, version: str) -> None:
    with (
        HAProxy(tmp_path, configuration(tmp_path, free_port(), "site.test"), binary=binaries.exactly(version)) as haproxy,
        serving(tmp_path, master_runtime=str(haproxy.master)) as client,
    ):
        (shown,) = client.get(f"{RUNTIME}/acme").json
        assert (shown["certificate"], shown["acme_section"], shown["state"]) == ("@sites/site.pem", "authority", "Scheduled")
        assert shown["expiry_date"].startswith("20") and shown["expiry_date"].endswith(".000Z")
        renewed = client.put(f"{RUNTIME}/acme?certificate=@sites/site.pem")
        assert (renewed.status, renewed.body) == (200, b"")
        assert client.get(f"{RUNTIME}/acme").json[0]["state"] == "Running"
        refused = client.put(f"{RUNTIME}/acme?certificate=none.pem")
        words = f"{haproxy.master} [3]  Can't find the certificate 'none.pem'. [acme renew none.pem]"
        assert (refused.status, refused.message) == (404, words)
        assert client.put(f"{RUNTIME}/acme").message == "Query argument certificate is required, but not found"


def test_a_haproxy_that_renews_none_says_so(tmp_path: Path) -> None:
    with (
        HAProxy(tmp_path, SMALL, binary=binaries.exactly("2.6")) as haproxy,
        serving(tmp_path, master_runtime=str(haproxy.master)) as client,
    ):
        got = client.get(f"{RUNTIME}/acme")
    assert got.status == 400
    assert "Unknown command" in got.message
