"""The configuration as text."""

from hashlib import md5
from pathlib import Path

import httpx2
import pytest

from tests.app.client import CONFIG, CONFIGURATION, Client, Got, serving
from tests.haproxy.sidecar import Sidecar

RAW = f"{CONFIG}/raw"
TEXT = b"global\n  maxconn 5\n\nbackend pushed\n"


def push(client: Client, query: str = "version=1", body: bytes = TEXT) -> Got:
    return client.post(f"{RAW}?{query}", body, headers={"Content-Type": "text/plain"})


def test_the_file_as_it_is(client: Client) -> None:
    got = client.get(RAW)
    assert (got.status, got.headers["Content-Type"], got.body.decode()) == (200, "text/plain", CONFIGURATION)
    assert "Configuration-Checksum" not in got.headers
    assert client.get(RAW, headers={"Accept": "application/json"}).status == 200


def test_a_push(client: Client) -> None:
    got = push(client)
    assert (got.status, got.headers["Configuration-Version"], got.headers["Content-Type"]) == (202, "2", "text/plain")
    assert got.headers["Reload-Id"]
    assert got.body == client.file.read_bytes()
    assert got.body.endswith(TEXT)
    assert b"# _version=2\n" in got.body
    assert got.headers["Configuration-Checksum"] == md5(got.body.partition(b"\n")[2], usedforsecurity=False).hexdigest()


@pytest.mark.parametrize(
    ("query", "status", "version"),
    [
        ("version=1&force_reload=true", 201, "2"),
        ("version=1&skip_reload=true", 201, "2"),
        ("version=1&skip_reload=true&force_reload=true", 201, "2"),
        ("skip_version=true", 202, "1"),
        ("only_validate=true", 202, "1"),
        ("only_validate=true&version=9&skip_reload=true", 202, "1"),
    ],
)
def test_switches(client: Client, query: str, status: int, version: str) -> None:
    got = push(client, query)
    assert (got.status, got.headers["Configuration-Version"]) == (status, version)
    scheduled = status == 202 and "only_validate" not in query
    assert ("Reload-Id" in got.headers) == scheduled
    assert (b"backend pushed" in client.get(RAW).body) == ("only_validate" not in query)


def test_the_texts_own_version(client: Client) -> None:
    got = push(client, "skip_version=true&skip_reload=true", b"# _version=500\n" + TEXT)
    assert (got.status, got.headers["Configuration-Version"]) == (201, "500")


@pytest.mark.parametrize(
    ("query", "body", "status", "said"),
    [
        ("version=7", TEXT, 409, "version mismatch: version in configuration file is 1, given version is 7"),
        ("", TEXT, 400, "version or transaction not specified: "),
        ("version=0", TEXT, 400, "version or transaction not specified: "),
        ("version=1", b"", 400, "value is required but missing"),
        ("version=1", b"no line", 400, "invalid configuration: no newline character found"),
        ("only_validate=true", b"no line", 400, "invalid configuration: no newline character found"),
    ],
)
def test_what_is_refused(shared_client: Client, query: str, body: bytes, status: int, said: str) -> None:
    got = push(shared_client, query, body)
    assert (got.status, got.message[: len(said)]) == (status, said)
    assert shared_client.file.read_text() == CONFIGURATION


def test_it_is_no_json(client: Client) -> None:
    assert client.post(f"{RAW}?version=1", {"a": 1}).status == 415


def test_what_haproxy_refuses(tmp_path: Path) -> None:
    """The validation command stands in for HAProxy here; its messages are tested where they are made."""
    with serving(tmp_path, validate_cmd="sh -c 'echo \"[ALERT] (1) : config : no such thing\" >&2; exit 1'") as client:
        for query in ("version=1", "only_validate=true"):
            got = push(client, query)
            assert (got.status, got.headers["Configuration-Version"]) == (400, "1")
            assert got.message.startswith("validation error: no such thing\nexit status 1: ")
            assert 'msg="config no such thing"' in got.message
            assert got.json["alerts"][0]["text"]
        assert client.file.read_text() == CONFIGURATION


def test_a_check_that_cannot_be_done_is_503(tmp_path: Path) -> None:
    with serving(tmp_path, validate_cmd="/no/such/program") as client:
        assert push(client).status == 503


def test_backups_and_transactions(tmp_path: Path) -> None:
    with serving(tmp_path, backups_number=2, backups_dir=str(tmp_path / "backups")) as client:
        id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
        inside = client.get(f"{RAW}?transaction_id={id_}")
        assert CONFIGURATION in inside.body.decode()
        push(client, "version=1&skip_reload=true")
        assert CONFIGURATION in client.get(f"{RAW}?version=1").body.decode()
        missing = client.get(f"{RAW}?version=2")
        assert (missing.status, missing.message) == (404, "missing object: backup file for version 2 does not exist")
        both = client.get(f"{RAW}?version=1&transaction_id={id_}")
        assert (both.status, both.message[:60]) == (400, "both version and transaction specified, specify only one: Bo")
        unknown = client.get(f"{RAW}?transaction_id=none")
        assert (unknown.status, unknown.message) == (400, "transaction does not exist: transaction file none does not exist")


def test_the_version(client: Client) -> None:
    assert client.get(f"{CONFIG}/version").body == b"1\n"
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    push(client, "version=1&skip_reload=true")
    assert client.get(f"{CONFIG}/version").body == b"2\n"
    assert client.get(f"{CONFIG}/version?transaction_id={id_}").body == b"1\n"
    unknown = client.get(f"{CONFIG}/version?transaction_id=none")
    assert (unknown.status, unknown.message, unknown.headers["Configuration-Version"]) == (400, "transaction does not exist: none", "0")


def test_runtime_actions_beside_a_real_haproxy(sidecar: Sidecar) -> None:
    """They are done after the commit, as given and no more; the first that fails ends the rest."""
    text = sidecar.get("raw").text

    def pushed(old: str, new: str, actions: str) -> httpx2.Response:
        query = {"skip_reload": "true", "version": sidecar.version()}
        headers = {"Content-Type": "text/plain", "X-Runtime-Actions": actions}
        return sidecar.client.post(f"{CONFIG}/raw", params=query, content=text.replace(old, new), headers=headers)

    def weights() -> list[str]:
        return [sidecar.haproxy.ask(f"get weight app/{name}").split()[0] for name in ("one", "two")]

    done = pushed("weight 10", "weight 11", "SetServerWeight app one 12;;Unknown x;SetServerWeight app two 13")
    assert (done.status_code, "Reload-Id" in done.headers, weights()) == (201, False, ["12", "13"])
    failed = pushed("weight 10", "weight 14", "SetServerWeight app one 15;SetServerWeight app none 1;SetServerWeight app two 16")
    assert (failed.status_code, weights()) == (400, ["15", "13"])
    assert failed.json()["message"].startswith("cannot execute SetServerWeight: ")
    assert sidecar.version() == 3, "it is committed all the same"
    assert "weight 14" in sidecar.get("raw").text
    short = pushed("weight 10", "weight 17", "SetServerWeight app one")
    assert short.json()["message"] == "cannot execute SetServerWeight: not enough parameters"
    assert (pushed("weight 10", "weight 18", "").status_code, weights()) == (201, ["15", "13"])
