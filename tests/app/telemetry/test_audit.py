"""What a line of the audit log says, and what it does not."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.settings.audit import AuditSettings
from dataplaneapi.telemetry import audit
from dataplaneapi.telemetry.audit import MOST_OBJECTS, Audit, without_values
from haproxy_native.changes.operations import SetRuntime
from haproxy_native.commit.change import Change, MemberChange, Outcome, Texts
from haproxy_native.commit.events import GRANTED, LIMITED, LOGIN, READ, REFUSED, Committed, Edited, Event, RequestAnswered, Validated
from haproxy_native.errors import Forbidden, WriteFailed
from haproxy_native.request_context import OUTSIDE, Author, Request
from haproxy_native.text.document import Document
from tests.until import until

OLD = Document.parse(b"backend app\n  server one 127.0.0.1:1\n")
NEW = Document.parse(b"backend app\n  server one 127.0.0.1:1 weight 5\n")
PUT = Request("/v3/x", "replaceServer", "backend/app/server/one")
ANN = Author("ann", "192.0.2.1", "7-1", "why", confirmation="c1", request=PUT)
BY_ANN = {
    "author": "ann",
    "address": "192.0.2.1",
    "request_id": "7-1",
    "operation": "replaceServer",
    "message": "why",
    "confirmation": "c1",
}
CHANGE = Change([], author=ANN)


async def nothing() -> Outcome:
    return Outcome(2)


def heard(tmp_path: Path, *events: Event, reads: bool = False) -> list[Any]:
    log = Audit(AuditSettings(tmp_path / "audit.log", reads))
    for event in events:
        log.on_event(event)
    log.close()
    lines = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    assert all(line.pop("time").endswith("Z") for line in lines)
    return lines


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            Committed("live", 0.1, CHANGE, Outcome(2, texts=Texts(OLD, NEW), entry=17)),
            {"event": "change", "outcome": "granted", "objects": ["backend/app/server/one"], "made": "live", "entry": "17", **BY_ANN},
        ),
        (
            Committed("failed", 0.1, CHANGE, None, Forbidden("role a may not change x")),
            {"event": "change", "outcome": "refused", "objects": ["backend/app/server/one"], "reason": "role a may not change x", **BY_ANN},
        ),
        (
            Committed(
                "runtime",
                0.1,
                Change([SetRuntime("backend/a/server/b", nothing)], author=Author("acme")),
                Outcome(2, members=[MemberChange("backend/a/server/b", "weight", 1, 2)]),
            ),
            {"event": "change", "outcome": "granted", "objects": ["backend/a/server/b"], "made": "runtime", "author": "acme"},
        ),
        (
            Edited(Path("/haproxy.cfg"), "root", Author(OUTSIDE), (1, 2), Texts(OLD, NEW)),
            {
                "event": "change",
                "outcome": "granted",
                "objects": ["backend/app/server/one"],
                "made": "outside",
                "author": OUTSIDE,
                "owner": "root",
            },
        ),
        (
            Committed("failed", 0.1, CHANGE, None, WriteFailed("no space")),
            {"event": "change", "outcome": "failed", "objects": ["backend/app/server/one"], "reason": "invalid change: no space", **BY_ANN},
        ),
        (RequestAnswered(ANN, GRANTED), {"event": "change", "outcome": "granted", "objects": ["backend/app/server/one"], **BY_ANN}),
        (RequestAnswered(ANN, GRANTED, "", READ), {"event": "read", "outcome": "granted", "objects": ["backend/app/server/one"], **BY_ANN}),
        (
            RequestAnswered(Author(address="192.0.2.66", request=Request("/v3/info")), REFUSED, "unauthorized", LOGIN, "bob"),
            {"event": "login", "outcome": "refused", "address": "192.0.2.66", "path": "/v3/info", "reason": "unauthorized", "login": "bob"},
        ),
    ],
)
def test_lines(tmp_path: Path, event: Event, line: dict[str, Any]) -> None:
    assert heard(tmp_path, Validated("accepted", 1.0), event) == [line]


def test_a_change_of_many_objects(tmp_path: Path) -> None:
    new = Document.parse(b"backend app\n" + b"".join(b"  server s%d 127.0.0.1:1\n" % number for number in range(MOST_OBJECTS + 7)))
    (line,) = heard(tmp_path, Committed("live", 0.1, CHANGE, Outcome(2, texts=Texts(Document.parse(b"backend app\n"), new))))
    assert len(line["objects"]) == MOST_OBJECTS and line["more_objects"] == 7


@pytest.mark.parametrize(("outcome", "most"), [(LIMITED, 10), (REFUSED, 100)])
def test_refused_logins_are_few(tmp_path: Path, outcome: str, most: int) -> None:
    """An attacker must not fill the disk."""
    lines = heard(tmp_path, *[RequestAnswered(Author(address="192.0.2.66"), outcome, "no", LOGIN)] * 1000)
    assert len(lines) <= most and {line["outcome"] for line in lines} == {"refused"}


def test_nothing_where_there_is_none(tmp_path: Path) -> None:
    log = Audit(None)
    log.on_event(RequestAnswered(ANN, GRANTED))
    assert not log.reads and not log.write_error and log.counts == {}
    log.close()


def lines_in(path: Path) -> int:
    """The lines of a file, which the log's own thread makes."""
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_following_the_settings(tmp_path: Path) -> None:
    log = Audit(None)
    for each in (AuditSettings(tmp_path / "one"), AuditSettings(tmp_path / "one", reads=True), AuditSettings(tmp_path / "two"), None):
        log.change(each)
        log.on_event(RequestAnswered(ANN, GRANTED))
        assert log.reads is bool(each and each.reads)
    for name, count in (("one", 2), ("two", 1)):
        until(lambda name=name, count=count: lines_in(tmp_path / name) == count)  # type: ignore[misc]


def test_following_the_settings_does_not_wait_for_the_former_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, write = threading.Event(), os.write

    def slow(file: int, data: bytes) -> int:
        assert go_on.wait(60)
        return write(file, data)

    monkeypatch.setattr(audit, "LAST_SECONDS", 60)
    monkeypatch.setattr(audit.os, "write", slow)
    log = Audit(AuditSettings(tmp_path / "one"))
    log.on_event(RequestAnswered(ANN, GRANTED))
    giving_up = threading.Timer(30, go_on.set)
    giving_up.start()
    log.change(AuditSettings(tmp_path / "two"))
    assert not go_on.is_set()
    giving_up.cancel()
    go_on.set()
    log.close()
    until(lambda: lines_in(tmp_path / "one") == 1)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "[haproxy.cfg:3]: 'user' unknown keyword 'secret-1' in 'userlist'",
            "[haproxy.cfg:3]: '...' unknown keyword '...' in '...'",
        ),
        ('weight in body must be of type integer: "secret"', "weight in body must be of type integer: '...'"),
        ("the server's user is not the file's", "the server's user is not the file's"),
        ("cut off in 'secr", "cut off in '...'"),
        ("line 7 is wrong\nuser ann password secret-1", "line 7 is wrong"),
        ("entry not found. [set map /etc/haproxy/hosts.map key secret [x]]", "entry not found. [...]"),
        ("/run/master.sock [3]  entry not found. [set map #0 key secret]", "/run/master.sock [3]  entry not found. [...]"),
        ("fields: [weight]}", "fields: [weight]}"),
        ("x" * 1000, "x" * audit.LONGEST_REASON),
    ],
)
def test_reasons_have_no_values(text: str, shown: str) -> None:
    assert without_values(text) == shown
