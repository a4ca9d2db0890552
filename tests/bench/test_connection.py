"""Read whole answers with the client, in any pieces and framing, and count them."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread

import pytest

from bench.connection import Connection, Refused, flood, request_bytes

FIXED = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbo\n\r\nb\r\ndy and more\r\n0\r\n\r\n"
REFUSED = b"HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\n\r\nno"


@contextmanager
def serving(*pieces: bytes) -> Iterator[int]:
    """Run a server that answers every request with these pieces, one after the other."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=_accept, args=(listener, pieces), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, pieces: Sequence[bytes]) -> None:
    try:
        while True:
            Thread(target=_answer, args=(listener.accept()[0], pieces), daemon=True).start()
    except OSError:
        return


def _answer(client: socket.socket, pieces: Sequence[bytes]) -> None:
    with client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while client.recv(65536):
                for piece in pieces:
                    client.sendall(piece)
        except OSError:
            return


@pytest.mark.parametrize("cut", [1, 17, 30, 45])
@pytest.mark.parametrize(("answer", "body"), [(FIXED, b"body"), (CHUNKED, b"bo\ndy and more")])
def test_an_answer_is_read_whole(answer: bytes, body: bytes, cut: int) -> None:
    with serving(answer[:cut], answer[cut:]) as port, Connection(port) as connection:
        for _ in range(2):
            assert (connection.ask("GET", "/").status, connection.ask("GET", "/").body) == (200, body)


def test_a_refusal_ends_the_run() -> None:
    with serving(REFUSED) as port, Connection(port) as connection, pytest.raises(Refused, match="409 no"):
        connection.ask("PUT", "/x", {})


def test_bodies_are_json_or_text() -> None:
    assert request_bytes("POST", "/", {"a": 1}).endswith(b'Content-Type: application/json\r\nContent-Length: 8\r\n\r\n{"a": 1}')
    assert request_bytes("POST", "/", b"global\n").endswith(b"Content-Type: text/plain\r\nContent-Length: 7\r\n\r\nglobal\n")


def test_flood_keeps_asking() -> None:
    with serving(FIXED[:20], FIXED[20:]) as port:
        assert flood(port, "/", clients=4, seconds=0.2) * 0.2 > 4
