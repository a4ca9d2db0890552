"""A connection ends with its last answer read, or by force where nobody reads it; on real sockets."""

import asyncio
import contextlib
import socket
from typing import Any

import pytest

from dataplaneapi.server import listeners
from dataplaneapi.server.serving import ListenerServer
from tests.app.server.test_protocol import app, given, talk_slowly


@pytest.mark.parametrize("asked", [2, 1], ids=["one more waits", "the last"])
def test_an_answer_that_nobody_takes(asked: int) -> None:
    """Large enough to fill every buffer on the way; the connection ends though the client never does."""

    async def large(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % SIZE)]})
        await send({"type": "http.response.body", "body": b"x" * SIZE})

    async def story() -> None:
        (listener,) = listeners.open_all([given(write_timeout=0.1, cleanup_timeout=0.1)])
        listener.socket.listen()
        server = ListenerServer(large, listener, 15.0)
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


def test_an_answer_before_the_body_ends_the_connection() -> None:
    """And reaches the client, though it goes on to send."""
    upload = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 1000
    answer = asyncio.run(talk_slowly(upload, *[b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 100] * 20, app=app))
    assert answer.count(b"HTTP/1.1") == 1
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b"connection: close\r\n" in answer
    assert answer.endswith(b"ok")
