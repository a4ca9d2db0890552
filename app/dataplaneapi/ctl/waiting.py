"""Waiting for reloads and operations, with one line of progress on a terminal."""

import time
from typing import Any

from dataplaneapi.ctl import tables
from dataplaneapi.ctl.client import Answer
from dataplaneapi.ctl.client import name as quoted
from dataplaneapi.ctl.failures import FAILED, OK, PENDING, Failure
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.session import Session
from dataplaneapi.ctl.terminal import Progress

# As long as a reload is waited for where no time is said.
REASONABLE = 300.0
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
# What is asked of the server at once.
STEP = 2


def written(session: Session, answer: Answer, wait: float | None) -> int:
    """Says what became of a write: in effect, or by which reload and until when it is confirmed. Waits where that is asked for."""
    status = OK
    if reload := answer.headers.get("reload-id"):
        if wait is None:
            session.note(f"reload {reload} is scheduled; dataplaneapi ctl get reload {reload} has its outcome")
        else:
            status = reload_ended(session, reload, wait)
    location = answer.headers.get("location", "")
    if "/confirmations/" in location:
        number = location.rpartition("/")[2]
        session.note(f"goes back at {answer.headers.get('confirmation-expires', 'its deadline')} unless: dataplaneapi ctl confirm {number}")
    return status


def reload_ended(session: Session, reload: str, seconds: float) -> int:
    """Raises Failure where it has failed, or lasts longer."""
    began, pause = time.monotonic(), FIRST_PAUSE
    with Progress() as progress:
        while True:
            record = session.client.get(f"{SIDECAR}/reloads/{quoted(reload)}")
            reload = record.get("continued_in", reload)
            if record["status"] != "in_progress" and "continued_in" not in record:
                break
            spent = time.monotonic() - began
            progress.say(f"reload {reload} {tables.cell(record.get('response') or 'in progress')}, {spent:.0f} s")
            if spent > seconds:
                raise Failure(f"reload {reload} has not ended after {seconds:g} s", PENDING)
            time.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE)
    if record["status"] == "failed":
        raise Failure(f"reload {reload} failed: {record.get('error') or ''}\n{record.get('response') or ''}".rstrip(), FAILED)
    session.note(f"reload {reload} succeeded")
    return OK


def operation_ended(session: Session, number: str, seconds: float) -> Any:
    """The operation. Raises Failure where it has not succeeded, or lasts longer."""
    began = time.monotonic()
    with Progress() as progress:
        while True:
            left = seconds - (time.monotonic() - began)
            # The first look, and every one in which something may be shown, is soon over.
            operation = session.client.get(f"{SIDECAR}/operations/{quoted(number)}", {"wait": f"{min(STEP, max(1, left)):.0f}s"})
            if operation["status"] != "running":
                break
            progress.say(f"{operation['kind']} {number}: {describe(operation['progress'])}, {time.monotonic() - began:.0f} s")
            if left <= 0:
                raise Failure(f"{operation['kind']} {number} has not ended after {seconds:g} s", PENDING)
    if operation["status"] != "succeeded":
        raise Failure(f"{operation['kind']} {number} {operation['status']}: {operation.get('error', '')}".rstrip(": "), FAILED)
    session.note(f"{operation['kind']} {number} succeeded")
    return operation


def describe(progress: Any) -> str:
    """The progress of an operation in one line."""
    return " ".join(f"{key}={tables.cell(value)}" for key, value in progress.items()) or "running"
