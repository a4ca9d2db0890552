"""Where lines go that are only ever added."""

import errno
import json
import os
import socket
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.telemetry import audit
from dataplaneapi.telemetry.audit import AuditLog, FileSink, SyslogSink
from tests.until import until


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def numbered(number: int) -> Any:
    return lambda: {"n": number}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "PAUSE", 0.01)


def test_a_file_for_its_user_alone_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "log" / "audit.log"
    for number in range(2):
        log = AuditLog(FileSink(path), str(path))
        log.add(numbered(number))
        log.add(lambda: None)
        log.close()
        assert log.written == 1 and not log.write_error
    assert lines(path) == [{"n": 0}, {"n": 1}]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_was_moved_away_is_opened_anew(tmp_path: Path) -> None:
    path, old = tmp_path / "audit.log", tmp_path / "audit.log.1"
    log = AuditLog(FileSink(path), str(path))
    log.add(numbered(1))
    until(lambda: log.written == 1)
    path.rename(old)
    log.renew()
    until(path.exists, "it is there before the next line")
    log.add(numbered(2))
    until(lambda: log.written == 2)
    path.unlink()
    log.add(numbered(3))
    log.close()
    assert lines(old) == [{"n": 1}] and lines(path) == [{"n": 3}]


def test_links_are_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.symlink_to(tmp_path / "elsewhere")
    log = AuditLog(FileSink(path), str(path))
    log.add(numbered(1))
    until(lambda: bool(log.write_error))
    log.close()
    assert not (tmp_path / "elsewhere").exists() and log.lost == 1


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Lines wait, those beyond the limit are counted, and a line that was cut short is completed."""
    path, room = tmp_path / "audit.log", [20]
    write = os.write

    def limited(file: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = write(file, data[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr(audit, "KEPT", 5)
    monkeypatch.setattr(audit.os, "write", limited)
    log = AuditLog(FileSink(path), str(path))
    for number in range(3):
        log.add(numbered(number))
    until(lambda: log.written == 2 and bool(log.write_error))
    for number in range(3, 20):
        log.add(numbered(number))
    assert log.write_error == f"{path}: No space left on device" and log.lost == 12
    room[0] = 1_000_000
    until(lambda: not log.write_error and log.written == 9)
    log.close()
    assert lines(path) == [
        *({"n": number} for number in range(3)),
        {"event": "lost", "lines": 12},
        *({"n": number} for number in range(3, 8)),
    ]
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]


def test_a_line_that_cannot_be_made_costs_itself_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "audit.log"
    log = AuditLog(FileSink(path), str(path))
    log.add(lambda: {"n": 1 // 0})
    log.add(numbered(1))
    log.close()
    assert lines(path) == [{"n": 1}] and "building a line of the audit log failed" in caplog.text


def test_syslog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "COLLECTOR", str(tmp_path / "log"))
    log = AuditLog(SyslogSink(), "syslog")
    log.add(numbered(1))
    until(lambda: bool(log.write_error), "none listens yet")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as collector:
        collector.bind(str(tmp_path / "log"))
        collector.settimeout(60)
        assert collector.recv(1000) == f'<86>dataplaneapi-audit[{os.getpid()}]: {{"n": 1}}'.encode()
        log.close()


def test_an_end_while_more_is_kept_than_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread ends, and what was kept is written."""
    monkeypatch.setattr(audit, "KEPT", 2)
    busy, go_on, others = threading.Event(), threading.Event(), set(threading.enumerate())
    log = AuditLog(FileSink(tmp_path / "audit.log"), "audit.log")

    def slow() -> None:
        busy.set()
        assert go_on.wait(60)

    log.add(slow)
    assert busy.wait(60)
    for number in range(3):
        log.add(numbered(number))
    threading.Timer(0.1, go_on.set).start()
    log.close()
    until(lambda: set(threading.enumerate()) <= others)
    assert lines(tmp_path / "audit.log") == [{"event": "lost", "lines": 1}, {"n": 0}, {"n": 1}]


def test_what_waits_is_tried_again_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "PAUSE", 60)
    path = tmp_path / "log" / "audit.log"
    (tmp_path / "log").touch()
    log = AuditLog(FileSink(path), str(path))
    for number in range(3):
        log.add(numbered(number))
    until(lambda: bool(log.write_error))
    (tmp_path / "log").unlink()
    log.close()
    assert lines(path) == [{"n": 0}, {"n": 1}, {"n": 2}] and (log.written, log.lost) == (3, 0)


def test_what_cannot_be_written_at_the_end_is_lost_with_what_is_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each attempt may take as long as a collector that does not answer."""
    attempts = 0

    class Slow(FileSink):
        def write(self, line: bytes) -> None:
            nonlocal attempts
            attempts += 1
            assert attempts == 1 or go_on.wait(60)
            raise TimeoutError("timed out")

    monkeypatch.setattr(audit, "LAST_SECONDS", 0.01)
    go_on, others = threading.Event(), set(threading.enumerate())
    log = AuditLog(Slow(tmp_path / "audit.log"), "audit.log")
    for number in range(5):
        log.add(numbered(number))
    until(lambda: attempts == 2)
    log.close()
    go_on.set()
    until(lambda: set(threading.enumerate()) <= others)
    assert (attempts, log.written, log.lost) == (2, 0, 5)
