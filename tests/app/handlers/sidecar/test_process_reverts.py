"""Changes of objects of the running process are entered with their members, and taken back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.client import Client, Got, settings
from tests.app.handlers.conftest import CONFIG, RUNTIME
from tests.app.handlers.sidecar.test_history import HISTORY, entered
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.tls.pems import authority, made, revoking
from tests.tls.served import quoted, tls_client, upload
from tests.tls.site import TlsSite

VERSIONS = (*binaries.EACH, "3.4")
SERVERS = f"{RUNTIME}/backends/app/servers"
OTHER = made("authority", 4242, ca=True).cert
Both = tuple[TlsSite, Client]


@pytest.fixture(params=VERSIONS)
def live(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Client]:
    nets = tmp_path / "nets.acl"
    nets.touch()
    haproxy = HAProxy(tmp_path, CONFIG.format(port=free_port(), nets=nets), binary=binaries.exactly(request.param))
    with haproxy, Client(settings(tmp_path, master_runtime=str(haproxy.master), master_worker_mode=True)) as client, entered(client):
        yield client


@pytest.fixture(params=VERSIONS)
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Both]:
    with tls_client(tmp_path, binaries.exactly(request.param)) as (site, client), entered(client):
        yield site, client


def newest(client: Client) -> dict[str, Any]:
    """The newest entry, with its effects by member."""
    entry = client.get(f"{HISTORY}/{client.get(HISTORY).json[0]['id']}").json
    return entry | {"by": {each.get("member", ""): (each.get("old"), each.get("new")) for each in entry["effects"]}}


def revert(client: Client, entry: dict[str, Any]) -> Got:
    return client.post(f"{HISTORY}/{entry['id']}/revert", None)


def rows(client: Client) -> dict[str, Any]:
    """Servers, without what changes by itself."""
    passing = ("last_time_change", "check_result", "check_health", "check_status", "id", "check_state", "operational_state")
    servers = client.get(SERVERS).json
    return {server["name"]: {name: value for name, value in server.items() if name not in passing} for server in servers}


def test_a_server_that_was_added(live: Client) -> None:
    before = rows(live)
    added = {"name": "new", "address": "127.0.0.9", "port": 99, "weight": 7}
    assert live.post(SERVERS, added).status == 201
    entry = newest(live)
    old, new = entry["by"][""]
    assert old is None and (new["address"], new["port"], new["weight"], new["admin_state"]) == ("127.0.0.9", 99, 7, "maint")
    assert live.put(f"{SERVERS}/new", {"weight": 9}).status == 200
    collision = revert(live, entry)
    assert collision.status == 409 and "weight of backend/app/server/new is 9 by now, not 7; it would go" in collision.message
    assert "new" in rows(live)
    assert revert(live, newest(live)).json["changes"] == 1
    assert revert(live, entry).json["changes"] == 1 and rows(live) == before
    assert revert(live, entry).json["changes"] == 0
    back = newest(live)
    assert back["cause"] == f"revert/{entry['id']}" and back["by"][""][1] is None
    assert revert(live, back).status == 200 and rows(live)["new"]["weight"] == 7
    assert revert(live, newest(live)).status == 200 and rows(live) == before


def test_a_server_of_the_file_that_was_deleted(live: Client) -> None:
    assert live.put(f"{SERVERS}/checked", {"weight": 5, "port": 22, "admin_state": "maint"}).status == 200
    before = rows(live)
    assert live.delete(f"{SERVERS}/checked").status == 204 and "checked" not in rows(live)
    entry = newest(live)
    assert entry["by"][""][1] is None and entry["by"][""][0]["weight"] == 5
    answer = revert(live, entry)
    assert answer.status == 200, answer.message
    assert rows(live) == before
    overrides = {
        (each["object"], each["member"]): each["value"] for each in live.get("/v3/sidecar/overrides").json if each.get("former") is not None
    }
    assert overrides["backend/app/server/checked", "weight"] == 5
    assert live.put(f"{SERVERS}/checked", {"weight": 1, "port": 2, "admin_state": "ready"}).status == 200
    assert live.app.services.engine.context.running.drift() == []


def test_a_server_that_was_added_and_deleted(live: Client) -> None:
    assert live.post(SERVERS, {"name": "other", "address": "127.0.0.9", "port": 98, "check": "enabled", "inter": 3600000}).status == 201
    assert live.put(f"{SERVERS}/other", {"admin_state": "ready", "weight": 4}).status == 200
    before = rows(live)
    assert live.delete(f"{SERVERS}/other").status == 204
    entry = newest(live)
    assert revert(live, entry).json["changes"] == 1
    assert rows(live) == before
    assert live.delete(f"{SERVERS}/other").status == 204
    assert live.post(SERVERS, {"name": "other", "address": "127.0.0.8", "port": 98}).status == 201
    collision = revert(live, entry)
    assert collision.status == 409 and "backend/app/server/other is there again by now" in collision.message
    assert live.delete(f"{SERVERS}/other").status == 204


def test_the_health_of_a_server(live: Client) -> None:
    assert live.put(f"{SERVERS}/plain", {"operational_state": "down"}).status == 200
    entry = newest(live)
    assert entry["by"] == {"operational_state": ("up", "down")}
    assert revert(live, entry).json["changes"] == 1
    assert live.get(f"{SERVERS}/plain").json["operational_state"] == "up"
    assert revert(live, entry).json["changes"] == 0


def test_an_entry_of_a_stick_table(live: Client) -> None:
    entries = f"{RUNTIME}/stick_tables/counters/entries"

    def data() -> dict[str, int]:
        return {each["key"]: each["gpc0"] for each in live.get(entries).json}

    assert live.post(entries, {"key": "a b", "data_type": {"gpc0": 5, "http_req_rate": 9}}).status == 204
    first = newest(live)
    assert first["by"][""][0] is None and first["by"][""][1]["gpc0"] == 5
    assert live.post(entries, {"key": "a b", "data_type": {"gpc0": 8}}).status == 204
    second = newest(live)
    assert second["by"]["gpc0"] == (5, 8)
    collision = revert(live, first)
    assert collision.status == 409 and "is 8 by now, not 5" in collision.message
    assert revert(live, second).json["changes"] == 1 and data() == {"a b": 5}
    assert revert(live, first).json["changes"] == 1 and data() == {}
    assert revert(live, newest(live)).status == 409, "an entry of a table comes back with requests only"
    collision = revert(live, second)
    assert collision.status == 409 and "stick_table/counters/entry/a b is gone by now" in collision.message


def test_a_certificate(site: Both) -> None:
    tls, client = site
    name = quoted(tls.path("plain.pem"))
    target = f"{RUNTIME}/ssl_certs/{name}"
    first, second = made("plain.example.com", 0x200), made("plain.example.com", 0x300)
    assert upload(client, "PUT", target, first.pem).status == 200
    entry = newest(client)
    assert entry["by"]["serial"] == ("64", "0200") and "sha1_finger_print" in entry["by"] and "PRIVATE" not in str(entry)
    assert upload(client, "PUT", target, second.pem).status == 200
    collision = revert(client, entry)
    assert collision.status == 409 and "by now, not" in collision.message
    assert revert(client, newest(client)).json["changes"] == 1 and tls.serial("FILE") == 0x200
    (tls.directory / "plain.pem").write_text(second.pem)
    answer = revert(client, entry)
    assert answer.status == 200, answer.message
    assert tls.serial("FILE") == 100


def test_a_certificate_that_came_and_went(site: Both) -> None:
    _, client = site
    pem = made("live.example.com", 0x400).pem
    assert upload(client, "POST", f"{RUNTIME}/ssl_certs", pem).status == 201
    entry = newest(client)
    assert entry["by"][""][1]["serial"] == "0400"
    assert revert(client, entry).json["changes"] == 1 and client.get(f"{RUNTIME}/ssl_certs/file.pem").status == 404
    assert revert(client, newest(client)).json["changes"] == 1 and client.get(f"{RUNTIME}/ssl_certs/file.pem").json["serial"] == "0400"
    assert client.delete(f"{RUNTIME}/ssl_certs/file.pem").status == 204
    assert revert(client, newest(client)).json["changes"] == 1 and client.get(f"{RUNTIME}/ssl_certs/file.pem").json["serial"] == "0400"


def test_a_certificate_whose_former_content_is_not_known(site: Both) -> None:
    tls, client = site
    (tls.directory / "plain.pem").write_text(made("plain.example.com", 0x500).pem)
    assert upload(client, "PUT", f"{RUNTIME}/ssl_certs/{quoted(tls.path('plain.pem'))}", made("plain.example.com", 0x600).pem).status == 200
    entry = newest(client)
    answer = revert(client, entry)
    assert (
        answer.status == 409
        and "no call that is kept has brought it" in answer.message
        and entry["by"]["sha1_finger_print"][0] in answer.message
    )
    assert tls.serial("FILE") == 0x600


def test_authorities_and_revocations(site: Both) -> None:
    tls, client = site
    issuer = authority()
    for kind, name, content in (("ssl_ca_files", "ca.pem", OTHER), ("ssl_crl_files", "crl.pem", revoking(issuer, 77))):
        target = f"{RUNTIME}/{kind}/{quoted(tls.path(name))}"
        before = client.get(target).json
        assert upload(client, "PUT", target, content).status in (200, 201)
        entry = newest(client)
        assert "mark" in entry["by"]
        answer = revert(client, entry)
        assert answer.status == 200 and answer.json["changes"] == 1, answer.message
        assert client.get(target).json == before
        assert upload(client, "POST", f"{RUNTIME}/{kind}", content).status == 201
        assert revert(client, newest(client)).json["changes"] == 1 and client.get(f"{RUNTIME}/{kind}/file.pem").status == 404


def test_authorities_that_were_added(site: Both) -> None:
    tls, client = site
    target = f"{RUNTIME}/ssl_ca_files/{quoted(tls.path('ca.pem'))}"
    if upload(client, "POST", f"{target}/entries", OTHER).status != 201:
        assert client.get(HISTORY).json == [], "2.6 adds none"
        return
    extended = newest(client)
    assert extended["by"]["certificates"] == (1, 2)
    assert upload(client, "PUT", target, OTHER).status == 201
    assert revert(client, newest(client)).json["changes"] == 1, "what was made of two parts is known"
    assert revert(client, extended).json["changes"] == 1


def test_entries_of_a_list(site: Both) -> None:
    tls, client = site
    target, pem = f"{RUNTIME}/ssl_crt_lists/entries?name={quoted(tls.path('list.txt'))}", tls.path("a.pem")

    def lines() -> list[tuple[str, ...]]:
        return [(each["file"], *each.get("sni_filter", [])) for each in client.get(target).json]

    before = lines()
    for name in ("one.example", "two.example"):
        assert client.post(target, {"file": pem, "ssl_bind_config": "alpn h2", "sni_filter": [name]}).status == 201
    second = newest(client)
    assert len(second["by"]["entries"][1]) == 4
    first = client.get(f"{HISTORY}/{int(second['id']) - 1}").json
    assert revert(client, first).json["changes"] == 1 and lines() == [*before, (pem, "two.example")]
    third = newest(client)
    assert revert(client, third).json["changes"] == 1, "the order of entries for different names does not count"
