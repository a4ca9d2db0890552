"""Changes of loaded ACLs that their files follow: requests, process and file agree, or nothing changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from tests.app.client import Client, settings
from tests.app.handlers.sidecar.test_history import entered
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import reload

ACLS = "/v3/services/haproxy/runtime/acls"
OWN = "# by hand\n/one\n\n# the second\n/two\n"
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
  acl listed path -f {general}/paths.acl
  acl nets src -f {general}/nets.acl
  acl inline path /a /b
  acl elsewhere path -f {general}/../elsewhere.acl
  acl twin path -f {general}/../twins/elsewhere.acl
  acl own path -f {general}/../acls/own.acl
  http-request deny if nets OR inline OR elsewhere OR twin
  http-request return status 200 content-type text/plain string yes if own
  http-request return status 200 content-type text/plain string yes if listed
  http-request return status 200 content-type text/plain string no
"""


@dataclass
class Beside:
    client: Client
    haproxy: HAProxy
    port: int

    @property
    def file(self) -> Path:
        return self.haproxy.directory / "general" / "paths.acl"

    @property
    def ids(self) -> dict[str, str]:
        return {acl["storage_name"].removeprefix(f"{self.haproxy.directory}/"): acl["id"] for acl in self.client.get(ACLS).json}

    def entries(self, acl: str = "general/paths.acl") -> str:
        return f"{ACLS}/{self.ids[acl]}/entries"

    def shown(self) -> dict[str, str]:
        got = self.client.get(self.entries())
        return {entry["value"]: entry["id"] for entry in got.json} if got.status == 200 else {}

    def listed(self, path: str) -> bool:
        return httpx2.get(f"http://127.0.0.1:{self.port}{path}", timeout=60).text == "yes"


