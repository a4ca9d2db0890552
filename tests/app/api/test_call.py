"""From a request to what its handler gets; the order of the stages is tested with the middleware."""

import json

import pytest

from dataplaneapi.api.bodies import OBJECT_BYTES
from tests.app.client import CONFIG, Client

TRANSACTIONS = "/v3/services/haproxy/transactions"


def test_a_content_type_without_a_body_does_no_harm(client: Client) -> None:
    sent = {"Content-Type": "application/json"}
    id_ = client.post(f"{TRANSACTIONS}?version=1", headers=sent).json["id"]
    assert client.get(f"{CONFIG}/backends", headers=sent).status == 200
    assert client.delete(f"{TRANSACTIONS}/{id_}", headers=sent).status == 204


@pytest.mark.parametrize(("body", "said"), [(b"", "value is required but missing"), (b" ", "failed to decode request body")])
def test_a_body_that_is_not_there(client: Client, body: bytes, said: str) -> None:
    got = client.post(f"{CONFIG}/backends?version=1", body, headers={"Content-Type": "application/json"})
    assert (got.status, got.message[: len(said)]) == (400, said)


def test_a_body_over_the_limit(client: Client) -> None:
    client.app.services.settings = type(client.settings)(max_body_size=100)
    got = client.post(f"{CONFIG}/backends?version=1", {"name": "x" * 100})
    assert (got.status, got.message) == (
        413,
        "request body exceeds the maximum allowed size of 100 bytes, which the setting max_body_size changes",
    )
    assert client.get("/v3/info").headers["Configuration-Version"] == "1"


def test_force_reload_and_a_transaction_without_a_body(client: Client) -> None:
    got = client.delete(f"{CONFIG}/backends/app?force_reload=true&transaction_id=x")
    assert (got.status, got.message) == (400, "Both force_reload and transaction specified, specify only one")


def test_what_is_not_utf8(client: Client) -> None:
    got = client.post(f"{CONFIG}/backends?version=1", b'{"name": "\xff"}', headers={"Content-Type": "application/json"})
    assert got.status == 400
    assert json.loads(got.body)["code"] == 400


def test_half_characters_and_line_breaks_name_the_member(client: Client) -> None:
    got = client.post(f"{CONFIG}/backends?version=1", {"name": "b", "description": "a\nserver evil 1.1.1.1"})
    assert (got.status, got.message) == (422, "description in body must not contain a line break")
    got = client.post(
        f"{CONFIG}/backends?version=1", b'{"name": "b", "description": "\\ud800"}', headers={"Content-Type": "application/json"}
    )
    assert (got.status, got.message) == (422, "description in body must not contain an unpaired surrogate")


def test_the_largest_body_where_no_setting_says_so(client: Client) -> None:
    long, servers = {"name": "x", "description": "x" * OBJECT_BYTES}, {f"s{i}": {"name": f"s{i}", "address": "::1"} for i in range(30_000)}
    refused = client.post(f"{CONFIG}/backends?version=1", long)
    assert (refused.status, str(OBJECT_BYTES) in refused.message, "max_body_size" in refused.message) == (413, True, True)
    whole = {"name": "x", "servers": servers, "mode": "nonsense"}
    assert client.post(f"{CONFIG}/backends?version=1&full_section=true", whole).message.startswith("mode in body should be one of")
    assert client.put(f"{CONFIG}/backends/app/acls?version=1", [long] * 2).status == 422


def test_a_text_is_no_longer_than_declared(client: Client) -> None:
    got = client.post(f"{CONFIG}/backends?version=1", {"name": "x" * 70_000})
    assert (got.status, got.message) == (422, "name in body should be at most 65536 chars long")
