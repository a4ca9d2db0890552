"""Sockets that the server opens."""

import os
import socket
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.server import listeners
from dataplaneapi.server.endpoint import Endpoint, endpoints
from dataplaneapi.server.listeners import Listener, open_unix
from dataplaneapi.settings.table import Settings, SettingsError
from tests.app.authority import Authority


def given(**changed: Any) -> Settings:
    return Settings(**{"scheme": ["http"], "host": "127.0.0.1"} | changed)


def open_all(settings: Settings) -> list[Listener]:
    return listeners.open_all(endpoints(settings))


def test_a_free_port_and_its_address() -> None:
    (listener,) = open_all(given())
    try:
        port = listener.socket.getsockname()[1]
        assert listener.address == f"http://127.0.0.1:{port}"
        listener.socket.listen()
        with pytest.raises(SettingsError, match=f"cannot listen on 127.0.0.1:{port}"):
            open_all(given(port=port))
    finally:
        listener.close()


def test_localhost_is_ipv4_first() -> None:
    (listener,) = open_all(given(host="localhost"))
    with listener.socket:
        assert listener.socket.family is socket.AF_INET


def test_unix(tmp_path: Path) -> None:
    path = str(tmp_path / "api.sock")
    (listener,) = open_all(given(scheme=["unix"], socket_path=path, socket_mode="660"))
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o660
    assert listener.address == f"unix://{path}"
    assert stat.S_ISSOCK(os.stat(path).st_mode)
    listener.apply(Endpoint("unix", mode=0o600), None)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    listener.close()
    assert not os.path.exists(path)


@pytest.mark.parametrize("umask", [0, 0o077])
def test_a_unix_socket_never_has_a_wider_mode(tmp_path: Path, umask: int) -> None:
    """Looked at by a thread all the time while sockets are opened, 300 times."""
    path, seen, ended = str(tmp_path / "api.sock"), set[int](), threading.Event()

    def look() -> None:
        while not ended.is_set():
            with suppress(FileNotFoundError):
                seen.add(stat.S_IMODE(os.stat(path).st_mode))

    looking = threading.Thread(target=look)
    former = os.umask(umask)
    looking.start()
    try:
        for _ in range(300):
            (listener,) = open_all(given(scheme=["unix"], socket_path=path, socket_mode="620"))
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o620
            listener.close()
    finally:
        os.umask(former)
        ended.set()
        looking.join()
    assert [mode for mode in seen if mode & ~0o620] == []


def test_a_socket_left_behind_is_removed_and_one_in_use_is_not(tmp_path: Path) -> None:
    path = str(tmp_path / "api.sock")
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(path)
    (listener,) = open_all(given(scheme=["unix"], socket_path=path))
    try:
        listener.socket.listen()
        with pytest.raises(SettingsError, match="Address already in use"):
            open_all(given(scheme=["unix"], socket_path=path))
    finally:
        listener.close()


def test_a_socket_whose_server_accepts_no_connection_is_in_use(tmp_path: Path) -> None:
    """One that was stopped, with as many connections waiting as it admits."""
    path = str(tmp_path / "api.sock")
    with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as waiting:
        busy.bind(path)
        busy.listen(0)
        waiting.connect(path)
        with pytest.raises(SettingsError, match="Address already in use"):
            open_all(given(scheme=["unix"], socket_path=path))


def test_an_ordinary_file_is_never_removed(tmp_path: Path) -> None:
    path = tmp_path / "precious"
    path.write_text("data")
    with pytest.raises(SettingsError, match="Address already in use"):
        open_all(given(scheme=["unix"], socket_path=str(path)))
    assert path.read_text() == "data"


def test_a_socket_whose_file_is_removed_at_once_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[socket.socket] = []

    def open_and_remove(path: str, mode: int | None) -> socket.socket:
        opened.append(open_unix(path, mode))
        os.unlink(path)
        return opened[0]

    monkeypatch.setattr(listeners, "open_unix", open_and_remove)
    path = str(tmp_path / "api.sock")
    with pytest.raises(SettingsError, match=f"cannot listen on {path}: No such file"):
        open_all(given(scheme=["unix"], socket_path=path))
    assert opened[0].fileno() == -1


def test_one_that_fails_closes_the_others(tmp_path: Path) -> None:
    path = str(tmp_path / "api.sock")
    with pytest.raises(SettingsError, match="TLS cannot be served: /none"):
        open_all(given(scheme=["unix", "https"], socket_path=path, tls_certificate="/none", tls_key="/none"))
    assert not os.path.exists(path)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "bäckerei..invalid", "a\0.invalid"])
def test_an_unknown_host(host: str) -> None:
    with pytest.raises(SettingsError, match=f"cannot listen on {host}"):
        open_all(given(host=host))


def test_https_shows_its_certificate(tmp_path: Path) -> None:
    certificate, key = map(str, Authority(tmp_path).issue("server"))
    (listener,) = open_all(given(scheme=["https"], tls_certificate=certificate, tls_key=key))
    with listener.socket:
        assert listener.address.startswith("https://127.0.0.1:")
        assert listener.context() is listener.context() is not None
