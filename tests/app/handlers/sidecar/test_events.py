"""`/v3/sidecar/events`: what is asked and the form of answers; what happens beside a HAProxy is in tests/acceptance/test_events.py."""

import asyncio
import base64
import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from dataplaneapi.assembly import open_application
from dataplaneapi.features.events.feature import EventsFeature
from dataplaneapi.server.endpoint import Endpoint
from dataplaneapi.server.listeners import open_all
from dataplaneapi.server.serving import ListenerServer
from haproxy_native.features.events.stream import CONFIG, OPERATION, EventFilter
from tests.app.client import CONFIGURATION, Client, settings

PATH = "/v3/sidecar/events"
ENDING = f"{PATH}?end_after=0.05"


def test_events_in_their_form(client: Client) -> None:
    stream = EventsFeature.of(client.app.services).sources.stream
    start = str(stream.subscription(EventFilter()).place)
    stream.publish(CONFIG, "backend/b", {"outcome": "live"})
    stream.publish(OPERATION, "operation/1", {"status": "running"})
    got = client.get(f"{ENDING}&types=config", headers={"Last-Event-ID": start})
    assert got.status == 200 and got.headers["Content-Type"] == "text/event-stream" and "content-length" not in got.headers
    comment, event, *rest = got.body.decode().split("\n\n")
    assert comment == ": heartbeat" and rest[-1] == ""
    id_, type_, data = event.split("\n")
    shown = json.loads(data.removeprefix("data: "))
    assert (id_, type_) == (f"id: {shown['id']}", "event: config")
    assert shown | {"time": ""} == {"id": shown["id"], "time": "", "type": "config", "object": "backend/b", "data": {"outcome": "live"}}


def test_where_the_past_is_gone(client: Client) -> None:
    got = client.get(f"{ENDING}&types=config", headers={"Last-Event-ID": "5"})
    data = json.loads(got.body.decode().partition("data: ")[2].partition("\n")[0])
    assert data["type"] == "snapshot" and data["data"] == {"lost": True, "version": 1, "lines_to_add": data["data"]["lines_to_add"]}
    assert "global" in data["data"]["lines_to_add"]


@pytest.mark.parametrize(
    ("query", "header", "named"),
    [("types=config,nosuch", "1", "nosuch"), ("since=soon", "1", "since"), ("", "1e5", "Last-Event-ID"), ("", "²", "Last-Event-ID")],
)
def test_what_is_asked_wrongly(shared_client: Client, query: str, header: str, named: str) -> None:
    got = shared_client.get(f"{ENDING}&{query}", headers={"Last-Event-ID": header})
    assert got.status == 400 and named in got.message


def test_one_who_asks_for_the_past_gets_what_is_kept(client: Client) -> None:
    EventsFeature.of(client.app.services).sources.stream.publish(CONFIG, "backend/b", {})
    assert b"backend/b" in client.get(f"{ENDING}&since=10m").body
    assert b"backend/b" not in client.get(ENDING).body


async def _follow(port: int, type_: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A reader that has begun, with a buffer that does not grow."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 19)
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=connection, limit=1 << 19)
    credentials = base64.b64encode(b"admin:adminpwd").decode()
    writer.write(f"GET {PATH}?types={type_} HTTP/1.1\r\nHost: a\r\nAuthorization: Basic {credentials}\r\n\r\n".encode())
    await reader.readuntil(b": heartbeat\n\n")
    return reader, writer


async def _ids(reader: asyncio.StreamReader, until: Callable[[int], bool]) -> list[int]:
    """Of the events, until one is reached or the answer has ended."""
    found: list[int] = []
    while line := await reader.readuntil(b"\n"):
        if line.startswith(b"id: "):
            found.append(int(line[4:]))
            if until(found[-1]):
                break
        if line.startswith(b"event: dropped"):
            found.append(0)
            break
    return found


def test_a_slow_reader_is_dropped_and_told_so_and_others_get_everything(tmp_path: Path) -> None:
    """Over real sockets, with more than past and buffers hold."""

    given = settings(tmp_path)
    Path(given.config_file).write_text(CONFIGURATION)

    async def work() -> None:
        async with open_application(given) as app:
            (listener,) = open_all([Endpoint(host="127.0.0.1")])
            listener.socket.listen()
            server = ListenerServer(app, listener, 15.0)
            serving = asyncio.ensure_future(server.serve(sockets=[listener.socket]))
            port, stream = listener.socket.getsockname()[1], EventsFeature.of(app.services).sources.stream
            quick, slow = await _follow(port, "config"), await _follow(port, "config")
            published, piece = [], "x" * 50_000
            for _ in range(400):
                stream.publish(CONFIG, "backend/b", {"filling": piece})
                published.append(stream.subscription(EventFilter()).place)
                assert await _ids(quick[0], lambda id_: id_ == published[-1]) == [published[-1]]
            got = await _ids(slow[0], lambda _: False)
            assert got[-1] == 0 and 0 < len(got) < 400, "it was not dropped"
            assert got[:-1] == published[: len(got) - 1]
            assert b"faster than the client read them" in await slow[0].readuntil(b"\r\n0\r\n\r\n")
            stream.publish(CONFIG, "backend/last", {})
            assert await _ids(quick[0], lambda id_: id_ == stream.subscription(EventFilter()).place) == [
                stream.subscription(EventFilter()).place
            ]
            for _, writer in (quick, slow):
                writer.close()
            server.should_exit = True
            await serving

    asyncio.run(work())
