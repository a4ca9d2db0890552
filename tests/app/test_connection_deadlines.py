"""Check the deadlines of connections on real sockets. A slow answer extends its deadline."""

import asyncio
import contextlib
from typing import Any

import pytest

from dataplaneapi.server import protocol
from dataplaneapi.server.connection import EXCHANGE
from tests.app.server.test_protocol import GET, given, served, talk


@pytest.mark.parametrize(
    ("pieces", "every"),
    [
        ((), b"\r\n"),
        ((GET,), b"\r\n"),
        ((b"GET / HTTP/1.1\r\nHost: x\r\nX: ",), b"a"),
        ((GET, b"GET / HTTP/1.1\r\n"), b"a"),
        ((b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n",), b"x"),
        ((b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",), b"1\r\nx\r\n"),
    ],
    ids=["empty lines", "empty lines after an answer", "a head", "a second head", "a body that nobody reads", "chunks"],
)
def test_no_state_of_a_connection_lasts_for_ever(pieces: tuple[bytes, ...], every: bytes) -> None:
    """The client sends small pieces without an end."""

    async def story() -> None:
        async with served(given(read_timeout=0.5, cleanup_timeout=0.5)) as (server, address):
            _, writer = await asyncio.open_connection(*address)
            for piece in pieces:
                writer.write(piece)
                await asyncio.sleep(0.02)
            while not server.server_state.connections:
                await asyncio.sleep(0.01)
            with contextlib.suppress(ConnectionError):
                while server.server_state.connections:
                    writer.write(every)
                    await writer.drain()
                    await asyncio.sleep(0.05)
            writer.close()
            while server.server_state.connections:
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(story(), 60))


async def waiting(scope: Any, receive: Any, send: Any) -> None:
    """An answer in as many parts as the path says, each after half a second, of which it gives notice where the query says so."""
    await receive()
    if scope["query_string"]:
        scope[EXCHANGE].answer_within(float(scope["query_string"]))
    await asyncio.sleep(0.5)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(int(scope["path"][1:])):
        await send({"type": "http.response.body", "body": b"part ", "more_body": True})
        await asyncio.sleep(0.5)
    await send({"type": "http.response.body"})


@pytest.mark.parametrize(
    ("target", "status", "parts"),
    [("0", 503, 0), ("0?20", 200, 0), ("3?20", 200, 3), ("0?0.1", 503, 0)],
    ids=["too long", "declared", "declared once for all parts", "too long for what was declared"],
)
def test_an_answer_has_a_deadline_of_its_own(monkeypatch: pytest.MonkeyPatch, target: str, status: int, parts: int) -> None:
    monkeypatch.setattr(protocol, "ANSWER_SECONDS", 0.2)
    request = f"GET /{target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    answer = asyncio.run(talk(given(read_timeout=0.05), request, app=waiting))
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert answer.count(b"part ") == parts
