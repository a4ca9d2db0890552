"""Access lines."""

import asyncio
import re
from typing import Any

import pytest

from dataplaneapi.api.exchange import Exchange
from dataplaneapi.api.responses import RELOAD_ID
from dataplaneapi.auth.caller import TOKENS
from dataplaneapi.server.connection import Connection
from dataplaneapi.server.endpoint import Endpoint
from dataplaneapi.settings.roles import SPIFFE, USERS
from dataplaneapi.telemetry.access_log import DEFAULT, compiled, line
from haproxy_native.request_context import Author

SCOPE = {
    "type": "http",
    "method": "GET",
    "path": "/v3/bäckends",
    "raw_path": b"/v3/b%C3%A4ckends",
    "query_string": b"version=1",
    "http_version": "1.1",
    "client": ("192.0.2.1", 4711),
    "server": ("198.51.100.1", 5555),
}
HEADERS = [(b"user-agent", b'curl "8"'), (b"authorization", b"Basic secret"), (b"cookie", b"secret")]


def exchange(scope: dict[str, Any] = SCOPE, **known: Any) -> Exchange:
    made = Exchange(scope | {"headers": HEADERS}, asyncio.Event().wait)  # type: ignore[arg-type]
    for name, value in known.items():
        setattr(made, name, value)
    return made


def written(layout: str, status: int = 200, size: int = 12) -> str:
    return line(compiled(layout), exchange(status=status, size=size, sent_headers=[(RELOAD_ID, b"2026-01-01-1")]), 1.5)


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        ("%h %l %u %m %H", "192.0.2.1 - - GET HTTP/1.1"),
        ("%U%q", "/v3/b%C3%A4ckends?version=1"),
        ("%r", "GET /v3/b%C3%A4ckends?version=1 HTTP/1.1"),
        ("%s %>s %b", "200 200 12"),
        ("%D %T %{ms}T %{us}T %{s}T", "1500000 1 1500 1500000 1"),
        ("%p %v %V %%", "5555 198.51.100.1 198.51.100.1 %"),
        ('"%{User-agent}i" %{Referer}i %{reload-id}o %{none}o %{HOME}e', '"curl \\"8\\"" - 2026-01-01-1 - -'),
        ("%{Authorization}i %{Cookie}i", "- -"),
        ("plain", "plain"),
    ],
)
def test_directives(layout: str, text: str) -> None:
    assert written(layout) == text


@pytest.mark.parametrize(
    ("by", "name", "user"),
    [
        (Author('ad"min', group=USERS), "", 'ad\\"min'),
        (Author("token 1f of ann", group=TOKENS), "", "token 1f of ann"),
        (None, "", "-"),
        (Author("spiffe://a/b", group=SPIFFE), "spiffe://a/b", "spiffe://a/b"),
    ],
)
def test_who_asked(by: Author | None, name: str, user: str) -> None:
    made = exchange(status=200, connection=Connection(Endpoint(), name), author=by)
    assert line(compiled("%u"), made, 0) == user


def test_no_body_is_a_dash() -> None:
    assert written("%b", size=0) == "-"


def test_the_default() -> None:
    text = written(DEFAULT)
    assert re.fullmatch(
        r'192\.0\.2\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "GET /v3/b%C3%A4ckends\?version=1 HTTP/1\.1" 200 12 "-" ".*"', text
    )


def test_own_times() -> None:
    assert re.fullmatch(r"\d{4}", written("%{%Y}t"))


@pytest.mark.parametrize("layout", ["%z", "%", "%{x}"])
def test_unknown_directives(layout: str) -> None:
    with pytest.raises(ValueError, match="unknown directive"):
        compiled(layout)


def test_a_client_without_an_address() -> None:
    assert line(compiled("%h %p"), exchange(SCOPE | {"client": None, "server": None}), 0) == "- -"
