"""Transactions on a SPOE file over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.client import Client, serving
from tests.app.spoe import FILE, FILES, SPOE, furnish

TRANSACTIONS = f"{FILE}/transactions"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    furnish(tmp_path)
    with serving(tmp_path) as client:
        yield client


def start(client: Client, version: int = 3) -> str:
    return str(client.post(f"{TRANSACTIONS}?version={version}").json["id"])


def test_from_start_to_commit(client: Client) -> None:
    assert client.get(TRANSACTIONS).json == []
    id_ = start(client)
    transaction = {"_version": 3, "id": id_, "status": "in_progress"}
    assert client.get(TRANSACTIONS).json == [transaction] == [client.get(f"{TRANSACTIONS}/{id_}").json]
    assert client.get(f"{TRANSACTIONS}?status=failed").json == []
    assert client.post(f"{FILE}/scopes?transaction_id={id_}", "[two]").status == 201
    assert client.get(f"{FILE}/scopes?transaction_id={id_}").json == ["[one]", "[two]"]
    assert client.get(f"{FILE}/scopes").json == ["[one]"]
    assert client.get(f"{SPOE}/f.cfg/version?transaction_id={id_}").json == 3
    done = client.put(f"{TRANSACTIONS}/{id_}")
    assert (done.status, done.json, bool(done.headers["Reload-Id"])) == (202, {**transaction, "status": "success"}, True)
    assert client.get(f"{SPOE}/f.cfg/version").json == 4
    assert client.get(f"{FILE}/scopes").json == ["[one]", "[two]"]


def test_a_forced_commit(client: Client) -> None:
    done = client.put(f"{TRANSACTIONS}/{start(client)}?force_reload=true")
    assert (done.status, "Reload-Id" in done.headers) == (200, False)


def test_what_is_not_there(client: Client) -> None:
    said = "transaction does not exist: transaction none does not exist"
    for method in ("GET", "PUT"):
        got = client(method, f"{TRANSACTIONS}/none")
        assert (got.status, got.message) == (400, said)
    gone = client.delete(f"{TRANSACTIONS}/none")
    assert (gone.status, gone.message) == (400, "transaction does not exist: transaction file none does not exist")
    assert client.get(f"{FILES}/none.cfg/transactions").status == 404


def test_versions(client: Client) -> None:
    got = client.post(TRANSACTIONS)
    assert (got.status, got.message) == (400, "Query argument version is required, but not found")
    got = client.post(f"{TRANSACTIONS}?version=9")
    assert (got.status, got.message) == (409, "version mismatch: version in configuration file is 3, given version is 9")
    one, two = start(client), start(client)
    assert client.delete(f"{TRANSACTIONS}/{one}").status == 204
    assert client.post(f"{FILE}/scopes?version=3", "[direct]").status == 201
    late = client.put(f"{TRANSACTIONS}/{two}")
    assert (late.status, late.message) == (409, "version mismatch: version mismatch, transaction version: 3, configured version: 4")
    assert client.get(f"{TRANSACTIONS}/{two}").status == 400
