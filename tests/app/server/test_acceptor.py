"""Connections on real sockets: how many at a time, and what becomes of those that come to nothing."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import uvloop

from dataplaneapi.server.acceptor import RESERVED, AcceptedConnection, Acceptor
from dataplaneapi.server.listeners import Identity
from tests.app.authority import Authority


class Greeter(asyncio.Protocol):
    """Says hello when it has a slot, and stays."""

    def __init__(self, slot: AcceptedConnection) -> None:
        self._slot = slot

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._slot.on_slot, self._slot.on_evicted = self._greet, transport.abort
        if self._slot.request(is_probe=False):
            self._greet()

    def _greet(self) -> None:
        self._transport.write(b"hello\n")

    def connection_lost(self, exc: Exception | None) -> None:
        self._slot.release()


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


def test_beyond_the_limit_the_oldest_goes_and_probes_stay() -> None:
    """A probe is answered when all slots are held, and by how many however."""

    class Asker(Greeter):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            self._transport = transport
            self._slot.on_slot, self._slot.on_evicted = self._greet, transport.abort

        def data_received(self, data: bytes) -> None:
            if self._slot.request(is_probe=data == b"probe\n"):
                self._greet()

    async def story() -> None:
        with listening() as opened:
            acceptor = Acceptor(opened, Asker, lambda: 1, lambda: None)
            try:
                first, leave = await connect(opened)
                leave.write(b"request\n")
                assert await first.readline() == b"hello\n"
                beyond = [await connect(opened) for _ in range(RESERVED)]
                probe, ask = await connect(opened)
                ask.write(b"probe\n")
                assert await probe.readline() == b"hello\n"
                assert await lost(beyond[0][0]), "the oldest made room, after a second"
                beyond[1][1].write(b"request\n")
                waiting = asyncio.ensure_future(beyond[1][0].readline())
                await asyncio.wait([waiting], timeout=0.1)
                assert not waiting.done()
                leave.close()
                assert await waiting == b"hello\n", "a slot that is free goes to the one who asked for it, not to the oldest"
                for _, writer in [*beyond, (probe, ask)]:
                    writer.close()
            finally:
                acceptor.close()
            await acceptor.wait_closed()

    run(story)


async def lost(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_what_the_kernel_accepted_is_taken_before_the_socket_is_closed(kind: str, tmp_path: Path) -> None:
    """Clients that connected before are greeted, later ones are refused."""

    async def story() -> None:
        opened = listening() if kind == "tcp" else socket.socket(socket.AF_UNIX)
        if kind == "unix":
            opened.bind(str(tmp_path / "socket"))
        opened.listen(128)
        address = opened.getsockname()
        acceptor = Acceptor(opened, Greeter, lambda: 0, lambda: None)
        acceptor.close()
        waiting = [socket.create_connection(address) if kind == "tcp" else unix(address) for _ in range(50)]
        acceptor = Acceptor(opened, Greeter, lambda: 0, lambda: None)
        acceptor._pause()
        acceptor.drain()
        late = socket.socket(opened.family)
        with pytest.raises(ConnectionRefusedError):
            late.connect(address)
        opened.close()
        for each in waiting:
            assert await asyncio.to_thread(each.recv, 100) == b"hello\n"
            each.close()
        late.close()
        await acceptor.wait_closed()

    run(story)


def unix(address: str) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.connect(address)
    return client
