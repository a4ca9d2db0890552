"""What stored files would change, of which nothing is stored."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.commit.preview import LARGEST_DIFFERENCE
from tests.app.client import Client, serving
from tests.app.handlers.sidecar.test_plan import PLAN, form


@pytest.fixture
def client(tmp_path: Path, haproxy_binary: str) -> Iterator[Client]:
    with serving(tmp_path, haproxy_bin=haproxy_binary, validate_cmd="") as running:
        yield running


KEY = b"-----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----\n"


def diff(client: Client, store: str, name: str, content: bytes) -> str | None:
    body, headers = form((store, name, content))
    (shown,) = client.post(PLAN, body, headers=headers).json["files"]
    assert (shown["store"], shown["name"]) == (store, name)
    difference: str | None = shown.get("diff")
    return difference


def test_the_difference_from_what_is_stored(client: Client, tmp_path: Path) -> None:
    (tmp_path / "maps").mkdir(exist_ok=True)
    (tmp_path / "maps" / "x.map").write_text("a b\n")
    assert (diff(client, "maps", "x.map", b"a c\n") or "").endswith("-a b\n+a c\n")
    assert (diff(client, "maps", "y.map", b"a c\n") or "").endswith("+a c\n")
    assert diff(client, "maps", "x.map", b"a b\n") == ""
    assert (tmp_path / "maps" / "x.map").read_text() == "a b\n"


@pytest.mark.parametrize("content", [KEY, b"a b\n" * LARGEST_DIFFERENCE, b"\0\1"])
def test_none_of_what_is_large_or_may_be_a_key(client: Client, tmp_path: Path, content: bytes) -> None:
    assert diff(client, "general", "x", content) is None
    (tmp_path / "general").mkdir(exist_ok=True)
    (tmp_path / "general" / "x").write_bytes(content)
    assert diff(client, "general", "x", b"a b\n") is None


def test_what_a_store_does_not_take(client: Client, tmp_path: Path) -> None:
    body, headers = form(("ssl_certificates", "site.pem", KEY))
    refused = client.post(PLAN, body, headers=headers)
    assert (refused.status, refused.message.startswith("part ssl_certificates, site.pem: ")) == (400, True)


MAPS, BATCH = "/v3/services/haproxy/storage/maps", "/v3/sidecar/batch"


def test_files_of_a_transaction_and_of_a_batch(client: Client, tmp_path: Path) -> None:
    (tmp_path / "maps").mkdir(exist_ok=True)
    (tmp_path / "maps" / "x.map").write_text("a b\n")
    put = {"method": "PUT", "path": f"{MAPS}/x.map", "body": "a c\n", "content_type": "text/plain"}
    planned = client.post(f"{BATCH}?dry_run=true", [put]).json
    assert [(each["name"], each["diff"][-10:]) for each in planned["files"]] == [("x.map", "-a b\n+a c\n")] and planned["diff"] == ""
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    sent = client.put(f"{MAPS}/x.map?transaction_id={id_}", b"a c\n", headers={"Content-Type": "text/plain"})
    assert sent.status == 200, sent.body
    of_transaction = client.post(f"{PLAN}?transaction_id={id_}").json
    assert of_transaction["files"] == planned["files"] and not of_transaction["reload"]
    body, headers = form(("general", "y", b"y\n"))
    together = client.post(f"{PLAN}?transaction_id={id_}", body, headers=headers).json
    assert [each["name"] for each in together["files"]] == ["x.map", "y"]
    assert (tmp_path / "maps" / "x.map").read_text() == "a b\n"
