"""What is answered before HTTP is parsed is what the application answers: the same histories against servers with and without it."""

import asyncio
import base64
import logging
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest

from dataplaneapi.api.etags import tag_of
from dataplaneapi.api.request_log import operation_of
from dataplaneapi.api.responses import to_json
from dataplaneapi.auth.guessing import PER_NAME
from dataplaneapi.server import listeners
from dataplaneapi.server.connection import LARGEST, Connection, Outlet, RecordingOutlet
from dataplaneapi.server.endpoint import Endpoint
from dataplaneapi.server.hot_swap import Doorway
from dataplaneapi.server.replies import Replies, is_whole
from dataplaneapi.server.serving import ListenerServer
from dataplaneapi.settings.proxies import read_proxies
from dataplaneapi.settings.roles import USERS, read_roles
from dataplaneapi.telemetry.log import ACCESS
from haproxy_native.request_context import origin
from tests.app.client import CONFIG, Client, bare_exchange, settings
from tests.app.server.test_outlet import Sink

CHANGING = re.compile(rb"(?<=\r\ndate: )[^\r]+|(?<=X-Request-Id: )[^\r]+")


class LongWay:
    """An application that keeps no replies, as the server sees it."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)


class Lines(logging.Handler):
    """Access lines as data: what they say of request and answer, and on whose behalf they are written."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        exchange, _ = record.request  # type: ignore[attr-defined]
        id_ = exchange.request_id.encode()
        assert origin.get()["request_id"].encode() == id_
        sent = [(bytes(name), b"" if value == id_ else value) for name, value in exchange.sent_headers]
        request = [exchange.method, exchange.path, exchange.raw_path, exchange.query, exchange.http_version]
        reply = (operation_of(exchange), exchange.status, exchange.size, sent)
        self.lines.append((request, exchange.client[0], reply, dict(origin.get(), request_id="")))


@contextmanager
def access_lines() -> Iterator[Lines]:
    logger, handler = logging.getLogger(ACCESS), Lines()
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(before[0])


class Site:
    """One server on a socket of its own, with a connection that is kept."""

    def __init__(self, directory: Path, *, keeps: bool) -> None:
        directory.mkdir()
        self.client, self._keeps = Client(settings(directory, reload_delay=3600)), keeps

    def __enter__(self) -> Self:
        self.client.__enter__()
        self.runner, self.app = self.client.runner, self.client.app
        self.taken, self.clock = 0, 1000.0
        reply = self.app.reply

        def counted(*asked: Any) -> bytes | None:
            found: bytes | None = reply(*asked)
            self.taken += found is not None
            return found

        self.app.reply = counted
        self.door = Doorway()
        self.door.open(self.app)
        # The connection is idle between two requests, however slow the machine is.
        endpoint = Endpoint(host="127.0.0.1", cleanup_timeout=600.0)
        (self._listener,) = listeners.open_all([endpoint])
        self._listener.socket.listen()
        self.runner.run(self._start())
        return self

    async def _start(self) -> None:
        self._server = ListenerServer(self.door if self._keeps else LongWay(self.door), self._listener, 5.0)
        self._serving = asyncio.ensure_future(self._server.serve(sockets=[self._listener.socket]))
        self._streams = await asyncio.open_connection(*self._listener.socket.getsockname()[:2])

    def send(self, request: bytes, *more: bytes) -> bytes:
        """The answer to each, without what differs from one to the next."""
        return self.runner.run(self._send(request, *more))

    async def _send(self, *requests: bytes) -> bytes:
        reader, writer = self._streams
        answers = b""
        for piece in requests:
            writer.write(piece)
        for _ in range(sum(piece.count(b"\r\n\r\n") for piece in requests)):
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            assert (b" 304 " not in head) or length is None
            answers += head + await reader.readexactly(int(length[1]) if length else 0)
            if b"connection: close" in head.lower():
                await self._hang_up()
                self._streams = reader, writer = await asyncio.open_connection(*self._listener.socket.getsockname()[:2])
        assert all(value for value in CHANGING.findall(answers))
        return CHANGING.sub(b"-", answers)

    def __exit__(self, *failure: object) -> None:
        self.runner.run(self._stop())
        self.client.__exit__(*failure)

    async def _hang_up(self) -> None:
        self._streams[1].close()
        await self._streams[1].wait_closed()

    async def _stop(self) -> None:
        await self._hang_up()
        self._server.should_exit = True
        await self._serving


