"""Files of ACL patterns over HTTP and in a real HAProxy: what is stored is what it matches."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.app.client import Client, serving, settings
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.tls.served import upload

FILES = "/v3/sidecar/acls"
TEXT = {"Content-Type": "text/plain"}
CONFIG = """\
global
  stats socket {{stats}} mode 600 level admin

defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s

frontend web
  bind 127.0.0.1:{port}
  http-request return status 200 content-type text/plain string yes if {{ path -f {acls}/paths.acl }} || {{ src -f {acls}/nets.acl }}
  http-request return status 200 content-type text/plain string no
"""


class Beside:
    def __init__(self, client: Client, acls: Path, port: int) -> None:
        self.client, self.acls, self.port = client, acls, port

    def matches(self, path: str) -> bool:
        return httpx2.get(f"http://127.0.0.1:{self.port}{path}", timeout=60).text == "yes"


@pytest.fixture(params=["2.6", "3.2"])
def beside(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Beside]:
    acls, port = tmp_path / "acls", free_port()
    acls.mkdir()
    (acls / "paths.acl").write_text("/one\n")
    (acls / "nets.acl").write_text("192.0.2.1\n")
    config = CONFIG.format(port=port, acls=acls).replace("{{", "{").replace("}}", "}")
    haproxy = HAProxy(tmp_path, config, binary=binaries.exactly(request.param))
    given = settings(tmp_path, master_runtime=str(haproxy.master), master_worker_mode=True, acl_dir=str(acls))
    with haproxy, Client(given) as client:
        yield Beside(client, acls, port)


def test_the_life_of_a_file(beside: Beside) -> None:
    client, path = beside.client, beside.acls / "new.acl"
    got = upload(client, "POST", FILES, "/x\n", "new.acl")
    assert (got.status, got.json["storage_name"], got.json["file"]) == (201, "new.acl", str(path))
    assert upload(client, "POST", FILES, "/x\n", "new.acl").status == 409
    assert [each["storage_name"] for each in client.get(FILES).json] == ["nets.acl", "new.acl", "paths.acl"]
    assert client.put(f"{FILES}/new.acl", b"/y\n", headers=TEXT).status == 200
    assert client.get(f"{FILES}/new.acl").body == path.read_bytes() == b"/y\n"
    assert client.delete(f"{FILES}/new.acl").status == 204
    assert client.get(f"{FILES}/new.acl").status == 404
    assert "referenced in haproxy conf" in client.delete(f"{FILES}/paths.acl").message


def test_what_is_loaded_changes_live(beside: Beside) -> None:
    client, text = beside.client, b"# odd\n  /two words\n/three;clear\n\n/four\\x\n"
    assert (beside.matches("/one"), beside.matches("/four%5Cx")) == (True, False)
    planned = client.post("/v3/sidecar/plan/acls/paths.acl", text, headers=TEXT).json
    assert (planned["reload"], planned["commands"][0]) == (False, f"prepare acl {beside.acls}/paths.acl")
    got = client.put(f"{FILES}/paths.acl", text, headers=TEXT)
    assert (got.status, "Reload-Id" in got.headers) == (200, False)
    assert (beside.acls / "paths.acl").read_bytes() == text
    entries = client.get("/v3/services/haproxy/runtime/acls/paths.acl/entries").json
    assert [each["value"] for each in entries] == ["/two words", "/three;clear", "/four\\x"]
    assert (beside.matches("/one"), beside.matches("/three;clear")) == (False, True)


def test_what_haproxy_refuses_changes_neither(beside: Beside) -> None:
    got = beside.client.put(f"{FILES}/nets.acl", b"192.0.2.7\nnonsense\n", headers=TEXT)
    assert (got.status, "'nonsense' is not a valid IPv4" in got.message) == (400, True), got
    assert (beside.acls / "nets.acl").read_text() == "192.0.2.1\n"
    entries = beside.client.get("/v3/services/haproxy/runtime/acls/nets.acl/entries").json
    assert [each["value"] for each in entries] == ["192.0.2.1"]


def test_without_a_directory(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        got = client.get(FILES)
    assert (got.status, "set dataplaneapi.resources.acl_dir" in got.message) == (404, True)
