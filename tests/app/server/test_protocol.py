"""Requests that are too large, too slow, or made to be misread, on real sockets."""

import asyncio
import contextlib
import json
import re
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from dataplaneapi.api.exchange import Exchange
from dataplaneapi.api.responses import StreamResponse
from dataplaneapi.api.stack import while_connected
from dataplaneapi.server import listeners, protocol
from dataplaneapi.server.connection import EXCHANGE
from dataplaneapi.server.endpoint import Endpoint
from dataplaneapi.server.head import HalfHeads
from dataplaneapi.server.log_rate import RateLimit
from dataplaneapi.server.protocol import PIPELINED
from dataplaneapi.server.serving import ListenerServer


async def app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def echo(scope: Any, receive: Any, send: Any) -> None:
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@contextlib.asynccontextmanager
async def served(
    endpoint: Endpoint, app: Any = app, half_heads: HalfHeads | None = None
) -> AsyncIterator[tuple[ListenerServer, tuple[str, int]]]:
    """The server and its address. It ends at once: uvicorn's orderly end takes some tenths of a second."""
    (listener,) = listeners.open_all([endpoint])
    listener.socket.listen()
    server = ListenerServer(app, listener, 15.0, half_heads)
    serving = asyncio.ensure_future(server.serve(sockets=[listener.socket]))
    try:
        yield server, listener.socket.getsockname()[:2]
    finally:
        serving.cancel()
        for acceptor in server.servers:
            acceptor.close()
        listener.close()


async def talk(endpoint: Endpoint, *pieces: bytes, app: Any = app) -> bytes:
    """What the server says until it hangs up."""
    async with served(endpoint, app) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        answer = await asyncio.wait_for(reader.read(), 60)
        writer.close()
        return answer


