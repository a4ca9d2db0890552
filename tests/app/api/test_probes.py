"""The answers to a supervisor, with and without HAProxy."""

import os
from pathlib import Path

import pytest

from tests.acceptance.quick import Quick
from tests.app.client import Client, serving
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy
from tests.haproxy.sidecar import Sidecar


def test_alive_without_credentials(client: Client) -> None:
    got = client.get("/livez", auth=None)
    assert (got.status, got.body) == (200, b"ok\n")


def test_ready_though_haproxy_is_not_there(client: Client) -> None:
    got = client.get("/readyz", auth=None)
    assert (got.status, got.json["status"]) == (200, "ready")
    assert got.json["parts"]["configuration"] == {"status": "ok", "version": 1}
    assert got.json["parts"]["runtime"]["status"] == "unknown"
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


def configuration(client: Client) -> tuple[int, str]:
    got = client.get("/readyz", auth=None)
    return got.status, str(got.json["parts"]["configuration"].get("reason", ""))


def test_not_ready_with_a_wrong_haproxy(tmp_path: Path) -> None:
    with serving(tmp_path, haproxy_bin=str(tmp_path / "haproxy"), validate_cmd="") as client:
        assert configuration(client) == (503, f'HAProxy cannot be asked about a change: "{tmp_path}/haproxy" is no program that can be run')
        (tmp_path / "haproxy").symlink_to("/bin/true")
        assert configuration(client) == (200, "")


def test_not_ready_after_a_broken_edit_by_hand(tmp_path: Path) -> None:
    """It is asked about once, however often the probe comes."""
    count = tmp_path / "count"
    checker = tmp_path / "checker"
    checker.write_text(f"#!/bin/sh\necho >> {count}\nexec {binaries.newest()} -c -f $DATAPLANEAPI_TRANSACTION_FILE\n")
    checker.chmod(0o755)
    with serving(tmp_path, validate_cmd=str(checker)) as client:
        good = client.file.read_text()
        assert [configuration(client) for _ in range(20)] == [(200, "")] * 20
        client.file.write_text(good + "  nonsense\n")
        answers = {configuration(client) for _ in range(20)}
        assert len(answers) == 1
        status, reason = answers.pop()
        assert status == 503 and "unknown keyword 'nonsense'" in reason
        client.file.write_text(good)
        assert configuration(client) == (200, "")
    assert len(count.read_text().splitlines()) == 3


def test_a_directory_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with serving(tmp_path, transaction_dir=str(tmp_path / "file")) as client:
        got = client.get("/readyz", auth=None)
    assert (got.status, got.json["parts"]["transaction_dir"]["status"]) == (200, "disabled")


def test_not_ready_while_haproxy_is_stopped(tmp_path: Path) -> None:
    config = "global\n  stats socket {stats} level admin\ndefaults\n  mode http\n  timeout client 1s\n"
    with HAProxy(tmp_path, config, master=False) as haproxy, Quick(haproxy) as sidecar:
        assert sidecar.ask("GET", "/readyz").status_code == 200
        haproxy.kill()
        got = sidecar.ask("GET", "/readyz")
        assert (got.status_code, got.json()["parts"]["runtime"]["status"]) == (503, "failed")
        assert str(haproxy.stats) in got.json()["parts"]["runtime"]["reason"]
