"""`Session`, one run of a command. It has the parsed arguments, the client and the output, and it waits for reloads and operations."""

import argparse
import json
import re
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from dataplaneapi.ctl import contexts, files, output
from dataplaneapi.ctl.client import JSON, Answer, Client, quote_name
from dataplaneapi.ctl.failures import FAILED, OK, PENDING, REFUSED, Failure, RefusedCall
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.output import Progress

FORMATS = ("table", "json", "yaml", "name", "cfg")
# Seconds that --wait without a time waits for a reload.
RELOAD_SECONDS = 300.0
# Pauses between two requests for a reload, in seconds.
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
# How long one request for an operation waits at most, in seconds.
POLL_SECONDS = 2
# How many of the last history entries are searched for the entry of a write.
SEARCHED_ENTRIES = 20
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}
_DAYS = ("today", "yesterday")


class Session:
    """One run of a command. `given`: the parsed arguments of the command."""

    def __init__(self, given: Namespace) -> None:
        self.given = given
        self.format: str = getattr(given, "output", None) or "table"
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        if self._client is None:
            self._client = Client(contexts.context_of(self.given))
        return self._client

    def use(self, client: Client) -> None:
        """Use `client` for all later calls, which go to another server."""
        self._client = client

    @property
    def colours(self) -> bool:
        return output.has_colours(sys.stdout)

    def close(self) -> None:
        if self._client:
            self._client.close()

    def write(self, text: str) -> None:
        sys.stdout.write(text)

    def standard_input(self) -> bytes:
        return sys.stdin.buffer.read()

    def note(self, text: str) -> None:
        """Print a line that is not part of the result, such as progress or a hint, on standard error."""
        print(text, file=sys.stderr)

    def show(self, value: Any, as_table: Callable[[Any], str]) -> None:
        """Print a result: as JSON or YAML if `-o` requests that, otherwise as the text that `as_table` returns."""
        if self.format == "json":
            self.write(files.to_json(value))
        elif self.format == "yaml":
            self.write(files.to_yaml(value))
        else:
            self.write(as_table(value))

    def show_list(self, kind: str, objects: list[Any], key: str = "name") -> None:
        self.show(objects, lambda rows: output.objects_table(kind, rows, key, colours=self.colours))
        if not objects and self.format == "table":
            self.note(f"no {kind.replace('_', ' ')}")

    def show_one(self, value: Any) -> None:
        self.show(value, self.object_text)

    def object_text(self, value: Any) -> str:
        return output.object_text(value, colours=self.colours)

    def write_options(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the query and the headers for a write, from the options that `add_write_arguments` has added."""
        guard_text = json.dumps(self.given.guard) if self.given.guard else None
        query = {"confirm": self.given.confirm, "guard": guard_text, "tests": "require" if self.given.with_tests else None}
        return query, self.message_header()

    def message_header(self) -> dict[str, str]:
        return {"X_Change_Message": self.given.message} if self.given.message else {}

    def plan_or_write(self, call: dict[str, Any], *, strict: bool | None = None) -> int:
        """Send a write as a batch of one call, which needs no version, and report its outcome. With --dry-run, only show what it would do.

        Return the exit status. Raises Failure.
        """
        query, headers = self.write_options()
        query |= {"strict": strict, "dry_run": self.given.dry_run or None}
        try:
            answer = self.client.request("POST", f"{SIDECAR}/batch", query, [call], JSON, **headers)
        except RefusedCall as refused:
            request = f"{call['method']} {call['path']}"
            refused.args = (str(refused).replace(f"POST {SIDECAR}/batch", request),)
            raise
        if self.given.dry_run:
            return self.show_plan(answer.json())
        return self.report_write(answer, lambda _: "")

    def show_plan(self, plan: dict[str, Any]) -> int:
        """Show the plan of a change. Return the exit status: REFUSED if HAProxy would refuse the change, otherwise OK."""
        self.show(plan, lambda shown: output.plan_text(shown, colours=self.colours))
        return OK if plan.get("valid", True) else REFUSED

    def report_write(self, answer: Answer, as_table: Callable[[Any], str] | None = None, *, otherwise: str = "nothing was changed") -> int:
        """Print the reload, the confirmation and the history entry of a write. Return OK.

        If `as_table` is given, print the body of the answer first. If the history has no entry of the write, print `otherwise`. With
        --wait, block until the reload has ended. Raises Failure if the reload fails or does not end in time.
        """
        if as_table:
            self.show(answer.json(), as_table)
        if reload := answer.headers.get("reload-id"):
            seconds = getattr(self.given, "wait", None)
            if seconds is None:
                self.note(f"reload {reload} is scheduled; dataplaneapi ctl get reload {reload} has its outcome")
            else:
                self.await_reload(reload, seconds)
        location = answer.headers.get("location", "")
        if "/confirmations/" in location:
            number, deadline = location.rpartition("/")[2], answer.headers.get("confirmation-expires", "its deadline")
            self.note(f"rolled back automatically at {deadline} unless confirmed; to confirm: dataplaneapi ctl confirm {number}")
        history = self.client.send("GET", f"{SIDECAR}/history", {"limit": SEARCHED_ENTRIES})
        entries = history.json() if history.status == 200 else []
        own = [entry for entry in entries if entry.get("request_id") == answer.headers.get("x-request-id")]
        if own:
            summary = own[0].get("summary") or f"version {own[0].get('version', '-')}"
            line = f"entry {own[0]['id']}, {output.word(own[0]['outcome'])}: {summary}"
        elif entries or not otherwise:
            line = otherwise
        else:
            # If there is no history or the caller may not read it, only the answer shows what was done.
            line = "" if "reload-id" in answer.headers else "in effect"
        if line:
            (print if self.format == "table" else self.note)(line)
        return OK

    def await_reload(self, reload: str, seconds: float) -> None:
        """Block until a reload has succeeded. Raises Failure if the reload fails, or does not end within `seconds`."""
        began, pause = time.monotonic(), FIRST_PAUSE
        with Progress() as progress:
            while True:
                record = self.client.get(f"{SIDECAR}/reloads/{quote_name(reload)}")
                reload = record.get("continued_in", reload)
                if record["status"] != "in_progress" and "continued_in" not in record:
                    break
                spent = time.monotonic() - began
                progress.show(f"reload {reload} {output.cell(record.get('response') or 'in progress')}, {spent:.0f} s")
                if spent > seconds:
                    raise Failure(
                        f"reload {reload} has not ended after {seconds:g} s: {record.get('response') or ''}".rstrip(": "), PENDING
                    )
                time.sleep(pause)
                pause = min(pause * 1.5, LONGEST_PAUSE)
        if record["status"] == "failed":
            raise Failure(f"reload {reload} failed: {record.get('error') or ''}\n{record.get('response') or ''}".rstrip(), FAILED)
        self.note(f"reload {reload} succeeded")

    def await_operation(self, number: str, seconds: float) -> Any:
        """Block until an operation has succeeded, and return the operation.

        Raises Failure if it fails, or does not end within `seconds`.
        """
        began = time.monotonic()
        with Progress() as progress:
            while True:
                left = seconds - (time.monotonic() - began)
                operation = self.client.get(
                    f"{SIDECAR}/operations/{quote_name(number)}", {"wait": f"{min(POLL_SECONDS, max(1, left)):.0f}s"}
                )
                if operation["status"] != "running":
                    break
                members = " ".join(f"{key}={output.cell(value)}" for key, value in operation["progress"].items())
                progress.show(f"{operation['kind']} {number}: {members or 'running'}, {time.monotonic() - began:.0f} s")
                if left <= 0:
                    reload = operation["progress"].get("reload_id")
                    why = self.client.get(f"{SIDECAR}/reloads/{quote_name(reload)}").get("response") if reload else ""
                    raise Failure(f"{operation['kind']} {number} has not ended after {seconds:g} s: {why or ''}".rstrip(": "), PENDING)
        if operation["status"] != "succeeded":
            raise Failure(f"{operation['kind']} {number} {operation['status']}: {operation.get('error', '')}".rstrip(": "), FAILED)
        return operation


def add_dry_run_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and change nothing")


def add_write_arguments(parser: argparse.ArgumentParser, *, dry_run: bool = False) -> None:
    """Add the options that all commands have which change the configuration. `dry_run`: whether to add --dry-run as well."""
    if dry_run:
        add_dry_run_argument(parser)
    text = "wait for the reload that the change needs, at most this long (default 5m)"
    parser.add_argument("--wait", nargs="?", const=RELOAD_SECONDS, type=duration, metavar="TIME", help=text)
    parser.add_argument("--confirm", metavar="TIME", help="roll the change back after this time, such as 2m, unless it is confirmed")
    text = (
        "with --confirm: roll the change back at once if a condition is violated, as in errors=2,ready: at most 2 %% of "
        "the responses are 5xx, and no backend loses a ready server"
    )
    parser.add_argument("--guard", type=guard, metavar="GUARD", help=text)
    parser.add_argument("--tests", dest="with_tests", action="store_true", help="refuse the change if it breaks a routing test")
    add_message_argument(parser)


def add_message_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", "--message", metavar="TEXT", help="reason for the change, for the history and the audit log")


def guard(text: str) -> dict[str, Any]:
    """Convert a guard, such as `errors=2,ready,min_requests=50` or JSON, to the JSON that the server expects.

    Raises argparse.ArgumentTypeError.
    """
    if text.startswith("{"):
        try:
            return dict(json.loads(text))
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"it is not JSON: {error}") from None
    conditions: dict[str, Any] = {}
    for item in text.split(","):
        match = re.fullmatch(r"(errors|min_requests)=(\d+(?:\.\d+)?)|(ready)", item)
        if not match:
            raise argparse.ArgumentTypeError(f"{item!r} is none of errors=PERCENT, ready and min_requests=N")
        conditions[match[1] or match[3]] = True if match[3] else float(match[2]) if "." in match[2] else int(match[2])
    return conditions


def duration(text: str) -> float:
    """Return the number of seconds in `30s`, `5m`, `2h` or a bare number. Raises argparse.ArgumentTypeError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration, such as 30s or 5m")
    return float(match[1]) * _UNITS[match[2] or ""]


def moment(text: str) -> str:
    """Convert a time to RFC 3339: `24h` is 24 hours ago, and `today` and `yesterday` mean midnight in local time.

    A text that begins with a date is returned unchanged. Raises argparse.ArgumentTypeError.
    """
    now = datetime.now(UTC)
    if text in _DAYS:
        midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
        return (midnight - timedelta(days=_DAYS.index(text))).astimezone(UTC).isoformat()
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}.*", text):
        return text
    try:
        return (now - timedelta(seconds=duration(text))).isoformat()
    except (argparse.ArgumentTypeError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is no time: write 24h, 2d, yesterday, or 2026-11-23T10:00:00Z") from None
