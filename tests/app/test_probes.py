"""What a supervisor is told, with and without HAProxy."""

import os
from pathlib import Path

import pytest

from tests.app.client import Client, serving
from tests.haproxy.sidecar import Sidecar


def test_alive_without_credentials(client: Client) -> None:
    got = client.get("/livez", auth=None)
    assert (got.status, got.body) == (200, b"ok\n")


def test_ready_though_haproxy_is_not_there(client: Client) -> None:
    got = client.get("/readyz", auth=None)
    assert (got.status, got.json["status"]) == (200, "ready")
    assert got.json["parts"]["configuration"] == {"status": "ok", "version": 1}
    assert got.json["parts"]["runtime"]["status"] == "failed"
    assert "no stats socket" in got.json["parts"]["runtime"]["reason"]


def test_ready_beside_a_real_haproxy(sidecar: Sidecar) -> None:
    got = sidecar.ask("GET", "/readyz")
    assert got.status_code == 200
    assert got.json()["parts"]["runtime"]["pid"] == sidecar.haproxy.worker_pid()


def test_not_ready_without_the_file(client: Client) -> None:
    client.file.unlink()
    got = client.get("/readyz", auth=None)
    assert (got.status, got.json["parts"]["configuration"]["reason"]) == (503, f"{client.file} cannot be read")


def test_a_part_that_is_disabled_is_told(tmp_path: Path) -> None:
    (tmp_path / "maps").write_text("a file, where a directory should be")
    with serving(tmp_path, maps_dir=str(tmp_path / "maps")) as client:
        got = client.get("/readyz", auth=None)
    assert (got.status, got.json["parts"]["maps_dir"]["status"]) == (200, "disabled")
    assert str(tmp_path / "maps") in got.json["parts"]["maps_dir"]["reason"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_not_ready_where_nothing_can_be_written(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        client.file.chmod(0o400)
        tmp_path.chmod(0o500)
        got = client.get("/readyz", auth=None)
        tmp_path.chmod(0o700)
    assert got.status == 503
