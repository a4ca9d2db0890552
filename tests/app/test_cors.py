"""Cross-origin headers."""

import pytest

from app import cors

ORIGIN = {b"origin": b"https://panel.example.com"}
VARY = b"Origin, Access-Control-Request-Method, Access-Control-Request-Headers"


def asked(**headers: str) -> dict[bytes, bytes]:
    return {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}


def preflight(headers: dict[bytes, bytes]) -> dict[bytes, bytes]:
    answer = cors.preflight({"type": "http", "method": "OPTIONS"}, headers)
    assert answer is not None
    assert answer.status_code == 204
    return {bytes(name): value for name, value in answer.raw_headers}


def test_preflight() -> None:
    sent = ORIGIN | asked(access_control_request_method="POST", access_control_request_headers="authorization, content-type")
    assert preflight(sent) == {
        b"Vary": VARY,
        b"Access-Control-Allow-Origin": b"*",
        b"Access-Control-Allow-Methods": b"POST",
        b"Access-Control-Allow-Headers": b"authorization, content-type",
        b"Access-Control-Allow-Credentials": b"true",
        b"Access-Control-Max-Age": b"86400",
    }


@pytest.mark.parametrize("sent", [asked(access_control_request_method="GET"), ORIGIN | asked(access_control_request_method="TRACE")])
def test_preflight_without_permission(sent: dict[bytes, bytes]) -> None:
    assert preflight(sent) == {b"Vary": VARY}


@pytest.mark.parametrize(("method", "sent"), [("OPTIONS", ORIGIN), ("GET", asked(access_control_request_method="GET"))])
def test_no_preflight(method: str, sent: dict[bytes, bytes]) -> None:
    assert cors.preflight({"type": "http", "method": method}, sent) is None


def test_other_answers() -> None:
    get = {"type": "http", "method": "GET"}
    assert {bytes(name): value for name, value in cors.headers(get, {})} == {b"Vary": b"Origin"}
    assert {bytes(name): value for name, value in cors.headers(get, ORIGIN)} == {
        b"Vary": b"Origin",
        b"Access-Control-Allow-Origin": b"*",
        b"Access-Control-Expose-Headers": b"Reload-Id, Configuration-Version",
        b"Access-Control-Allow-Credentials": b"true",
    }
