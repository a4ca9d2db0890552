"""Requests whose head is too large or too slow, on real sockets."""

import asyncio
import contextlib
import json
import socket
from typing import Any

import pytest

from app import listeners
from app.endpoint import Endpoint
from app.serving import Server


async def app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


async def talk(endpoint: Endpoint, *pieces: bytes, app: Any = app) -> bytes:
    """What the server says until it hangs up."""
    (listener,) = listeners.open_all([endpoint])
    listener.socket.listen()
    address = listener.socket.getsockname()[:2]
    server = Server(app, listener, 15.0)
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


def given(**changed: Any) -> Endpoint:
    return Endpoint(host="127.0.0.1", **changed)


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
        (listener,) = listeners.open_all([given()])
        listener.socket.listen()
        server = Server(app, listener, 15.0)
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


@pytest.mark.parametrize("asked", [2, 1], ids=["one more waits", "the last"])
def test_an_answer_that_nobody_takes(asked: int) -> None:
    """Large enough to fill every buffer on the way; the connection ends though the client never does."""

    async def large(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % SIZE)]})
        await send({"type": "http.response.body", "body": b"x" * SIZE})

    async def story() -> None:
        (listener,) = listeners.open_all([given(write_timeout=0.1, cleanup_timeout=0.1)])
        listener.socket.listen()
        server = Server(large, listener, 15.0)
        serving = asyncio.ensure_future(server.serve(sockets=[listener.socket]))
        client = socket.create_connection(listener.socket.getsockname()[:2])
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * asked)
        while server.server_state.total_requests == 0:
            await asyncio.sleep(0.01)
        while server.server_state.connections:
            await asyncio.sleep(0.01)
        assert received(client) < asked * SIZE
        server.should_exit = True
        await serving

    asyncio.run(asyncio.wait_for(story(), 60))


SIZE = 30_000_000


def received(client: socket.socket) -> int:
    count = 0
    with client, contextlib.suppress(ConnectionError):
        while piece := client.recv(1 << 20):
            count += len(piece)
    return count
