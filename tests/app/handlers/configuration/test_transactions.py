"""Transactions over HTTP."""

from pathlib import Path

import pytest

from tests.app.client import CONFIG, Client, Got, serving

TRANSACTIONS = "/v3/services/haproxy/transactions"


def start(client: Client, version: int = 1) -> str:
    return str(client.post(f"{TRANSACTIONS}?version={version}").json["id"])


def add(client: Client, id_: str, name: str) -> Got:
    return client.post(f"{CONFIG}/backends?transaction_id={id_}", {"name": name})


def test_from_start_to_commit(client: Client) -> None:
    started = client.post(f"{TRANSACTIONS}?version=1")
    id_ = started.json["id"]
    assert (started.status, started.json) == (201, {"_version": 1, "id": id_, "status": "in_progress"})
    added = add(client, id_, "be1")
    assert (added.status, added.json, added.headers["Configuration-Version"]) == (202, {"from": "base", "name": "be1"}, "1")
    assert "Reload-Id" not in added.headers
    assert client.get(f"{CONFIG}/backends/be1").status == 404
    assert client.get(f"{CONFIG}/backends/be1?transaction_id={id_}").status == 200
    assert client.get(TRANSACTIONS).json == [started.json] == [client.get(f"{TRANSACTIONS}/{id_}").json]
    done = client.put(f"{TRANSACTIONS}/{id_}")
    assert (done.status, done.json) == (202, {"_version": 1, "id": id_, "status": "success"})
    assert (done.headers["Configuration-Version"], bool(done.headers["Reload-Id"])) == ("2", True)
    again = client.put(f"{TRANSACTIONS}/{id_}")
    assert (again.status, again.message) == (404, f"transaction does not exist: transaction {id_} does not exist")
    assert client.get(TRANSACTIONS).json == []


def test_a_forced_commit(client: Client) -> None:
    id_ = start(client)
    add(client, id_, "be1")
    done = client.put(f"{TRANSACTIONS}/{id_}?force_reload=true")
    assert (done.status, "Reload-Id" in done.headers) == (200, False)


def test_a_failed_forced_reload_is_400(tmp_path: Path) -> None:
    with serving(tmp_path, reload_cmd="false") as client:
        id_ = start(client)
        add(client, id_, "be1")
        done = client.put(f"{TRANSACTIONS}/{id_}?force_reload=true")
        assert (done.status, done.message[:40]) == (400, "Reload failed: executing false failed: e")
        assert client.get(f"/v3/services/haproxy/reloads/{done.json['reload_id']}").json["status"] == "failed"


def test_of_two_the_second_is_outdated(client: Client) -> None:
    first, second = start(client), start(client)
    add(client, first, "be1")
    assert client.put(f"{TRANSACTIONS}/{first}").status == 202
    late = client.put(f"{TRANSACTIONS}/{second}")
    assert (late.status, late.message.partition(";")[0]) == (406, f"transaction {second} is outdated and cannot be committed")


def test_a_write_in_between_is_a_conflict(client: Client) -> None:
    id_ = start(client)
    client.post(f"{CONFIG}/backends?version=1", {"name": "other"})
    late = client.put(f"{TRANSACTIONS}/{id_}")
    assert late.status == 409
    assert late.message == "version mismatch: version mismatch, transaction version: 1, configured version: 2"
    assert client.put(f"{TRANSACTIONS}/{id_}").status == 406


def test_dropping(client: Client) -> None:
    id_ = start(client)
    dropped = client.delete(f"{TRANSACTIONS}/{id_}")
    assert (dropped.status, dropped.body, "Content-Type" in dropped.headers) == (204, b"", False)
    again = client.delete(f"{TRANSACTIONS}/{id_}")
    assert (again.status, again.message) == (404, f"transaction does not exist: transaction file {id_} does not exist")


def test_the_limit(tmp_path: Path) -> None:
    with serving(tmp_path, max_open_transactions=1) as client:
        start(client)
        full = client.post(f"{TRANSACTIONS}?version=1")
        assert full.status == 429
        assert full.message == "cannot start a new transaction, reached the maximum amount of 1 active transactions available"


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("", 400, "Query argument version is required, but not found"),
        ("?version=9", 409, "version mismatch: version in configuration file is 1, given version is 9"),
        ("?version=x", 400, "Invalid format for parameter version: "),
    ],
)
def test_a_start_that_is_refused(client: Client, query: str, status: int, said: str) -> None:
    got = client.post(TRANSACTIONS + query)
    assert (got.status, got.message[: len(said)]) == (status, said)


def test_filters(client: Client) -> None:
    start(client)
    assert len(client.get(f"{TRANSACTIONS}?status=in_progress").json) == 1
    assert client.get(f"{TRANSACTIONS}?status=failed").json == []
    refused = client.get(f"{TRANSACTIONS}?status=outdated")
    assert (refused.status, refused.message) == (400, 'status in query: value is not one of the allowed values ["failed","in_progress"]')


def test_an_unknown_one(client: Client) -> None:
    got = client.get(f"{TRANSACTIONS}/none")
    assert (got.status, got.message) == (404, "transaction does not exist: transaction none does not exist")
