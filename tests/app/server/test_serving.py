"""Listeners that follow the settings while they are in use."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.server.endpoint import endpoints
from dataplaneapi.server.listeners import Listener, open_all
from dataplaneapi.server.serving import Serving
from dataplaneapi.settings.table import Settings, SettingsError
from tests.haproxy.process import free_port

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    body = scope["path"].encode()
    if scope["path"] == "/slow":
        await asyncio.sleep(0.3)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


def given(**changed: Any) -> Settings:
    return Settings(**{"scheme": ["http"], "host": "127.0.0.1"} | changed)


def run(settings: Settings, story: Callable[[Serving, list[Listener]], Awaitable[None]], *, inherited: bool = False) -> None:
    async def whole() -> None:
        opened = open_all(endpoints(settings))
        serving = Serving(app, settings, opened, inherited=inherited)
        try:
            await story(serving, opened)
        finally:
            await serving.stop()

    asyncio.run(asyncio.wait_for(whole(), 60))


async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: bytes = b"/") -> bytes:
    writer.write(REQUEST.replace(b"/ ", path + b" ", 1))
    head = await reader.readuntil(b"\r\n\r\n")
    return await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split()[0]))


def test_one_comes_one_stays_and_one_goes(tmp_path: Path) -> None:
    here, path = free_port(), tmp_path / "api.sock"

    async def story(serving: Serving, opened: list[Listener]) -> None:
        staying = await asyncio.open_connection("127.0.0.1", here)
        leaving = await asyncio.open_unix_connection(path)
        assert await answered(*staying) == await answered(*leaving) == b"/"
        under_way = asyncio.ensure_future(answered(*leaving, b"/slow"))
        await asyncio.sleep(0)
        there = free_port()
        await serving.change(given(port=here, listeners=[{"port": there}], listen_limit=3))
        assert await under_way == b"/slow"
        assert await answered(*staying) == b"/"
        arriving = await asyncio.open_connection("127.0.0.1", there)
        assert await answered(*arriving) == b"/"
        assert not path.exists()
        assert serving.addresses == [f"http://127.0.0.1:{here}", f"http://127.0.0.1:{there}"]
        assert opened[0].endpoint.limit == 3
        for _, writer in (staying, leaving, arriving):
            writer.close()

    run(given(scheme=["http", "unix"], port=here, socket_path=str(path)), story)


@pytest.mark.parametrize(
    "wrong", [{"scheme": "https"}, {"port": 1, "host": "192.0.2.1"}, {"scheme": "https", "tls_certificate": "/no", "tls_key": "/no"}]
)
def test_what_cannot_be_followed_changes_nothing(wrong: dict[str, Any]) -> None:
    async def story(serving: Serving, opened: list[Listener]) -> None:
        before = opened[0].endpoint
        with pytest.raises(SettingsError):
            await serving.change(given(listen_limit=5, listeners=[wrong]))
        assert opened[0].endpoint is before
        address = opened[0].socket.getsockname()
        reader, writer = await asyncio.open_connection(*address)
        assert await answered(reader, writer) == b"/"
        writer.close()

    run(given(), story)


def test_a_limit_that_is_lifted_lets_those_in_who_wait() -> None:
    async def story(serving: Serving, opened: list[Listener]) -> None:
        address = opened[0].socket.getsockname()
        first = await asyncio.open_connection(*address)
        assert await answered(*first) == b"/"
        second = await asyncio.open_connection(*address)
        waiting = asyncio.ensure_future(answered(*second))
        await asyncio.wait([waiting], timeout=0.1)
        assert not waiting.done()
        await serving.change(given(listen_limit=2))
        assert await waiting == b"/"
        for _, writer in (first, second):
            writer.close()

    run(given(listen_limit=1, cleanup_timeout=60.0), story)


def test_sockets_of_the_service_manager_stay() -> None:
    async def story(serving: Serving, opened: list[Listener]) -> None:
        before = serving.addresses
        await serving.change(given(port=free_port(), scheme=["unix"], socket_path="/none/x", listen_limit=7))
        assert serving.addresses == before
        assert opened[0].endpoint.limit == 7

    run(given(), story, inherited=True)
