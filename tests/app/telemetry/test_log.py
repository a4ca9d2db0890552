"""Log targets."""

import json
import logging
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.telemetry import log
from tests.app.client import bare_exchange


@pytest.fixture(autouse=True)
def handlers_of_before() -> Iterator[None]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers[:] = []
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = before
    root.setLevel(level)


def say() -> None:
    logging.getLogger("app.anything").debug("details")
    logging.getLogger("native.anything").info("all is %s", "well", extra={"fields": {"reload_id": "x-1", "count": 3}})
    logging.getLogger("app.anything").warning('a "quoted" word')
    exchange = bare_exchange(path="/x", raw_path=b"/x")
    exchange.status, exchange.size = 200, 1
    logging.getLogger(log.ACCESS).info("request", extra={"request": (exchange, 0.0), "fields": {"request_id": "r1"}})


def logged(tmp_path: Path, **target: Any) -> list[str]:
    path = tmp_path / "deep" / "server.log"
    log.setup([{"log_to": "file", "log_file": str(path), **target}])
    say()
    return path.read_text().splitlines()


def test_text(tmp_path: Path) -> None:
    first, second = logged(tmp_path)
    assert first.startswith('time="')
    assert first.endswith('level=info msg="all is well" reload_id="x-1" count=3')
    assert second.endswith('level=warning msg="a \\"quoted\\" word"')


@pytest.mark.parametrize("spelling", ["json", "JSON"])
def test_json(tmp_path: Path, spelling: str) -> None:
    first, _ = map(json.loads, logged(tmp_path, log_format=spelling))
    assert (first["level"], first["msg"], first["reload_id"], first["count"]) == ("info", "all is well", "x-1", 3)
    assert first["time"]


def test_an_access_line_in_fields(tmp_path: Path) -> None:
    line = json.loads(*logged(tmp_path, log_types=["access"], log_format="json", acl_format="%m %U"))
    assert line.pop("time")
    fields = {"method": "GET", "path": "/x", "protocol": "HTTP/1.1", "status": 200, "size": 1, "duration": 0.0}
    assert line == {"level": "info", "msg": "GET /x", "request_id": "r1"} | fields


@pytest.mark.parametrize(("level", "count"), [("debug", 3), ("info", 2), ("warning", 1), ("error", 0), ("trace", 2), ("WARNING", 1)])
def test_levels(tmp_path: Path, level: str, count: int) -> None:
    assert len(logged(tmp_path, log_level=level)) == count


def test_access_lines_where_they_are_wanted(tmp_path: Path) -> None:
    (only,) = logged(tmp_path, log_types=["access"], acl_format="%m %U %>s")
    assert only.endswith('msg="GET /x 200" request_id=r1')
    assert len(logged(tmp_path / "both", log_types=["access", "app"])) == 3
    assert logged(tmp_path / "loud", log_types=["access"], log_level="warning") == []


@pytest.mark.parametrize(
    "target",
    [
        {"log_to": "nowhere"},
        {"log_to": "syslog"},
        {"log_to": "stdout", "log_types": ["app", "app"]},
        {"log_to": "stdout", "log_types": ["all"]},
        {"log_to": "file", "log_file": "/proc/none/x.log"},
    ],
)
def test_a_target_that_cannot_be_used_is_told_and_the_others_stay(tmp_path: Path, target: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.log"
    log.setup([target, {"log_to": "file", "log_file": str(path)}])
    assert "is not used" in capsys.readouterr().err
    assert "is not used" in path.read_text()


def test_an_access_format_that_cannot_be_used_costs_the_access_lines_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = logged(tmp_path, log_types=["app", "access"], acl_format="%z")
    assert [line.partition("msg=")[2].split()[0] for line in lines] == ['"log', '"all', '"a']
    assert "gets no access lines: acl_format '%z'" in capsys.readouterr().err


def test_a_file_that_was_moved_away_is_opened_anew(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "server.log"
    assert len(logged(tmp_path)) == 2
    path.rename(tmp_path / "server.log.1")
    say()
    assert len(path.read_text().splitlines()) == 2


def test_syslog(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as collector:
        collector.bind(str(tmp_path / "log"))
        collector.settimeout(60)
        place = {"syslog_address": str(tmp_path / "log"), "syslog_protocol": "unixgram", "syslog_tag": "dp"}
        log.setup([{"log_to": "syslog", "syslog_facility": "local1", "syslog_level": "debug", **place}])
        say()
        first, second = collector.recv(4096).decode(), collector.recv(4096).decode()
        log.setup([])
    assert first.startswith("<142>1 20")
    assert first.endswith(' app - all is well reload_id="x-1" count=3')
    assert second.startswith("<140>1 20")


def test_without_targets_warnings_go_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    log.setup([])
    say()
    assert [line.partition("level=")[2] for line in capsys.readouterr().out.splitlines()] == ['warning msg="a \\"quoted\\" word"']


def test_a_second_setup_replaces_the_first(tmp_path: Path) -> None:
    logged(tmp_path)
    before = len(logged(tmp_path / "other"))
    assert before == 2
    assert len(logging.getLogger().handlers) == 1


def test_exceptions_keep_their_trace(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    log.setup([{"log_to": "file", "log_file": str(path)}])
    try:
        raise ValueError("oops")
    except ValueError:
        logging.getLogger("app").exception("failed")
    (only,) = path.read_text().splitlines()
    assert "Traceback" in only
    assert "ValueError: oops" in only


def test_the_journal_is_told_priorities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "journal").open("w") as stream:
        about = os.fstat(stream.fileno())
        monkeypatch.setattr("sys.stdout", stream)
        monkeypatch.setenv("JOURNAL_STREAM", f"{about.st_dev}:{about.st_ino}")
        log.setup([{"log_to": "stdout", "log_level": "debug"}])
        say()
        logging.getLogger("app.anything").error("first\nsecond")
        monkeypatch.setenv("JOURNAL_STREAM", "0:0")
        log.setup([{"log_to": "stdout", "log_level": "debug"}])
        logging.getLogger("app.anything").error("plain")
    lines = (tmp_path / "journal").read_text().splitlines()
    assert [line[:3] for line in lines] == ["<7>", "<6>", "<4>", "<3>", "tim"]


def test_a_traceback_is_of_one_priority(tmp_path: Path) -> None:
    with (tmp_path / "journal").open("w") as stream:
        handler = log.ToJournal(stream)
        try:
            raise ValueError("oops")
        except ValueError:
            handler.emit(logging.LogRecord("app", logging.ERROR, "", 0, "failed", None, sys.exc_info()))
    lines = (tmp_path / "journal").read_text().splitlines()
    assert len(lines) > 2
    assert {line[:3] for line in lines} == {"<3>"}