def said(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    answered = json.loads(body)
    assert answered["code"] == status
    return status, answered["message"]


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
    assert said(asyncio.run(talk(given(), b"what is this?\r\n\r\n"))) == (
        400,
        "invalid HTTP request: Invalid method encountered",
    )


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
        server = ListenerServer(app, listener, 15.0)
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
        answer = await asyncio.wait_for(reader.read(), 60)
        writer.close()
        await serving
        return answer

    answer = asyncio.run(story())
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b"connection: close" in answer


GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


async def whole(scope: Any, receive: Any, send: Any) -> None:
    """The headers and the body, of which nothing is missed."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    said = b"\n".join(b"%s=%s" % each for each in scope["headers"]) + b"\n" + body
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(said))]})
    await send({"type": "http.response.body", "body": said})


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "the Host header is missing"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", "there is more than one Host header"),
        (b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "the Host header is malformed"),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding must be chunked, once, in HTTP/1.1",
        ),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "invalid HTTP request: Invalid `Transfer-Encoding` header value",
        ),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding must be chunked, once, in HTTP/1.1",
        ),
        (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding must be chunked, once, in HTTP/1.1"),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
            "invalid HTTP request: Content-Length can't be present with Transfer-Encoding",
        ),
        (
            b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
            "invalid HTTP request: Duplicate Content-Length",
        ),
        (b"CONNECT example.org:80 HTTP/1.1\r\nHost: x\r\n\r\n", "CONNECT is not supported: this server is not a proxy"),
    ],
)
def test_what_others_on_the_way_might_read_otherwise(request_: bytes, message: str) -> None:
    assert said(asyncio.run(talk(given(), request_))) == (400, message)


def test_http_1_0_needs_no_host() -> None:
    assert asyncio.run(talk(given(), b"GET / HTTP/1.0\r\n\r\n")).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a:\r\n" * 2000 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 6000 + b"\r\n\r\n", 431),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
    ],
    ids=["fields", "size, in one packet", "target"],
)
def test_a_head_with_too_much(head: bytes, status: int) -> None:
    assert said(asyncio.run(talk(given(max_header_size=5000 if status == 431 else 0), head)))[0] == status


@pytest.mark.parametrize("cut", range(1, 130, 7))
def test_an_offer_to_speak_otherwise_wherever_the_packet_ends(cut: int) -> None:
    offer = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nContent-Length: 14\r\n\r\nupgrade: body!"
    answer = asyncio.run(talk_slowly(offer[:cut], offer[cut:] + GET, LAST, app=whole))
    assert answer.count(b"200 OK") == 3
    assert b"\nupgrade: body!HTTP/1.1 200" in answer


async def talk_slowly(*pieces: bytes, app: Any, endpoint: Endpoint | None = None) -> bytes:
    """As talk, each piece a packet of its own."""
    async with served(endpoint or given(), app) as (_, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0.01)
        answer = await asyncio.wait_for(reader.read(), 60)
        writer.close()
        return answer


def test_trailers_are_ignored() -> None:
    request = CHUNKED + b"2;x=y\r\nab\r\n0\r\nAuthorization: Basic YWRtaW46YWRtaW5wd2Q=\r\nX-Late: 1\r\n\r\n"
    answer = asyncio.run(talk(given(), request, LAST, app=whole))
    assert answer.count(b"200 OK") == 2
    assert b"host=x\ntransfer-encoding=chunked\nab" in answer
    assert b"Basic" not in answer
    assert b"late" not in answer


@pytest.mark.parametrize(
    "endless",
    [b"0\r\nX: " + b"a" * 1000, b"0\r\n" + b"X: a\r\n" * 100, b"1;" + b"x" * 1000, b"0" * 1000, b"2\r\nab\r\n1;" + b"x" * 100_000],
    ids=["one trailer", "many trailers", "an extension", "a size", "an extension after content"],
)
def test_what_a_chunked_body_holds_beside_its_content_is_limited(endless: bytes) -> None:
    async def story() -> None:
        async with served(given(), whole) as (_, address):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(CHUNKED)
            sent, more = 0, endless.rstrip(b"\r\n") if endless.startswith(b"0\r\nX: a\r\n") else endless
            with contextlib.suppress(ConnectionError):
                while not reader.at_eof() and sent < 2_000_000:
                    writer.write(more)
                    await writer.drain()
                    sent += len(more)
                    more = b"\r\nX: a" * 200 if b"X: a\r\n" in endless else more[-500:]
                    await asyncio.sleep(0)
                    if reader._buffer:  # type: ignore[attr-defined]
                        break
            assert sent < 2_000_000
            assert said(await reader.read()) == (400, "the chunks of the body are too small, or their extensions and trailers too large")
            writer.close()

    asyncio.run(asyncio.wait_for(story(), 60))


def test_small_chunks_are_no_attack() -> None:
    chunks = b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n"
    answer = asyncio.run(talk(given(), CHUNKED + chunks, LAST, app=whole))
    assert answer.count(b"200 OK") == 2
    assert b"chunked\n" + b"x" * 50_000 in answer


@pytest.mark.parametrize("trouble", [b"\0\0\0", b"GET / HTTP/1.1\r\n\r\n"], ids=["no http", "no host"])
def test_what_is_wrong_behind_good_requests_does_not_cost_their_answers(trouble: bytes) -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.05)
        await app(scope, receive, send)

    answer = asyncio.run(talk(given(), GET * 3 + trouble, app=slow))
    assert answer.count(b"200 OK") == answer.count(b"HTTP/1.1") == 3
    assert answer.count(b"connection: close") == 1


def test_requests_that_wait_behind_one_another_are_limited() -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.002)
        await app(scope, receive, send)

    answer = asyncio.run(talk(given(), GET * 5000, app=slow))
    assert 1 < answer.count(b"200 OK") <= PIPELINED + 1
    assert answer.count(b"connection: close") == 1


def test_half_heads_are_limited_together() -> None:
    async def story() -> None:
        async with served(given(), half_heads=HalfHeads(100_000)) as (server, address):
            opened = [await asyncio.open_connection(*address) for _ in range(8)]
            for _, writer in opened:
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 20_000)
            done, _ = await asyncio.wait(
                [asyncio.ensure_future(reader.read()) for reader, _ in opened], timeout=60, return_when="FIRST_COMPLETED"
            )
            answers = [each.result() for each in done]
            assert said(answers[0]) == (503, "too many requests are arriving slowly; send the request's head at once")
            reader, writer = await asyncio.open_connection(*address)
            writer.write(LAST)
            assert b"200 OK" in await reader.read()
            for _, each in [*opened, (reader, writer)]:
                each.close()
            while server.server_state.connections:
                await asyncio.sleep(0.01)
            assert server.server_state.half_heads.size == 0

    asyncio.run(asyncio.wait_for(story(), 60))


def test_bad_requests_are_logged_with_their_address_and_not_for_ever(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol.logger, "filters", [RateLimit()])

    async def story() -> None:
        for _ in range(20):
            await talk(given(), b"\0" * 5000)

    asyncio.run(story())
    lines = [record.getMessage() for record in caplog.records if record.name == "dataplaneapi.server.protocol"]
    assert 0 < len(lines) <= 12
    assert all(re.fullmatch(r"bad request from 127\.0\.0\.1:\d+: 400 invalid HTTP request: .{1,80}", line) for line in lines)


def test_what_need_not_be_made_without_its_client(caplog: pytest.LogCaptureFixture) -> None:
    """Its hook is called when the client leaves, and not when the server stops or the answer is complete."""

    async def story() -> list[str]:
        said, begun = list[str](), asyncio.Event()

        async def slow(scope: Any, receive: Any, send: Any) -> None:
            gone = asyncio.Event()
            scope[EXCHANGE].when_gone = gone.set
            begun.set()
            if scope["path"] == "/slow":
                await gone.wait()
                said.append("gone")
                return
            await app(scope, receive, send)
            said.append("gone" if gone.is_set() else "answered")

        async with served(given(), slow) as (server, address):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(GET)
            await reader.readuntil(b"ok")
            begun.clear()
            writer.write(GET.replace(b"/ ", b"/slow ", 1))
            await begun.wait()
            for connection in server.server_state.connections:
                connection.shutdown()
            await asyncio.sleep(0)
            assert said == ["answered"]
            writer.close()
            async with asyncio.timeout(60):
                while len(said) < 2:
                    await asyncio.sleep(0.001)
        return said

    assert asyncio.run(story()) == ["answered", "gone"]


def test_a_stream_whose_client_leaves_ends_without_an_error() -> None:
    async def story() -> None:
        ended, tasks = asyncio.Event(), list[asyncio.Task[None]]()

        async def parts(write: Any) -> AsyncIterator[bytes]:
            yield b"one"
            await ended.wait()

        async def stream(scope: Any, receive: Any, send: Any) -> None:
            exchange = scope[EXCHANGE] = Exchange(scope, receive, send)
            response = StreamResponse(parts, ended.set, b"text/plain", [], 60.0)  # type: ignore[arg-type]
            tasks.append(asyncio.create_task(while_connected(exchange, exchange.respond(response))))
            await asyncio.wait(tasks)

        async with served(given(), stream) as (_, address), asyncio.timeout(60):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(GET)
            await reader.readuntil(b"one")
            writer.close()
            await tasks[0]

    asyncio.run(story())