def get(path: str, *headers: str, auth: str = "admin:adminpwd") -> bytes:
    credentials = base64.b64encode(auth.encode()).decode()
    lines = [f"GET {path} HTTP/1.1", "Host: here", f"Authorization: Basic {credentials}", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


# What the server is before any change of it.
APP1 = tag_of(to_json({"address": "127.0.0.1", "name": "app1", "port": 8081}))
REQUESTS = [
    get(f"{CONFIG}/backends"),
    get(f"{CONFIG}/backends/app/servers/app1"),
    get(f"{CONFIG}/backends/app/servers/app1", "Accept: application/json", "X-Other: 1"),
    get(f"{CONFIG}/backends/app/servers/app1", "Origin: https://example.org"),
    get(f"{CONFIG}/backends/app/servers/app1", "If-None-Match: *"),
    get(f"{CONFIG}/backends/app/servers/app1", f"If-None-Match: {APP1}"),
    get(f"{CONFIG}/backends/app/servers/app1", "Connection: close"),
    get(f"{CONFIG}/backends/app/servers/app1", "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    get(f"{CONFIG}/backends/app/servers/app1", auth="admin:wrong"),
    get(f"{CONFIG}/backends/app/servers/app1", "Content-Length: 0"),
    get(f"{CONFIG}/backends/app/servers/app1?nothing=1"),
    get(f"{CONFIG}/backends/nowhere"),
    get(f"{CONFIG}/backends/app?full_section=true"),
    get(f"{CONFIG}/version"),
    get("/v3/info"),
    get("/livez"),
]


def change(site: Site, chosen: int) -> None:
    version = site.client.engine.version()
    match chosen:
        case 0:
            site.client.put(
                f"{CONFIG}/backends/app/servers/app1?version={version}", {"name": "app1", "address": "127.0.0.1", "weight": version}
            )
        case 1:
            raw = site.client.get(f"{CONFIG}/raw").body
            site.client.post(f"{CONFIG}/raw?version={version}", raw, headers={"content-type": "text/plain"})
        case 2:
            site.client.app.services.users.generation += 1


@pytest.mark.parametrize("seed", range(3))
def test_it_answers_as_the_long_way_does(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dataplaneapi.auth.guessing.PER_NAME", 1000)
    monkeypatch.setattr("dataplaneapi.auth.guessing.PER_ADDRESS", 1000)
    print(f"seed {seed}")
    chance = random.Random(seed)
    ways = []
    steps = [(chance.random(), chance.randrange(3), chance.sample(REQUESTS, chance.choice([1, 1, 1, 2]))) for _ in range(150)]
    for keeps in (True, False):
        with access_lines() as log, Site(tmp_path / str(keeps), keeps=keeps) as site:
            answers = []
            for luck, chosen, requests in steps:
                if luck < 0.1:
                    change(site, chosen)
                joined = luck > 0.9
                whole = b"".join(each for each in requests if b"close" not in each) if joined else b""
                halves = (requests[0][:40], requests[0][40:])
                answers.append(site.send(whole) if whole else site.send(*halves) if luck > 0.8 else site.send(requests[0]))
            lines = [line for line in log.lines if line[1] == "127.0.0.1"]
            ways.append((answers, lines, dict(site.app.services.tally.requests), site._server.server_state.total_requests))
            assert (site.taken > 20) is keeps
    for short, long in zip(*ways, strict=True):
        assert short == long


def bearer(number: int) -> bytes:
    return f"Bearer {token_text(number)}".encode()


def token_text(number: int) -> str:
    return f"dps_{number:043d}"


def change_tokens(site: Site, chosen: int, number: int) -> None:
    """Creates, revokes and ends tokens, and gives their creator another role, as SIGHUP does."""
    services, tokens = site.app.services, site.app.services.bearers.tokens
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("secrets.token_urlsafe", lambda size: token_text(number).removeprefix("dps_"))
        patched.setattr("secrets.token_hex", lambda size: str(number))
        if chosen < 3 and not tokens.find(token_text(number).encode()):
            seconds, networks = (60.0, []) if chosen else (5.0, ["127.0.0.0/8"])
            site.runner.run(tokens.create(["viewer", "admin"], USERS, "admin", seconds, networks))
    known = tokens.find(token_text(number).encode())
    if chosen == 3 and known:
        site.runner.run(tokens.revoke(known, "admin"))
    elif chosen == 4:
        site.clock += 3
    elif chosen == 5:
        roles = [{"name": "admin", "role": role} for role in (["admin"], ["viewer"], ["operator", "viewer"], [])[number : number + 1]]
        services.users.generation += 1
        services.roles = read_roles({}, {"certificates": {"root": "admin"}}, roles)


@pytest.mark.parametrize("seed", range(2))
def test_tokens_end_on_the_short_way_as_on_the_long_one(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dataplaneapi.auth.guessing.PER_NAME", 1000)
    monkeypatch.setattr("dataplaneapi.auth.guessing.PER_ADDRESS", 1000)
    chance = random.Random(seed)
    paths = [f"{CONFIG}/backends", f"{CONFIG}/backends/app/servers/app1", f"{CONFIG}/raw"]
    steps = [(chance.random(), chance.randrange(6), chance.randrange(4), chance.choice(paths)) for _ in range(150)]
    ways = []
    for keeps in (True, False):
        with access_lines() as log, Site(tmp_path / str(keeps), keeps=keeps) as site:
            monkeypatch.setattr(site.app.services.bearers.tokens, "_clock", lambda site=site: site.clock)
            change_tokens(site, 5, 0)
            answers = []
            for luck, chosen, number, path in steps:
                if luck < 0.2:
                    change_tokens(site, chosen, number)
                request = get(path).split(b"\r\n")
                answers.append(site.send(b"\r\n".join([*request[:2], b"Authorization: " + bearer(number), *request[3:]])))
            lines = [line for line in log.lines if line[1] == "127.0.0.1"]
            ways.append((answers, lines, dict(site.app.services.tally.requests)))
            assert (site.taken > 20) is keeps
    assert {answer[9:12] for answer in ways[0][0]} == {b"200", b"401", b"403"}
    for short, long in zip(*ways, strict=True):
        assert short == long


def test_what_is_kept_has_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dataplaneapi.server.replies.MOST_BYTES", 100_000)
    with Site(tmp_path / "one", keeps=True) as site:
        sizes = []
        for number in range(100):
            site.send(get(f"{CONFIG}/backends/app/servers/app1", f"X-Number: {number}"))
            sizes.append(site.app.reply_cache.replies._size)
        assert 0 < max(sizes) <= 100_000
        assert len(site.app.reply_cache.replies._replies) < 100


def test_what_is_kept_is_no_answer_where_too_many_passwords_were_wrong(tmp_path: Path) -> None:
    """By the address that a trusted proxy names, whatever connection the request comes over."""
    right, wrong = (get(f"{CONFIG}/backends", "X-Forwarded-For: 192.0.2.66", auth=f"admin:{word}") for word in ("adminpwd", "wrong"))
    own = get(f"{CONFIG}/backends", "X-Forwarded-For: 192.0.2.1")
    with Site(tmp_path / "one", keeps=True) as site:
        site.app.services.proxies = read_proxies(["127.0.0.1"])
        site.send(own)
        for _ in range(PER_NAME):
            assert site.send(wrong).startswith(b"HTTP/1.1 401")
        assert [site.send(each)[:12] for each in (right, wrong, own)] == [b"HTTP/1.1 429", b"HTTP/1.1 429", b"HTTP/1.1 200"]
        assert site.taken == 1


def test_one_door_is_closed_while_another_application_opens(tmp_path: Path) -> None:
    request = get(f"{CONFIG}/backends")
    with Site(tmp_path / "one", keeps=True) as site:
        first = site.send(request)
        assert site.send(request) == first
        assert site.taken == 1
        site.runner.run(site.door.close(5))
        assert site.door.reply(request) is None
        site.door.open(site.app)
        assert site.send(request) == first


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", False),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", False),
        (b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", False),
        (b"", False),
    ],
)
def test_whole_requests(data: bytes, whole: bool) -> None:
    assert is_whole(data) is whole


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (b"HTTP/1.1 200 OK\r\ndate: now\r\nX-Request-Id: id-1\r\n\r\nbody id-1", True),
        (b"HTTP/1.1 200 OK\r\ndate: now\r\nX-Request-Id: id-1\r\nConnection: close\r\n\r\nbody", False),
        (b"HTTP/1.1 200 OK\r\nX-Request-Id: id-1\r\n\r\ndate: now", False),
        (b"HTTP/1.1 200 OK\r\ndate: now\r\n\r\nid-1", False),
        (b"HTTP/1.1 200 OK\r\ndate: now\r\nX-Request-Id: id-1\r\n\r\n" + b"a" * LARGEST, False),
    ],
    ids=["plain", "closing", "no date", "no id", "large"],
)
def test_replies_with_a_place_for_what_differs(reply: bytes, kept: bool) -> None:
    replies, document, over = Replies(), object(), Connection(Endpoint())
    recording = RecordingOutlet(Outlet(Sink(), bool), b"GET")  # type: ignore[arg-type]
    recording.write(reply[:20])
    recording.write(reply[20:])
    exchange = bare_exchange(over=over)
    exchange.request_id = "id-1"
    replies.add(recording, document, 1, 1, exchange)
    found = replies.get(b"GET")
    assert (found is not None) is kept
    if found:
        assert found.with_date_and_id(b"then", b"id-22") == b"HTTP/1.1 200 OK\r\ndate: then\r\nX-Request-Id: id-22\r\n\r\nbody id-1"
        assert found.is_valid_for(over, document, 1, 1)
        assert not found.is_valid_for(over, document, 2, 1)
        assert not found.is_valid_for(over, document, 1, 2)
        assert not found.is_valid_for(over, object(), 1, 1)
        assert not found.is_valid_for(Connection(Endpoint()), document, 1, 1)
        assert not found.is_valid_for(Connection(over.endpoint, "other"), document, 1, 1)
        assert not found.is_valid_for(Connection(over.endpoint, is_spiffe=True), document, 1, 1)
