"""What HAProxy refuses, by the calls that make it: a status that says whose fault it is, whatever the command and the socket's level."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.app.client import Client, Got, settings
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.tls.pems import authority, made, revoking
from tests.tls.served import RUNTIME, quoted, upload

CONFIG = """\
global
  stats socket {{stats}} mode 600 level {level}
defaults base
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
frontend web from base
  bind 127.0.0.1:{port} ssl crt-list {directory}/list.txt ca-file {directory}/ca.pem crl-file {directory}/crl.pem verify optional
  acl nets src -f {directory}/nets.acl
  http-request deny if nets
  http-request set-var(txn.x) path,map_str_int({directory}/maps/ints.map)
  default_backend app
backend app from base
  server plain 127.0.0.1:1
  server checked 127.0.0.1:2 check inter 1h
  server unix /tmp/none.sock
  server tracking 127.0.0.1:5 track app/checked
backend static from base
  balance static-rr
  server one 127.0.0.1:1
backend addresses from base
  stick-table type ip size 1k store gpc0
backend full from base
  stick-table type string len 10 size 1 nopurge store gpc0
"""
SERVERS, STATIC, TABLES = f"{RUNTIME}/backends/app/servers", f"{RUNTIME}/backends/static/servers", f"{RUNTIME}/stick_tables"
ACLS, MAPS, CERTS, CAS, CRLS = (f"{RUNTIME}/{name}" for name in ("acls", "maps", "ssl_certs", "ssl_ca_files", "ssl_crl_files"))
LISTS = f"{RUNTIME}/ssl_crt_lists"
ONE, TWO = made("a.example.com"), made("b.example.com")
ROOT = authority()
GPC = {"gpc0": 1}


@dataclass
class Beside:
    client: Client
    haproxy: HAProxy

    def __call__(self, method: str, target: str, body: object = None) -> Got:
        """`D/` stands for the directory of the files; a text is uploaded."""
        target = target.replace("D/", quoted(f"{self.haproxy.directory}/"))
        return upload(self.client, method, target, body) if isinstance(body, str) else self.client(method, target, body)


def beside(directory: Path, version: str, level: str) -> Iterator[Beside]:
    (directory / "maps").mkdir()
    files = {"a.pem": ONE.pem, "list.txt": f"{directory}/a.pem\n", "nets.acl": "10.0.0.0/8\n", "maps/ints.map": "k 1\n"}
    for name, text in (files | {"ca.pem": ROOT.cert, "crl.pem": revoking(ROOT)}).items():
        (directory / name).write_text(text)
    config = CONFIG.format(directory=directory, port=free_port(), level=level)
    with (
        HAProxy(directory, config, binary=binaries.exactly(version), master=False) as haproxy,
        Client(
            settings(directory, haproxy_bin=haproxy.binary, validate_cmd="", reload_cmd=f"sh -c 'kill -USR2 {haproxy.pid}'", reload_delay=1)
        ) as client,
    ):
        yield Beside(client, haproxy)


@pytest.fixture(
    scope="module", params=["2.6", pytest.param("3.0", marks=pytest.mark.soak), pytest.param("3.2", marks=pytest.mark.soak), "3.4"]
)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def admin(version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    yield from beside(tmp_path_factory.mktemp("admin"), version, "admin")


REFUSED: Sequence[tuple[int, str, str, object]] = [
    (404, "POST", f"{RUNTIME}/backends/ghost/servers", {"name": "x", "address": "127.0.0.1"}),
    (404, "PUT", f"{SERVERS}/ghost", {"weight": 1}),
    (404, "DELETE", f"{SERVERS}/ghost", None),
    (409, "POST", SERVERS, {"name": "plain", "address": "127.0.0.1"}),
    (409, "POST", SERVERS, {"name": "x", "address": "127.0.0.1", "id": "1"}),
    (409, "POST", STATIC, {"name": "x", "address": "127.0.0.1"}),
    (400, "POST", SERVERS, {"name": "x", "address": "127.0.0.1", "track": "app/ghost"}),
    (400, "POST", SERVERS, {"name": "x", "address": "127.0.0.1", "ssl": "enabled", "ssl_certificate": "none.pem"}),
    (409, "PUT", f"{STATIC}/one", {"weight": 5}),
    (409, "PUT", f"{SERVERS}/unix", {"address": "127.0.0.1"}),
    (409, "PUT", f"{SERVERS}/tracking", {"operational_state": "stopping"}),
    (409, "DELETE", f"{SERVERS}/checked", None),
    (404, "POST", f"{ACLS}/99/entries", {"value": "10.0.0.1"}),
    (404, "PUT", f"{ACLS}/99/entries", []),
    (404, "DELETE", f"{ACLS}/0/entries/0x1", None),
    (404, "DELETE", f"{ACLS}/0/entries/zzz", None),
    (400, "POST", f"{ACLS}/0/entries", {"value": "memory"}),
    (400, "PUT", f"{ACLS}/0/entries", [{"value": "memory"}]),
    (404, "GET", f"{MAPS}/none.map/entries", None),
    (404, "PUT", f"{MAPS}/none.map", [{"key": "a", "value": "1"}]),
    (404, "DELETE", f"{MAPS}/none.map", None),
    (404, "POST", f"{MAPS}/none.map/entries", {"key": "a", "value": "1"}),
    (404, "PUT", f"{MAPS}/ints.map/entries/ghost", {"value": "1"}),
    (404, "DELETE", f"{MAPS}/ints.map/entries/ghost", None),
    (400, "PUT", f"{MAPS}/ints.map/entries/k", {"value": "memory"}),
    (400, "POST", f"{MAPS}/ints.map/entries", {"key": "m", "value": "memory"}),
    (400, "PUT", f"{MAPS}/ints.map", [{"key": "m", "value": "memory"}]),
    (404, "GET", f"{TABLES}/none/entries", None),
    (404, "POST", f"{TABLES}/none/entries", {"key": "a", "data_type": GPC}),
    (400, "POST", f"{TABLES}/addresses/entries", {"key": "a", "data_type": GPC}),
    (400, "POST", f"{TABLES}/addresses/entries", {"key": "1.2.3.4", "data_type": {"server_id": 1}}),
    (400, "GET", f"{TABLES}/addresses/entries?filter=gpc0%20xx%201", None),
    (204, "POST", f"{TABLES}/full/entries", {"key": "a", "data_type": GPC}),
    (409, "POST", f"{TABLES}/full/entries", {"key": "b", "data_type": GPC}),
    (404, "GET", f"{CERTS}/none.pem", None),
    (404, "PUT", f"{CERTS}/none.pem", TWO.pem),
    (404, "DELETE", f"{CERTS}/none.pem", None),
    (409, "DELETE", f"{CERTS}/D/a.pem", None),
    (400, "PUT", f"{CERTS}/D/a.pem", TWO.cert),
    (400, "PUT", f"{CERTS}/D/a.pem", TWO.cert + ONE.private),
    (400, "PUT", f"{CERTS}/D/a.pem", "garbage"),
    (404, "PUT", f"{CAS}/none.pem", ROOT.cert),
    (404, "DELETE", f"{CAS}/none.pem", None),
    (409, "DELETE", f"{CAS}/D/ca.pem", None),
    (400, "PUT", f"{CAS}/D/ca.pem", "garbage"),
    (404, "PUT", f"{CRLS}/none.pem", revoking(ROOT)),
    (404, "DELETE", f"{CRLS}/none.pem", None),
    (409, "DELETE", f"{CRLS}/D/crl.pem", None),
    (400, "PUT", f"{CRLS}/D/crl.pem", "garbage"),
    (404, "GET", f"{LISTS}/entries?name=none", None),
    (404, "POST", f"{LISTS}/entries?name=none", {"file": "a.pem"}),
    (404, "POST", f"{LISTS}/entries?name=D/list.txt", {"file": "none.pem"}),
    (409, "DELETE", f"{LISTS}/entries?name=D/list.txt&cert_file=D/a.pem", None),
    (404, "DELETE", f"{LISTS}/entries?name=D/list.txt&cert_file=none.pem", None),
]


def test_a_refusal_has_the_status_of_its_class(admin: Beside) -> None:
    wrong = []
    for status, method, target, body in REFUSED:
        got = admin(method, target, body)
        if got.status != status:
            wrong.append((status, method, target, got.status, got.body))
    assert wrong == []


@pytest.fixture(scope="module", params=["operator", "user"])
def limited(request: pytest.FixtureRequest, version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    yield from beside(tmp_path_factory.mktemp("limited"), version, request.param)


OF_OBJECTS: Sequence[tuple[str, str, object]] = [
    ("GET", ACLS, None),
    ("GET", f"{ACLS}/0", None),
    ("GET", f"{ACLS}/0/entries", None),
    ("POST", f"{ACLS}/0/entries", {"value": "10.1.0.0/16"}),
    ("PUT", f"{ACLS}/0/entries", [{"value": "10.1.0.0/16"}]),
    ("GET", MAPS, None),
    ("GET", f"{MAPS}/ints.map", None),
    ("GET", f"{MAPS}/ints.map/entries", None),
    ("GET", f"{MAPS}/ints.map/entries/k", None),
    ("POST", f"{MAPS}/ints.map/entries", {"key": "l", "value": "1"}),
    ("PUT", f"{MAPS}/ints.map/entries/k", {"value": "3"}),
    ("DELETE", f"{MAPS}/ints.map/entries/k", None),
    ("PUT", f"{MAPS}/ints.map", [{"key": "k", "value": "1"}]),
    ("DELETE", f"{MAPS}/ints.map", None),
    ("GET", SERVERS, None),
    ("GET", f"{SERVERS}/plain", None),
    ("POST", SERVERS, {"name": "x", "address": "127.0.0.1"}),
    ("PUT", f"{SERVERS}/plain", {"weight": 7}),
    ("DELETE", f"{SERVERS}/plain", None),
    ("GET", TABLES, None),
    ("GET", f"{TABLES}/addresses", None),
    ("GET", f"{TABLES}/addresses/entries", None),
    ("POST", f"{TABLES}/addresses/entries", {"key": "1.2.3.4", "data_type": GPC}),
    *(("GET", path, None) for path in (CERTS, CAS, CRLS, LISTS)),
    ("GET", f"{CERTS}/D/a.pem", None),
    ("POST", CERTS, TWO.pem),
    ("PUT", f"{CERTS}/D/a.pem", TWO.pem),
    ("DELETE", f"{CERTS}/D/a.pem", None),
    ("GET", f"{CAS}/D/ca.pem", None),
    ("PUT", f"{CAS}/D/ca.pem", ROOT.cert),
    ("DELETE", f"{CAS}/D/ca.pem", None),
    ("PUT", f"{CRLS}/D/crl.pem", revoking(ROOT)),
    ("DELETE", f"{CRLS}/D/crl.pem", None),
    ("GET", f"{LISTS}/entries?name=D/list.txt", None),
    ("POST", f"{LISTS}/entries?name=D/list.txt", {"file": "a.pem"}),
    ("DELETE", f"{LISTS}/entries?name=D/list.txt&cert_file=D/a.pem", None),
    ("GET", f"{RUNTIME}/info", None),
    ("GET", "/v3/services/haproxy/stats/native", None),
]


def test_a_level_that_does_not_suffice_is_named(limited: Beside) -> None:
    """Each call does what it is to do, or is 403 with the level: never missing, and never data made of HAProxy's words."""
    wrong, denied = [], 0
    for method, target, body in OF_OBJECTS:
        got = limited(method, target, body)
        if got.status == 403:
            denied += 1
            is_told = f"socket {limited.haproxy.stats} has level " in got.message and "this needs level " in got.message
        else:
            is_told = got.status < 300 and b"denied" not in got.body
        if not is_told:
            wrong.append((method, target, got.status, got.body))
    assert (wrong, denied >= 8) == ([], True)


def test_a_change_of_the_configuration_waits_for_a_reload_then(limited: Beside) -> None:
    """Nothing that a commit does needs the socket's level: what cannot be made live is loaded."""
    configuration = "/v3/services/haproxy/configuration"
    for method, target, body in (
        ("PUT", "backends/app/servers/plain", {"name": "plain", "address": "127.0.0.1", "port": 3}),
        ("POST", "backends/app/servers", {"name": "y", "address": "127.0.0.1", "port": 1}),
    ):
        got = limited(method, f"{configuration}/{target}?version={limited('GET', f'{configuration}/version').json}", body)
        assert (got.status, "Reload-Id" in got.headers) == (202, True), got
        reload_id = got.headers["Reload-Id"]
    for path in ("drift", "overrides", "drains", "workers", "effective", "references?object=backend%2Fapp"):
        got = limited("GET", f"/v3/sidecar/{path}")
        assert got.status < 500, (path, got)
    # Another test beside this HAProxy must not meet the reload.
    deadline = time.monotonic() + 120
    while limited("GET", f"/v3/services/haproxy/reloads/{reload_id}").json["status"] == "in_progress":
        assert time.monotonic() < deadline, "the reload does not end"
        time.sleep(0.05)
