"""Check configurations with relative paths. They are relative to HAProxy's working directory, which differs from that of this server."""

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
    """Write files, and return a configuration that names them relative to the directory."""
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


@pytest.mark.parametrize("wanted", ["2.6", ""])
def test_stored_files(tmp_path: Path, wanted: str) -> None:
    """The working directory of HAProxy is not that of its file, and the configuration names stored files by relative paths."""
    own, conf = tmp_path / "own", tmp_path / "conf"
    own.mkdir()
    conf.mkdir()
    text, pem = lay_out(own), PEM.read_text()
    stores = {"maps_dir": "maps", "ssl_certs_dir": "certs", "general_storage_dir": "errors", "acl_dir": "lists"}
    resources = {**{key: str(own / name) for key, name in stores.items()}, "dataplane_storage_dir": str(tmp_path / "dataplane")}
    with (
        HAProxy(conf, text, binary=binaries.fetched(wanted), arguments=("-C", str(own))) as haproxy,
        Sidecar(haproxy, dataplaneapi={"resources": resources}) as sidecar,
    ):
        storage, runtime = "/v3/services/haproxy/storage", "/v3/services/haproxy/runtime"
        assert sidecar.get(f"{runtime}/maps/hosts.map/entries").json()[0]["key"] == "a.example"
        assert sidecar.ask("PUT", f"{storage}/maps/hosts.map", "b.example app\n").status_code == 200
        assert "b.example app" in haproxy.ask("show map maps/hosts.map")
        assert sidecar.ask("PUT", f"{storage}/ssl_certificates/site.pem", pem).status_code in (200, 202)
        for path in ("maps/hosts.map", "ssl_certificates/site.pem", "general/503.http"):
            refused = sidecar.delete(f"{storage}/{path}")
            assert refused.status_code == 409 and "referenced in haproxy conf at line" in refused.text, refused.text
        assert [row["id"] for row in sidecar.get("/v3/sidecar/lint").json() if row["id"] == "file-unused"] == []
        renamed = sidecar.post("/v3/sidecar/rename", {"object": "map/hosts.map", "to": "other.map"}, version=sidecar.version())
        assert renamed.status_code == 202, renamed.text
        assert "map(maps/other.map,app)" in sidecar.get("raw").text


@pytest.mark.parametrize("chosen", ["config", "parent"])
def test_a_read_only_server_checks_in_the_directory_of_the_file(tmp_path: Path, chosen: str) -> None:
    """The drafts of checks are in another directory, and `default-path` makes paths relative to the directory of the file."""
    conf = tmp_path / "conf"
    conf.mkdir()
    text = lay_out(conf if chosen == "config" else tmp_path).replace("global\n", f"global\n  default-path {chosen}\n")
    with HAProxy(conf, text) as haproxy, Sidecar(haproxy, dataplaneapi={"read_only": True}) as sidecar:
        more = sidecar.get("raw").text + "\nbackend b from base\n"
        for end, status in (("", 202), ("  errorfile 503 errors/none.http\n", 400)):
            validated = sidecar.post("raw", more + end, version=sidecar.version(), only_validate=True)
            assert validated.status_code == status, validated.text
