"""Scopes over HTTP."""

from pathlib import Path

import pytest

from tests.app.client import serving
from tests.app.spoe import FILE, FILES, ONE, TEXT, furnish


def test_from_creation_to_deletion(tmp_path: Path) -> None:
    path = furnish(tmp_path)
    with serving(tmp_path) as client:
        assert client.get(f"{FILE}/scopes").json == ["[one]"]
        assert client.get(ONE).json == "[one]"
        created = client.post(f"{FILE}/scopes?version=3", "[two]")
        assert (created.status, created.json) == (201, "[two]")
        assert path.read_text() == TEXT.replace("=3", "=4") + "\n[two]\n"
        stale = client.post(f"{FILE}/scopes?version=3", "[three]")
        assert (stale.status, stale.message) == (409, "version mismatch: version in configuration file is 4, given version is 3")
        assert client.delete(f"{FILE}/scopes/%5Btwo%5D?version=4").status == 204
        assert path.read_text() == TEXT.replace("=3", "=5")


@pytest.mark.parametrize(
    ("method", "target", "body", "status", "said"),
    [
        ("POST", "/scopes?version=3", "[one]", 409, "object already exists: scope [one] already exists"),
        ("POST", "/scopes?version=3", "two", 400, "validation error: 'two' is not the name of a scope"),
        ("POST", "/scopes?version=3", {}, 400, "failed to decode request body: "),
        (
            "POST",
            "/scopes",
            "[two]",
            400,
            "version or transaction not specified: add ?version=3, the result of GET /v3/services/haproxy/spoe/f.cfg/version",
        ),
        ("POST", "/scopes?version=3&transaction_id=x", "[two]", 400, "both version and transaction specified, specify only one"),
        ("POST", "/scopes?transaction_id=x", "[two]", 400, "transaction does not exist: transaction x does not exist"),
        ("GET", "/scopes?transaction_id=x", None, 400, "transaction does not exist: transaction x does not exist"),
        ("GET", "/scopes/%5Btwo%5D", None, 404, "missing object: scope [two] does not exist"),
        ("DELETE", "/scopes/%5Btwo%5D?version=3", None, 404, "missing object: scope [two] does not exist"),
    ],
)
def test_what_is_refused(tmp_path: Path, method: str, target: str, body: object, status: int, said: str) -> None:
    path = furnish(tmp_path)
    with serving(tmp_path) as client:
        got = client(method, FILE + target, body)
        assert (got.status, got.message[: len(said)]) == (status, said)
        assert path.read_text() == TEXT


def test_an_unknown_file(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        got = client.get(f"{FILES}/none.cfg/scopes")
        assert (got.status, got.message) == (404, "client none.cfg not configured")