@pytest.fixture(scope="module", params=["2.6", "3.2"])
def started(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    directory = tmp_path_factory.mktemp("acls")
    for name in ("general", "twins", "acls"):
        (directory / name).mkdir()
    files = {"general/paths.acl": OWN, "general/nets.acl": "192.0.2.1\n", "elsewhere.acl": "/x\n", "twins/elsewhere.acl": "/t\n"}
    for name, text in {**files, "acls/own.acl": "/own\n"}.items():
        (directory / name).write_text(text)
    port = free_port()
    haproxy = HAProxy(directory, CONFIG.format(port=port, general=directory / "general"), binary=binaries.exactly(request.param))
    given = settings(directory, master_runtime=str(haproxy.master), master_worker_mode=True, acl_dir=str(directory / "acls"))
    with haproxy, Client(given) as client:
        yield Beside(client, haproxy, port)


@pytest.fixture
def beside(started: Beside) -> Beside:
    """From OWN in the file and in the process."""
    started.file.write_text(OWN)
    assert started.client.put(started.entries(), [{"value": "/one"}, {"value": "/two"}]).status == 201
    return started


def test_file_and_process(beside: Beside) -> None:
    assert beside.client.post(f"{beside.entries()}?force_sync=true", {"value": "/three x"}).status == 201
    assert (beside.file.read_text(), list(beside.shown())) == (OWN + "/three x\n", ["/one", "/two", "/three x"])
    assert beside.client.delete(f"{beside.entries()}/{beside.shown()['/two']}?force_sync=true").status == 204
    assert (beside.file.read_text(), list(beside.shown())) == ("# by hand\n/one\n\n# the second\n/three x\n", ["/one", "/three x"])
    assert (beside.listed("/one"), beside.listed("/two")) == (True, False)
    by_file = f"{ACLS}/{quote(str(beside.file), safe='')}/entries?force_sync=true"
    assert beside.client.put(by_file, [{"value": "/four"}, {"value": "/one"}]).status == 201
    assert (beside.file.read_text(), sorted(beside.shown())) == ("# by hand\n/one\n\n# the second\n/four\n", ["/four", "/one"])
    assert beside.client.engine.context.ledger.entries == {}
    assert beside.client.runner.run(reload(beside.client.engine)).status == "succeeded"
    assert (sorted(beside.shown()), beside.listed("/four"), beside.listed("/two")) == (["/four", "/one"], True, False)


def test_or_the_process_alone(beside: Beside) -> None:
    assert beside.client.post(beside.entries(), {"value": "/three"}).status == 201
    assert (beside.file.read_text(), beside.listed("/three")) == (OWN, True)
    assert beside.client.post(f"{beside.entries()}?force_sync=true", {"value": "/four"}).status == 201
    assert beside.file.read_text() == OWN + "/three\n/four\n", "the file gets what the process has"


def test_or_neither(beside: Beside) -> None:
    nets, before = beside.entries("general/nets.acl"), beside.haproxy.directory / "general" / "nets.acl"
    for got, status, said in (
        (beside.client.post(f"{beside.entries()}?force_sync=1", {"value": "/one"}), 409, "already exists"),
        (beside.client.post(f"{beside.entries()}?force_sync=1", {"value": "#x"}), 400, "cannot contain the pattern '#x'"),
        (
            beside.client.post(f"{nets}?force_sync=1", {"value": "bad.."}),
            400,
            "[3]  'bad..' is not a valid IPv4 or IPv6 address. [add",
        ),
        (beside.client.put(f"{nets}?force_sync=1", [{"value": "::1"}, {"value": "bad.."}]), 400, "'bad..' is not a valid IPv4"),
        (beside.client.delete(f"{beside.entries()}/0x1234?force_sync=1"), 404, "[3]  Key not found. [del acl #"),
        (beside.client.post(f"{ACLS}/99/entries?force_sync=1", {"value": "/x"}), 404, "[3]  Unknown ACL identifier."),
        (beside.client.post(f"{beside.entries('path')}?force_sync=1", {"value": "/x"}), 400, "and has no file"),
        (
            beside.client.post(f"{beside.entries('general/../elsewhere.acl')}?force_sync=1", {"value": "/y"}),
            400,
            "not in a directory of stored files",
        ),
        (beside.client.post(f"{ACLS}/elsewhere.acl/entries", {"value": "/y"}), 404, "Unknown ACL identifier"),
    ):
        assert (got.status, said in got.message) == (status, True), got
    assert (beside.file.read_text(), list(beside.shown()), before.read_text()) == (OWN, ["/one", "/two"], "192.0.2.1\n")
    assert (beside.haproxy.directory / "elsewhere.acl").read_text() == "/x\n"


def test_by_the_name_of_the_file(beside: Beside) -> None:
    """Beside its number and its path; of two files of one name neither is meant."""
    by_name, path = f"{ACLS}/paths.acl", quote(str(beside.file), safe="")
    assert beside.client.get(by_name).json == beside.client.get(f"{ACLS}/{path}").json
    assert beside.client.get(by_name).json["id"] == beside.ids["general/paths.acl"]
    assert beside.client.get(f"{ACLS}/elsewhere.acl").status == 404
    assert beside.client.post(f"{by_name}/entries?force_sync=1", {"value": "/three"}).status == 201
    assert beside.file.read_text() == OWN + "/three\n"
    shown = {entry["value"]: entry["id"] for entry in beside.client.get(f"{by_name}/entries").json}
    assert list(shown) == ["/one", "/two", "/three"]
    assert beside.client.get(f"{by_name}/entries/{shown['/two']}").json == {"value": "/two"}
    assert beside.client.delete(f"{by_name}/entries/{shown['/two']}").status == 204
    assert beside.client.put(f"{by_name}/entries", [{"value": "/only"}]).status == 201
    assert list(beside.shown()) == ["/only"]


def test_a_refusal_names_the_directories(beside: Beside) -> None:
    got = beside.client.post(f"{beside.entries('general/../elsewhere.acl')}?force_sync=1", {"value": "/y"})
    for setting, name in (("acl_dir", "acls"), ("maps_dir", "maps"), ("general_storage_dir", "general"), ("ssl_certs_dir", "ssl")):
        assert f"{setting} {beside.haproxy.directory / name}" in got.message


def test_a_file_in_the_directory_of_acls(beside: Beside) -> None:
    own = beside.haproxy.directory / "acls" / "own.acl"
    assert beside.client.post(f"{ACLS}/own.acl/entries?force_sync=1", {"value": "/new"}).status == 201
    assert (own.read_text(), beside.listed("/new")) == ("/own\n/new\n", True)


def test_a_change_of_the_process_alone_names_the_pattern(beside: Beside) -> None:
    history = "/v3/sidecar/history"
    with entered(beside.client) as client:
        assert client.post(beside.entries(), {"value": "/three"}).status == 201
        (added,) = client.get(f"{history}?limit=1").json
        assert client.delete(f"{beside.entries()}/{beside.shown()['/one']}").status == 204
        (deleted,) = client.get(f"{history}?limit=1").json
        for entry, old, new in ((added, None, "/three"), (deleted, "/one", None)):
            (effect,) = client.get(f"{history}/{entry['id']}").json["effects"]
            assert (effect["member"], effect.get("old"), effect.get("new")) == ("pattern", old, new), effect
        assert client.post(f"{history}/{added['id']}/revert", None).status == 409 and beside.listed("/three")
