"""Waiting for reloads: their outcome, and the one line of progress on a terminal."""

import os
import pty
import subprocess
from argparse import Namespace

import pytest

from dataplaneapi.ctl.failures import Failure
from dataplaneapi.ctl.session import Session
from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl
from tests.haproxy.sidecar import COMMAND
from tests.until import until

MORE = "backends: [{name: NAME, from: plain, http_request_rule_list: [{type: deny}]}]"


def test_the_outcome_of_a_reload(ctl: Ctl) -> None:
    done = ctl("apply", "-f", "-", "--owner", "waits", "--wait", text=MORE.replace("NAME", "waited"))
    assert done.returncode == 0 and done.stderr.startswith("reload 20") and done.stderr.endswith(" succeeded\n")
    done = ctl("apply", "-f", "-", "--owner", "goes-on", text=MORE.replace("NAME", "scheduled"))
    assert done.returncode == 0 and " is scheduled; dataplaneapi ctl get reload 20" in done.stderr


def test_a_terminal_shows_progress_and_colours(ctl: Ctl, sidecar: Quick) -> None:
    def shown(**environment: str) -> str:
        ours, theirs = pty.openpty()
        words = [str(COMMAND), "ctl", "apply", "-f", "-", "--owner", "shown", "--wait"]
        with subprocess.Popen(
            words, env={**ctl.environment, "TERM": "xterm", **environment}, stdin=subprocess.PIPE, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            process.communicate(MORE.replace("NAME", f"shown{len(environment)}").encode())
        parts = []
        while part := _read(ours):
            parts.append(part)
        os.close(ours)
        return b"".join(parts).decode()

    text = shown()
    assert "\x1b[32m+ backend/shown0\x1b[0m" in text and "\x1b[G\x1b[Kreload 20" in text
    assert "\x1b[32m" not in shown(NO_COLOR="1")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def test_a_reload_that_does_not_end_in_time_and_one_that_fails(sidecar: Quick, ctl: Ctl, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ctl.environment.items():
        monkeypatch.setenv(name, value)
    session = Session(Namespace())
    answers = iter([{"status": "in_progress"}, {"status": "in_progress"}, {"status": "failed", "error": "no", "response": "[ALERT] why"}])
    monkeypatch.setattr(session.client, "get", lambda path: next(answers))
    with pytest.raises(Failure, match="has not ended after 0 s") as late:
        session.await_reload("2026-01-01-1", 0)
    with pytest.raises(Failure, match="reload 2026-01-01-1 failed: no\n\\[ALERT\\] why") as failed:
        session.await_reload("2026-01-01-1", 60)
    assert (late.value.status, failed.value.status) == (6, 5)


def test_an_operation(sidecar: Quick, ctl: Ctl, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ctl.environment.items():
        monkeypatch.setenv(name, value)
    session = Session(Namespace())
    begun = sidecar.post("/v3/sidecar/drains", {"targets": ["shop/web1"]}).json()
    assert session.await_operation(begun["id"], 60)["status"] == "succeeded"
    until(lambda: sidecar.get(f"/v3/sidecar/operations/{begun['id']}").json()["status"] == "succeeded")
    session.close()
