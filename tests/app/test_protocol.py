"""Requests whose head is too large or too slow, on real sockets."""

import asyncio
import json
from typing import Any

import pytest

from app import listeners
from app.settings import Settings


async def app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


async def talk(settings: Settings, *pieces: bytes, app: Any = app) -> bytes:
    """What the server says until it hangs up."""
    (listener,) = listeners.open_all(settings)
    listener.socket.listen()
    address = listener.socket.getsockname()[:2]
    server = listeners.server(app, settings)
    serving = asyncio.ensure_future(server.serve(sockets=[listener.socket]))
    reader, writer = await asyncio.open_connection(*address)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    server.should_exit = True
    await serving
    return answer


def said(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    told = json.loads(body)
    assert told["code"] == status
    return status, told["message"]


def given(**changed: Any) -> Settings:
    return Settings(**{"scheme": ["http"], "host": "127.0.0.1"} | changed)


def test_a_head_that_never_ends() -> None:
    large = b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 3000
    assert said(asyncio.run(talk(given(max_header_size=2000), large))) == (
        431,
        "request header exceeds the maximum allowed size of 2000 bytes",
    )


@pytest.mark.parametrize("pieces", [(), (b"GET / HTTP/1.1\r\nHost",)], ids=["silence", "half a head"])
def test_a_head_that_does_not_arrive(pieces: tuple[bytes, ...]) -> None:
    assert said(asyncio.run(talk(given(read_timeout=0.05), *pieces))) == (408, "request did not arrive within 0.05 seconds")


def test_what_is_no_http() -> None:
    assert said(asyncio.run(talk(given(), b"what is this?\r\n\r\n"))) == (400, "Invalid HTTP request received.")


def test_what_is_fine() -> None:
    request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    assert asyncio.run(talk(given(read_timeout=5.0, max_header_size=2000), request)).count(b"200 OK") == 2


def test_an_offer_to_speak_otherwise_costs_no_body(caplog: pytest.LogCaptureFixture) -> None:
    offer = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nContent-Length: 14\r\n\r\nupgrade: body!"
    last = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answer = asyncio.run(talk(given(), offer, last, app=echo))
    assert answer.count(b"200 OK") == 2
    assert b"upgrade: body!" in answer
    assert caplog.records == []


@pytest.mark.parametrize("before", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["new connection", "idle connection"])
def test_a_request_that_arrives_as_the_server_stops(before: bytes) -> None:
    async def story() -> bytes:
        (listener,) = listeners.open_all(given())
        listener.socket.listen()
        server = listeners.server(app, given())
        address = listener.socket.getsockname()[:2]
        serving = asyncio.ensure_future(server.serve(sockets=[listener.socket]))
        reader, writer = await asyncio.open_connection(*address)
        writer.write(before)
        while len(server.server_state.connections) == 0:
            await asyncio.sleep(0.001)
        if before:
            await reader.readuntil(b"ok")
        server.should_exit = True
        while listener.socket.fileno() != -1:
            await asyncio.sleep(0.001)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = await asyncio.wait_for(reader.read(), 20)
        writer.close()
        await serving
        return answer

    answer = asyncio.run(story())
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b"connection: close" in answer
