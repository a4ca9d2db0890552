"""What a program of HAProxy's master makes of its environment."""

import time
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from dataplaneapi.host.mworker import adapt_to_master
from dataplaneapi.settings.table import Settings, SettingsError
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import COMMAND

PROGRAM = """\
global
    stats socket {{stats}} level admin
defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s
userlist controller
    user admin insecure-password adminpwd
program api
    command {command} -f {settings}
    no option start-on-reload
backend app
    server one 127.0.0.1:1
"""


def given(tmp_path: Path, **changed: str) -> Settings:
    return Settings(**{"config_file": str(tmp_path / "haproxy.cfg"), "master_runtime": "/settings.sock"} | changed)


def test_an_ordinary_process(tmp_path: Path) -> None:
    settings = given(tmp_path)
    assert adapt_to_master(settings, {"HAPROXY_MASTER_CLI": "unix@/other.sock", "HAPROXY_CFGFILES": "/x"}) is settings


@pytest.mark.parametrize(
    ("given_socket", "used"),
    [
        ("unix@/run/master.sock", "/run/master.sock"),
        ("/run/master.sock", "/run/master.sock"),
        ("ipv4@127.0.0.1:9999;unix@/run/master.sock", "/run/master.sock"),
        ("ipv4@127.0.0.1:9999", "/settings.sock"),
        ("", "/settings.sock"),
    ],
)
def test_the_master_socket(tmp_path: Path, given_socket: str, used: str) -> None:
    assert adapt_to_master(given(tmp_path), {"HAPROXY_MWORKER": "1", "HAPROXY_MASTER_CLI": given_socket}).master_runtime == used


@pytest.mark.parametrize("missing", ["configuration", "userlist"])
def test_files_that_haproxy_does_not_load(tmp_path: Path, missing: str) -> None:
    files = {"configuration": tmp_path / "haproxy.cfg", "userlist": tmp_path / "users.cfg"}
    loaded = ";".join(str(file) for name, file in files.items() if name != missing)
    with pytest.raises(
        SettingsError, match=f"The {missing} file is not declared in the HAPROXY_CFGFILES environment variable, cannot start."
    ):
        adapt_to_master(given(tmp_path, userlist_file=str(files["userlist"])), {"HAPROXY_MWORKER": "1", "HAPROXY_CFGFILES": loaded})


def test_files_beyond_the_settings_are_told(tmp_path: Path) -> None:
    (tmp_path / "link.cfg").symlink_to(tmp_path / "haproxy.cfg")
    settings = Settings(config_file=str(tmp_path / "link.cfg"), config_files_before=[str(tmp_path / "conf.d")])
    files = [tmp_path / "conf.d/a.cfg", tmp_path / "haproxy.cfg", tmp_path / "other.cfg"]
    found = adapt_to_master(settings, {"HAPROXY_MWORKER": "1", "HAPROXY_CFGFILES": ";".join(map(str, files))})
    assert found.warnings == (f"HAProxy also loads {tmp_path}/other.cfg, which config_files_before and config_files_after do not name",)


def test_beside_a_real_master(tmp_path: Path) -> None:
    """It finds the socket by itself."""
    binary = binaries.of((2, 8), (3, 2))
    settings, port = tmp_path / "dataplaneapi.yaml", free_port()
    settings.write_text(
        f"dataplaneapi: {{host: 127.0.0.1, port: {port}, resources: {{dataplane_storage_dir: {tmp_path}/own}}}}\n"
        f"haproxy: {{config_file: {tmp_path}/haproxy.cfg, haproxy_bin: {binary}, "
        "master_worker_mode: true, reload: {reload_cmd: 'false'}}\n"
    )
    with (
        HAProxy(tmp_path, PROGRAM.format(command=COMMAND, settings=settings), binary=binary),
        httpx2.Client(
            base_url=f"http://127.0.0.1:{port}/v3/services/haproxy/configuration", auth=("admin", "adminpwd"), timeout=60
        ) as client,
    ):
        assert answered(client).status_code == 200
        answer = client.post("/backends", params={"version": 1, "force_reload": "true"}, json={"name": "made"})
        assert answer.status_code == 201, answer.text
        assert "backend made" in (tmp_path / "haproxy.cfg").read_text()
        assert answered(client).json() == 2


def answered(client: httpx2.Client) -> httpx2.Response:
    """The version, once the server is there."""
    deadline = time.monotonic() + 120
    while True:
        with suppress(httpx2.TransportError):
            return client.get("/version")
        assert time.monotonic() < deadline
        time.sleep(0.05)
