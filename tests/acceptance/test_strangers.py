"""Send data to the server on raw sockets without a password. It must change nothing, return no secret, and lock nobody out."""

import contextlib
import http.client
import json
import re
import resource
import signal
import socket
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.test_program import BACKENDS, START_SECONDS, VERSION, Server, ask, running

LOGIN = b"Authorization: Basic " + b64encode(b"admin:adminpwd") + b"\r\n"


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), START_SECONDS)


def answer(client: socket.socket) -> bytes:
    """Return all data until the server closes the connection."""
    return b"".join(iter(lambda: client.recv(65536), b""))


@contextlib.contextmanager
def served(directory: Path, **changed: Any) -> Iterator[tuple[Server, int]]:
    with running(directory, **changed) as server:
        yield server, server.port


def test_a_trailer_is_no_login(tmp_path: Path) -> None:
    body = b'{"name": "be1"}'
    head = f"POST {BACKENDS}?version=1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n".encode()
    chunks = b"%x\r\n%s\r\n0\r\n" % (len(body), body)
    with served(tmp_path) as (server, port):
        for where in (b"\r\n" + chunks + LOGIN + b"\r\n", LOGIN + b"\r\n" + chunks + b"\r\n"):
            with connect(port) as client:
                client.sendall(head + b"Connection: close\r\n" + where)
                status = answer(client).split()[1]
            assert status == (b"202" if where.startswith(LOGIN) else b"401")
            assert ("backend be1" in server.config.read_text()) == where.startswith(LOGIN)


def test_trailers_take_no_memory(tmp_path: Path) -> None:
    """One trailer has 80 MB. Other clients are answered in the meantime."""
    with served(tmp_path) as (server, port):
        before = memory(server)
        with connect(port) as client:
            client.sendall(b"POST /v3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ")
            with contextlib.suppress(ConnectionError):
                for _ in range(80):
                    client.sendall(b"a" * 1_000_000)
            for _ in range(20):
                assert ask(port, VERSION) == (200, 1)
        assert memory(server) < before + 30_000_000


def memory(server: Server) -> int:
    return int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize(
    "head",
    [b"", b"GET /v3/info HTTP/1.1\r\nHost: x\r\n", b"GET /v3/info HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"],
    ids=["silence", "half a head", "half a body"],
)
def test_nobody_is_locked_out(tmp_path: Path, head: bytes) -> None:
    """All connection slots are in use. Probes and the Unix socket are served, and other clients after the deadlines of the connections."""
    path = str(tmp_path / "api.sock")
    changed = {"scheme": ["http", "unix"], "socket_path": path, "listen_limit": 20, "read_timeout": "3s", "cleanup_timeout": "3s"}
    with served(tmp_path, **changed) as (server, port), contextlib.ExitStack() as open_:
        server.until(f"Serving data plane at unix://{path}")
        for _ in range(60):
            client = open_.enter_context(connect(port))
            client.sendall(head)
        for probe in ("/livez", "/readyz", "/metrics"):
            assert probed(port, probe) in (200, 503)
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(START_SECONDS)
            client.connect(path)
            client.sendall(f"GET {VERSION} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n".encode() + LOGIN + b"\r\n")
            assert answer(client).startswith(b"HTTP/1.1 200")
        assert ask(port, VERSION) == (200, 1)


def probed(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def test_beyond_all_places_a_request_is_refused_in_words(tmp_path: Path) -> None:
    """64 requests wait for a slot. If another arrives after a second, the first of them is refused."""
    with served(tmp_path, listen_limit=1, read_timeout="60s") as (_, port), contextlib.ExitStack() as open_:
        open_.enter_context(connect(port)).sendall(b"GET / HTTP/1.1\r\n")
        waiting = [open_.enter_context(connect(port)) for _ in range(64)]
        for client in waiting:
            client.sendall(f"GET {VERSION} HTTP/1.1\r\nHost: x\r\n".encode() + LOGIN + b"\r\n")
        open_.enter_context(connect(port)).sendall(b"GET / HTTP/1.1\r\n")
        said = answer(waiting[0])
        assert said.startswith(b"HTTP/1.1 503")
        assert json.loads(said.partition(b"\r\n\r\n")[2])["message"] == "all 1 connections of this listener are in use (listen_limit)"


def test_pages_without_login_take_any_name(tmp_path: Path) -> None:
    with served(tmp_path) as (_, port):
        for name in ("a" * 300, "a" * 60_000, "a" * 300 + ".js", "%00.js", "..%2f" * 100 + "x.js", "%ff%fe.css"):
            assert ask(port, f"/v3/docs/{name}", auth="")[0] == 401


def test_bad_requests_in_the_log(tmp_path: Path) -> None:
    """Each line names the address. A thousand requests make a few short lines, and an access line is short for any request."""
    with served(tmp_path) as (server, port):
        for number in range(300):
            with connect(port) as client:
                client.sendall(b"\x16\x03\x01" * 500 if number % 2 else b"GET / HTTP/1.1\r\n\r\n")
                assert answer(client).startswith(b"HTTP/1.1 400")
        ask(port, "/v3/" + "x" * 50_000 + "?" + "y" * 10_000)
        server.process.send_signal(signal.SIGTERM)
        lines = list(server.output)
    bad = [line for line in lines if "bad request" in line]
    assert 0 < len(bad) < 100
    assert all(re.search(r"bad request from 127\.0\.0\.1:\d+: 400 ", line) for line in bad)
    assert all(len(line) < 5000 for line in lines)
