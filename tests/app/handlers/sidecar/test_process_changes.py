"""Changes of the running process alone are entered in the history, and cannot be reverted."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.app.client import Client, Got, settings
from tests.app.handlers.conftest import CONFIG, RUNTIME
from tests.app.handlers.sidecar.test_history import HISTORY, entered
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.tls.pems import authority, made, revoking
from tests.tls.served import quoted, tls_client, upload
from tests.tls.site import TlsSite

SERVERS = f"{RUNTIME}/backends/app/servers"
TABLE = f"{RUNTIME}/stick_tables/counters/entries"
# Makes a change; takes what stands behind its path.
Make = Callable[[str], Got]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Client]:
    nets = tmp_path / "nets.acl"
    nets.touch()
    haproxy = HAProxy(tmp_path, CONFIG.format(port=free_port(), nets=nets), binary=binaries.exactly("3.2"))
    with haproxy, Client(settings(tmp_path, master_runtime=str(haproxy.master), master_worker_mode=True)) as client, entered(client):
        yield client


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[TlsSite, Client]]:
    with tls_client(tmp_path, binaries.exactly("3.2")) as (site, client), entered(client):
        yield site, client


def check(client: Client, object_: str, make: Make) -> None:
    """The change is refused with `confirm`; without it, it is entered under its object, and a revert is refused with the remedies."""
    refused = make("confirm=60s")
    assert refused.status == 400 and f"cannot roll back a change of {object_} in the running process alone" in refused.message, refused.body
    assert client.get(HISTORY).json == [] and [each["status"] for each in client.get("/v3/sidecar/confirmations").json] == ["void"]
    assert make("").status < 300
    (entry,) = client.get(HISTORY).json
    assert entry["kind"] == "runtime" and object_ in entry["objects"]
    assert client.get(f"{HISTORY}/{entry['id']}").status == 200
    answer = client.post(f"{HISTORY}/{entry['id']}/revert", None)
    assert answer.status == 409 and "in the running process alone and cannot be reverted" in answer.message, answer.body
    assert "DELETE /v3/sidecar/overrides/" in answer.message and "POST /v3/sidecar/reloads" in answer.message
    assert len(client.get(HISTORY).json) == 1


@pytest.mark.parametrize(
    ("object_", "method", "path", "body"),
    [
        ("backend/app/server/new", "POST", SERVERS, {"name": "new", "address": "127.0.0.9", "port": 99}),
        ("backend/app/server/checked", "DELETE", f"{SERVERS}/checked", None),
        ("stick_table/counters/entry/10.0.0.1", "POST", TABLE, {"key": "10.0.0.1", "data_type": {"gpc0": 5}}),
    ],
)
def test_objects_of_the_process(live: Client, object_: str, method: str, path: str, body: object) -> None:
    check(live, object_, lambda query: live(method, f"{path}?{query}", body))


@pytest.mark.parametrize("kind", ["certificate", "ca_file", "crl_file", "crt_list"])
def test_tls_files_of_the_process(site: tuple[TlsSite, Client], kind: str) -> None:
    tls, client = site
    if kind == "crt_list":
        target = f"{RUNTIME}/ssl_crt_lists/entries?name={quoted(tls.path('list.txt'))}"
        entry = {"file": tls.path("a.pem"), "sni_filter": ["one.example"]}
        check(client, f"crt_list/{quoted(tls.path('list.txt'))}", lambda query: client.post(f"{target}&{query}", entry))
        return
    name, place, data = {
        "certificate": ("plain.pem", "ssl_certs", made("plain.example.com", 0x200).pem),
        "ca_file": ("ca.pem", "ssl_ca_files", made("authority", 4242, ca=True).cert),
        "crl_file": ("crl.pem", "ssl_crl_files", revoking(authority(), 77)),
    }[kind]
    target = f"{RUNTIME}/{place}/{quoted(tls.path(name))}"
    check(client, f"{kind}/{quoted(tls.path(name))}", lambda query: upload(client, "PUT", f"{target}?{query}", data))


def test_what_is_set_on_a_server_ends_with_its_override(live: Client) -> None:
    assert live.put(f"{SERVERS}/plain", {"weight": 3}).status == 200
    (entry,) = live.get(HISTORY).json
    (effect,) = live.get(f"{HISTORY}/{entry['id']}").json["effects"]
    assert (effect["member"], effect["old"], effect["new"]) == ("weight", 10, 3)
    assert live.post(f"{HISTORY}/{entry['id']}/revert", None).status == 409
    assert live.delete("/v3/sidecar/overrides/backend/app/server/plain").status < 300
    assert live.get(f"{SERVERS}/plain").json["uweight"] == 10


def test_what_is_set_on_a_server_is_rolled_back_without_a_confirmation(live: Client) -> None:
    answer = live.put(f"{SERVERS}/plain?confirm=1h", {"weight": 3, "admin_state": "drain"})
    assert answer.status == 200 and live.get(f"{SERVERS}/plain").json["uweight"] == 3
    assert live.delete(answer.headers["Location"]).json["status"] == "returned"
    assert live.get(f"{SERVERS}/plain").json["uweight"] == 10 and live.get(f"{SERVERS}/plain").json["admin_state"] == "ready"
