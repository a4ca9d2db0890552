"""A request goes out whole, and what was answered before the other side broke off is kept."""

import asyncio
import socket
import struct
from pathlib import Path

import pytest

from haproxy_native.runtime.socket import BEGINNING, RuntimeExchange


@pytest.mark.parametrize("half_close", [True, False])
def test_whole_requests_and_answers(tmp_path: Path, half_close: bool) -> None:
    request, seen = b"x" * 3_000_000, []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readexactly(len(request)))
        writer.write(b"y" * 2_000_000)
        await writer.drain()
        if half_close:
            assert await reader.read() == b""
        writer.close()

    async def talk() -> RuntimeExchange:
        path = str(tmp_path / "s.sock")
        async with await asyncio.start_unix_server(serve, path):
            loop = asyncio.get_running_loop()
            _, exchange = await loop.create_unix_connection(lambda: RuntimeExchange(request, half_close=half_close), path)
            await exchange.closed
            return exchange

    exchange = asyncio.run(talk())
    assert (seen, b"".join(exchange.parts), exchange.error) == ([request], b"y" * 2_000_000, None)


def test_a_reset_is_told_and_does_not_hide_what_came_before() -> None:
    async def talk() -> RuntimeExchange:
        loop = asyncio.get_running_loop()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            _, exchange = await loop.create_connection(lambda: RuntimeExchange(b"request", half_close=False), *listener.getsockname())
            other, _ = listener.accept()
            other.sendall(b"some words")
            while not exchange.parts:
                await asyncio.sleep(0.01)
            other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            other.close()
            await exchange.closed
            return exchange

    exchange = asyncio.run(talk())
    assert b"".join(exchange.parts) == b"some words"
    assert isinstance(exchange.error, ConnectionResetError)


class Pieces:
    def __init__(self, fails: bool = False) -> None:
        self.fails = fails

    def start(self) -> None:
        self.taken = b""

    def take(self, data: bytes) -> None:
        if self.fails:
            raise ValueError("cannot take it")
        self.taken += data


async def taken(tmp_path: Path, answer: bytes, sink: Pieces) -> bytes:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(b"request"))
        writer.write(answer)
        writer.close()

    path = str(tmp_path / "s.sock")
    async with await asyncio.start_unix_server(serve, path):
        loop = asyncio.get_running_loop()
        _, exchange = await loop.create_unix_connection(lambda: RuntimeExchange(b"request", half_close=True, sink=sink), path)
        await exchange.closed
        return b"".join(exchange.parts)


def test_a_taker_gets_all_and_the_ends_are_kept(tmp_path: Path) -> None:
    sink, answer = Pieces(), b"# head" + b"x" * 500_000 + b"\n\n"
    kept = asyncio.run(taken(tmp_path, answer, sink))
    assert sink.taken == answer
    assert (kept[:6], kept[-2:], len(kept) <= BEGINNING + 2) == (b"# head", b"\n\n", True)


def test_a_taker_that_fails_is_heard(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot take it"):
        asyncio.run(taken(tmp_path, b"x", Pieces(fails=True)))
