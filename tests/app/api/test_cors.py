"""Other sites in browsers: what they may read, and that they change nothing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.api import cors
from tests.app.client import CONFIG, Client, Got, bare_exchange, settings

PANEL, OTHER = "https://panel.example.com", "https://evil.example"
ORIGIN = {b"origin": PANEL.encode()}
ALLOWED = [PANEL]
VARY = b"Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
OWN = "http://127.0.0.1:5555"


def asked(**headers: str) -> dict[bytes, bytes]:
    return {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}


def preflight(headers: dict[bytes, bytes], origins: list[str]) -> dict[bytes, bytes]:
    answer = cors.preflight(bare_exchange(*headers.items(), method="OPTIONS"), origins)
    assert answer is not None
    assert answer.status_code == 204
    return {bytes(name): value for name, value in answer.raw_headers}


def test_preflight() -> None:
    sent = ORIGIN | asked(access_control_request_method="POST", access_control_request_headers="authorization, content-type")
    assert preflight(sent, ALLOWED) == {
        b"Vary": VARY,
        b"Access-Control-Allow-Origin": PANEL.encode(),
        b"Access-Control-Allow-Methods": b"POST",
        b"Access-Control-Allow-Headers": b"authorization, content-type",
        b"Access-Control-Allow-Credentials": b"true",
        b"Access-Control-Max-Age": b"86400",
    }
    assert preflight(sent, []) == preflight(sent, [OTHER]) == {b"Vary": VARY}


@pytest.mark.parametrize("sent", [asked(access_control_request_method="GET"), ORIGIN | asked(access_control_request_method="TRACE")])
def test_preflight_without_permission(sent: dict[bytes, bytes]) -> None:
    assert preflight(sent, ALLOWED) == {b"Vary": VARY}


@pytest.mark.parametrize(("method", "sent"), [("OPTIONS", ORIGIN), ("GET", asked(access_control_request_method="GET"))])
def test_no_preflight(method: str, sent: dict[bytes, bytes]) -> None:
    assert cors.preflight(bare_exchange(*sent.items(), method=method), ALLOWED) is None


def test_other_answers() -> None:
    plain = {b"Vary": b"Origin"}
    assert {bytes(name): value for name, value in cors.headers(bare_exchange(), ALLOWED)} == plain
    assert {bytes(name): value for name, value in cors.headers(bare_exchange(*ORIGIN.items()), [])} == plain
    assert {bytes(name): value for name, value in cors.headers(bare_exchange(*asked(origin=OTHER).items()), ALLOWED)} == plain
    assert {bytes(name): value for name, value in cors.headers(bare_exchange(*ORIGIN.items()), ALLOWED)} == {
        b"Vary": b"Origin",
        b"Access-Control-Allow-Origin": PANEL.encode(),
        b"Access-Control-Expose-Headers": b"Reload-Id, Configuration-Version, ETag, Idempotent-Replayed, Fleet-Release",
        b"Access-Control-Allow-Credentials": b"true",
    }


def create(client: Client, sent: Mapping[str, str], body: Any = b'{"name": "be1"}') -> Got:
    kind = {} if "Content-Type" in sent else {"Content-Type": "application/json"}
    return client.post(f"{CONFIG}/backends?version={client.engine.version(None)}", body, headers={"Host": "127.0.0.1:5555", **kind, **sent})


@pytest.mark.parametrize(
    "sent",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:8080"},
        {"Origin": OTHER},
        {"Origin": OTHER, "Content-Type": "text/plain"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://127.0.0.1:5556"},
        {"Origin": OTHER, "Sec-Fetch-Site": "cross-site", "Host": "evil.example:5555"},
    ],
)
def test_no_page_of_another_site_changes_anything(tmp_path: Path, sent: dict[str, str]) -> None:
    for origins in ([], [PANEL]):
        with Client(settings(tmp_path, cors_origins=origins)) as client:
            before = client.file.read_bytes()
            got = create(client, sent)
            assert got.status == 403
            assert "cors_origins" in got.message
            assert not [name for name in got.headers if name.startswith("Access-Control")]
            assert client.file.read_bytes() == before


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"Referer": OTHER},
        {"Sec-Fetch-Site": "same-origin", "Origin": OWN},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://proxy.example"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": OWN},
        {"Origin": "https://127.0.0.1:5555"},
        {"Origin": "http://api.example", "Host": "api.example"},
        {"Origin": "https://api.example", "Host": "api.example:443"},
        {"Origin": PANEL},
        {"Origin": PANEL, "Sec-Fetch-Site": "cross-site"},
    ],
)
def test_all_others_change_what_they_want(tmp_path: Path, sent: dict[str, str]) -> None:
    with Client(settings(tmp_path, cors_origins=ALLOWED)) as client:
        got = create(client, sent)
        assert got.status == 202
        assert got.headers.get("Access-Control-Allow-Origin") == (PANEL if sent.get("Origin") == PANEL else None)


def test_reading_is_left_to_browsers(tmp_path: Path) -> None:
    """They do not show the answer to a page that may not have it."""
    with Client(settings(tmp_path)) as client:
        got = client("GET", f"{CONFIG}/backends", headers={"Origin": OTHER, "Sec-Fetch-Site": "cross-site"})
        assert got.status == 200
        assert "Access-Control-Allow-Origin" not in got.headers
