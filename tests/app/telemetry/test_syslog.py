"""Lines that reach a collector, and what happens while there is none."""

import logging
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.telemetry import syslog
from tests.until import until

LINE = re.compile(r"<(\d+)>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00 [!-~]+ ([!-~]+) \d+ (app|access) - (.*)", re.DOTALL)
GIVEN = {"syslog_facility": "daemon", "syslog_level": "info", "syslog_tag": "dp"}


@contextmanager
def sending(protocol: str, address: str, **more: Any) -> Iterator[syslog.Syslog]:
    handler = syslog.handler({**GIVEN, "syslog_protocol": protocol, "syslog_address": address, **more})
    try:
        yield handler
    finally:
        handler.close()


def say(handler: logging.Handler, text: str, level: int = logging.INFO, name: str = "app.x") -> None:
    handler.handle(logging.LogRecord(name, level, "", 0, text, None, None))


def framed(stream: Any) -> str:
    """One message of a stream: its length, a blank, and as many octets."""
    length = b""
    while (octet := stream.read(1)) != b" ":
        length += octet
    return bytes(stream.read(int(length))).decode()


@pytest.mark.parametrize("protocol", ["tcp", "tcp4", "unix"])
def test_a_stream(tmp_path: Path, protocol: str) -> None:
    path = str(tmp_path / "log")
    family, address = (socket.AF_UNIX, path) if protocol == "unix" else (socket.AF_INET, ("127.0.0.1", 0))
    with socket.socket(family) as listening:
        listening.bind(address)
        listening.listen()
        listening.settimeout(60)
        where = path if protocol == "unix" else f"127.0.0.1:{listening.getsockname()[1]}"
        with sending(protocol, where) as handler:
            say(handler, "first\nof two lines, ü", logging.ERROR)
            say(handler, "second", name="access")
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as stream:
                connection.settimeout(60)
                assert LINE.fullmatch(framed(stream)).groups() == ("27", "dp", "app", "first\nof two lines, ü")  # type: ignore[union-attr]
                assert LINE.fullmatch(framed(stream)).groups() == ("30", "dp", "access", "second")  # type: ignore[union-attr]


@pytest.mark.parametrize("protocol", ["udp", "udp4", "unixgram"])
def test_datagrams(tmp_path: Path, protocol: str) -> None:
    path = str(tmp_path / "log")
    family, address = (socket.AF_UNIX, path) if protocol == "unixgram" else (socket.AF_INET, ("127.0.0.1", 0))
    with socket.socket(family, socket.SOCK_DGRAM) as collector:
        collector.bind(address)
        collector.settimeout(60)
        where = path if protocol == "unixgram" else f"127.0.0.1:{collector.getsockname()[1]}"
        with sending(protocol, where, syslog_level="warn") as handler:
            say(handler, "not severe enough")
            say(handler, "short", logging.WARNING)
            say(handler, "x" * 1_000_000, logging.CRITICAL)
            assert collector.recv(4096).endswith(b" app - short")
            assert len(collector.recv(1 << 20)) == syslog.SHORTEST


def test_a_collector_that_comes_late_and_goes_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(syslog, "PAUSE", 0.01)
    monkeypatch.setattr(syslog, "KEPT", 2)
    path, said = str(tmp_path / "log"), ""
    with sending("unix", path) as handler:
        say(handler, "early")
        while "cannot be reached" not in said:
            said += capsys.readouterr().out
            time.sleep(0.01)
        for _ in range(3):
            say(handler, "kept")
        with listening_at(path) as listening:
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as stream:
                assert [framed(stream).rpartition(" ")[2] for _ in range(3)] == ["early", "kept", "kept"]
        while "is reached again; 1 lines were lost" not in said:
            said += capsys.readouterr().out
            time.sleep(0.01)
        Path(path).unlink()
        with listening_at(path) as listening:
            say(handler, "to the next one")
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as stream:
                assert framed(stream).endswith("to the next one")
    assert said.count("cannot be reached") == 1


def test_an_end_while_more_is_kept_than_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be sent then is given up."""
    monkeypatch.setattr(syslog, "KEPT", 2)
    others = set(threading.enumerate())
    with sending("unix", str(tmp_path / "log")) as handler:
        for _ in range(5):
            say(handler, "kept")
    until(lambda: set(threading.enumerate()) <= others)


def test_what_waits_is_tried_again_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(syslog, "PAUSE", 60)
    monkeypatch.setattr(syslog, "FAILURES", 1)
    path, said = str(tmp_path / "log"), ""
    with sending("unixgram", path) as handler, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as collector:
        say(handler, "early")
        say(handler, "late")
        while "cannot be reached" not in said:
            said += capsys.readouterr().out
            time.sleep(0.01)
        collector.bind(path)
        collector.settimeout(60)
        handler.close()
        assert [collector.recv(4096).rpartition(b" ")[2] for _ in range(2)] == [b"early", b"late"]


@contextmanager
def listening_at(path: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.settimeout(60)
        listening.bind(path)
        listening.listen()
        yield listening


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"syslog_facility": ""}, "Error configuring Syslog logging: syslog_facility '' must be one of kern"),
        ({"syslog_level": "loud"}, "Error configuring Syslog logging: syslog_level 'loud'"),
        ({"syslog_address": ""}, "Error configuring Syslog logging: no address has been declared"),
        ({"syslog_protocol": "smtp"}, "Error configuring Syslog logging: syslog_protocol 'smtp'"),
        ({"syslog_address": "a:b:c"}, "Error configuring Syslog logging: syslog_address 'a:b:c' must be host:port"),
        ({"syslog_address": "a:99999"}, "Error configuring Syslog logging: syslog_address 'a:99999' must be host:port"),
        ({"syslog_address": "a..b:514"}, "Error configuring Syslog logging: syslog_address 'a..b:514' must be host:port"),
        ({"syslog_address": f"{'a' * 64}:514"}, "Error configuring Syslog logging: syslog_address 'a{64}:514' must be host:port"),
    ],
)
def test_what_cannot_be_used(changed: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        syslog.handler({**GIVEN, "syslog_protocol": "tcp", "syslog_address": "127.0.0.1:1", **changed})
