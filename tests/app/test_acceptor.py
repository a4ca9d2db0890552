"""Connections on real sockets: how many at a time, and what becomes of those that come to nothing."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import uvloop

from app.acceptor import Acceptor
from app.tls import Identity
from tests.app.authority import Authority


class Greeter(asyncio.Protocol):
    """Says hello, and stays."""

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        transport.write(b"hello\n")

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended()


def run(story: Callable[[], object]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(story(), 60))  # type: ignore[arg-type]


def listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


async def connect(to: socket.socket, tls: ssl.SSLContext | None = None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(*to.getsockname()[:2], ssl=tls, server_hostname="localhost" if tls else None)


def test_the_limit_is_kept_and_can_be_raised() -> None:
    async def story() -> None:
        limit = 1
        with listening() as opened:
            acceptor = Acceptor(opened, Greeter, lambda: limit, lambda: None)
            first, leave = await connect(opened)
            assert await first.readline() == b"hello\n"
            second, leave_second = await connect(opened)
            waiting = asyncio.ensure_future(second.readline())
            await asyncio.wait([waiting], timeout=0.1)
            assert not waiting.done()
            leave.close()
            assert await waiting == b"hello\n"
            limit = 0
            leave_second.close()
            for _ in range(200):
                reader, writer = await connect(opened)
                assert await reader.readline() == b"hello\n"
                writer.close()
            acceptor.close()
            await acceptor.wait_closed()

    run(story)


def test_a_handshake_that_fails_gives_its_place_back(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    identity = Identity(*map(str, authority.issue("server")))

    async def story() -> None:
        with listening() as opened:
            acceptor = Acceptor(opened, Greeter, lambda: 1, identity.context)
            for _ in range(3):
                reader, writer = await connect(opened)
                writer.write(b"GET / HTTP/1.1\r\n\r\n")
                await reader.read()
                writer.close()
            reader, writer = await connect(opened, ssl.create_default_context(cafile=str(authority.file)))
            assert await reader.readline() == b"hello\n"
            writer.close()
            acceptor.close()
            await acceptor.wait_closed()

    run(story)


def test_who_comes_after_the_close_waits_for_the_next(tmp_path: Path) -> None:
    async def story() -> None:
        with listening() as opened:
            acceptor = Acceptor(opened, Greeter, lambda: 0, lambda: None)
            acceptor.close()
            reader, writer = await connect(opened)
            following = Acceptor(opened, Greeter, lambda: 0, lambda: None)
            assert await reader.readline() == b"hello\n"
            writer.close()
            following.close()
            await following.wait_closed()

    run(story)
