"""Relative paths of a configuration: a check loads them from HAProxy's working directory, which is not that of the sidecar."""

import shutil
from pathlib import Path

import pytest

from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import Sidecar

PEM = Path(__file__).parents[1] / "laws" / "sample.pem"
CONFIG = """global
  stats socket {{stats}} mode 600 level admin
  lua-load lua/hello.lua
defaults base
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
  errorfile 503 errors/503.http
frontend web from base
  bind 127.0.0.1:{http}
  bind 127.0.0.1:{https} ssl crt certs/site.pem
  acl blocked path_beg -f lists/blocked.lst
  http-request deny if blocked
  use_backend %[req.hdr(host),lower,map(maps/hosts.map,app)]
backend app from base
  server a 127.0.0.1:1
"""
FILES = {
    "lua/hello.lua": "core.register_fetches('hello', function(txn) return 'hello' end)\n",
    "errors/503.http": "HTTP/1.0 503 Service Unavailable\r\nConnection: close\r\n\r\nsorry\n",
    "lists/blocked.lst": "/admin\n",
    "maps/hosts.map": "a.example app\n",
}


def lay_out(directory: Path) -> str:
    """Writes the files, and returns a configuration that names them as a person in this directory would."""
    for name, text in FILES.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text)
    (directory / "certs").mkdir()
    shutil.copy(PEM, directory / "certs" / "site.pem")
    return CONFIG.format(http=free_port(), https=free_port())


@pytest.mark.parametrize("wanted", ["2.6", ""])
def test_relative_paths(tmp_path: Path, wanted: str) -> None:
    with HAProxy(tmp_path, lay_out(tmp_path), binary=binaries.fetched(wanted)) as haproxy, Sidecar(haproxy) as sidecar:
        posted = sidecar.post("backends", {"name": "b", "mode": "http", "from": "base"}, version=sidecar.version())
        assert posted.status_code == 202, posted.text
        text = sidecar.get("raw").text
        for name in ("certs/site.pem", "errors/503.http", "lists/blocked.lst", "lua/hello.lua", "maps/hosts.map"):
            wrong = sidecar.post("raw", text.replace(name, f"none-{name}"), version=sidecar.version(), only_validate=True)
            assert wrong.status_code == 400 and f"none-{name}" in wrong.text, wrong.text


def test_stored_files_with_relative_names(tmp_path: Path) -> None:
    with HAProxy(tmp_path, lay_out(tmp_path)) as haproxy, Sidecar(haproxy, settings={}, dataplaneapi=None) as sidecar:
        maps = "/v3/services/haproxy/storage/maps"
        assert [row["storage_name"] for row in sidecar.get(maps).json()] == []
        live = sidecar.get("/v3/services/haproxy/runtime/maps", include_unmanaged=True)
        assert [row["file"] for row in live.json()] == ["maps/hosts.map"], live.text
