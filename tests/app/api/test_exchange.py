"""What is recorded of a request and its response."""

import asyncio
from typing import Any

from starlette.types import Message

from dataplaneapi.api.exchange import REQUEST_ID, Exchange

HEADERS = [(b"host", b"a"), (b"x", b"first"), (b"x", b"second")]


SCOPE: Any = {"method": "GET", "path": "/", "raw_path": b"/", "query_string": b"", "headers": HEADERS}


def answered() -> tuple[Exchange, list[Message]]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def respond() -> Exchange:
        exchange = Exchange(SCOPE, asyncio.Event().wait, send, lambda exchange: [(REQUEST_ID, b"id-1")])
        await exchange.send({"type": "http.response.start", "status": 202, "headers": [(b"a", b"b")]})
        await exchange.send({"type": "http.response.body", "body": b"four", "more_body": True})
        await exchange.send({"type": "http.response.body", "body": b"and six"})
        return exchange

    return asyncio.run(respond()), sent


def test_status_size_and_headers_are_recorded() -> None:
    exchange, sent = answered()
    assert (exchange.status, exchange.size) == (202, 11)
    assert sent[0]["headers"] == exchange.sent_headers == [(b"a", b"b"), (REQUEST_ID, b"id-1")]
    assert exchange.headers[b"x"] == b"first"


def test_what_is_finished_holds_no_connection() -> None:
    copied, sent = answered()
    copied.finish()
    asyncio.run(copied.send({"type": "http.response.body", "body": b"more"}))
    assert len(sent) == 3 and asyncio.run(copied.receive())["type"] == "http.disconnect"
    again = copied.copy_for("id-2", ("192.0.2.1", 1), None, "192.0.2.7")
    assert again.sent_headers == [(b"a", b"b"), (REQUEST_ID, b"id-2")]
    assert (again.request_id, again.client, again.address) == ("id-2", ("192.0.2.1", 1), "192.0.2.7")
    assert copied.sent_headers[-1] == (REQUEST_ID, b"id-1")
