"""`ctl follow`: apply each new state of a source, and write the outcome to a status file or key next to it.

A source is a file, a directory or a key of etcd. A state is sent until the server accepts or refuses it. Failures that do not depend on the
state (server unreachable, conflict, 5xx) are retried with growing pauses, until the source has another state. While the source is missing
or empty, nothing is applied and nothing is deleted.
"""

import argparse
import hashlib
import json
import os
import signal
import sys
import time
from typing import Any

from dataplaneapi.ctl import files
from dataplaneapi.ctl.client import TEXT
from dataplaneapi.ctl.commands.apply import guess_media_type, read_declarations
from dataplaneapi.ctl.etcd import Etcd
from dataplaneapi.ctl.failures import OK, REFUSED, Failure, RefusedCall
from dataplaneapi.ctl.objects import CONFIGURATION, SIDECAR
from dataplaneapi.ctl.session import Session

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
# How long a call waits for its reload: shorter than the client waits for an answer.
RELOAD_TIME = "4m"
# Statuses below 500 that do not depend on the state, so that the state is sent again.
PASSING = (401, 408, 409, 412, 425, 429)
# How often files are checked, and how long they must be unchanged before they are read: a program may be writing them. In seconds.
CHECK_SECONDS, STILL_SECONDS = 1.0, 0.2
# After so many seconds without a change, a watch of etcd is replaced by a new one.
WATCH_SECONDS = 60.0


def follow_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="a file, a directory, etcd:KEY, or http://HOST:PORT/KEY of an etcd")
    parser.add_argument(
        "--owner", metavar="NAME", help="name of the owner, such as a team or a pipeline; required, unless --whole is given"
    )
    parser.add_argument("--whole", action="store_true", help="the text is the whole configuration, not what one owner declares of it")
    parser.add_argument("--force", action="store_true", default=None, help="take over what others own")
    parser.add_argument("--max-delete", type=int, metavar="N", help="refuse a state that would delete more objects")
    parser.add_argument("--unowned", metavar="MEMBERS", help="members that are left to others, as in weight,maintenance")
    parser.add_argument("--status", metavar="FILE", help="file for the outcome (default SOURCE.status)")
    parser.add_argument("--etcd", metavar="URL", help="endpoints of etcd, with commas between (default ETCDCTL_ENDPOINTS)")
    parser.add_argument("--once", action="store_true", help="exit when the present state is accepted or refused")


def run_follow(session: Session) -> int:
    given = session.given
    if bool(given.owner) == given.whole:
        raise Failure("--owner NAME is required, or --whole for a whole configuration")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(OK))
    follower = Follower(session, source(given.source, endpoints=given.etcd or "", status=given.status or ""))
    while True:
        is_done, is_applied = follower.step()
        if is_done and given.once:
            return OK if is_applied else REFUSED


class DeclaredState:
    """A state of a source: the request body, the media type of the body, and a mark that identifies the state."""

    def __init__(self, body: bytes, kind: str, mark: str) -> None:
        self.body, self.kind, self.mark = body, kind, mark


class WatchedFiles:
    """A file or a directory as a source; outcomes go to a status file."""

    def __init__(self, path: str, status: str = "") -> None:
        self.path = path.rstrip("/")
        self._status = status or f"{self.path}.status"
        self._seen: tuple[tuple[str, int, int, int], ...] = ()

    def read(self) -> DeclaredState | None:
        """Block until the files have been unchanged for STILL_SECONDS, and return their state; None if they are missing or empty.

        Raises Failure.
        """
        self._seen = self._stamps()
        if all(os.path.isdir(name) for name, *_ in self._seen):
            return None
        while True:
            time.sleep(STILL_SECONDS)
            stamps = self._stamps()
            if stamps == self._seen:
                break
            self._seen = stamps
        body, kind = read_declarations([self.path])
        return DeclaredState(body, kind, hashlib.sha256(body).hexdigest()) if body.strip() else None

    def wait(self, seconds: float) -> None:
        """Block until the files differ from those that `read` returned, at most so many seconds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._stamps() == self._seen:
            time.sleep(min(CHECK_SECONDS, max(0.0, deadline - time.monotonic())))

    def report(self, text: str) -> None:
        try:
            files.replace(self._status, text, 0o644)
        except OSError as error:
            raise Failure(f"{self._status}: {error.strerror}") from None

    def _stamps(self) -> tuple[tuple[str, int, int, int], ...]:
        """Return the name, modification time, size and inode of each existing file."""
        names = [self.path]
        if os.path.isdir(self.path):
            names += sorted(os.path.join(above, name) for above, _, file_names in os.walk(self.path) for name in file_names)
        stamps = []
        for name in names:
            try:
                known = os.stat(name)
            except OSError:
                continue
            stamps.append((name, known.st_mtime_ns, known.st_size, known.st_ino))
        return tuple(stamps)


class EtcdKey:
    """A key of etcd as a source; outcomes go to the key `KEY.status`. An empty value counts as a missing key."""

    def __init__(self, etcd: Etcd, key: str) -> None:
        self.etcd, self.key = etcd, key
        self._revision = 0

    def read(self) -> DeclaredState | None:
        value, changed, self._revision = self.etcd.get(self.key)
        return DeclaredState(value, guess_media_type(value), f"revision {changed}") if value else None

    def wait(self, seconds: float) -> None:
        """Block until the key has changed since the last `read`, at most so many seconds."""
        try:
            for _ in self.etcd.changes(self.key, self._revision + 1, min(seconds, WATCH_SECONDS)):
                return
        except Failure:
            # The next `read` reports the failure.
            time.sleep(min(seconds, CHECK_SECONDS))

    def report(self, text: str) -> None:
        self.etcd.put(f"{self.key}.status", text)


def source(name: str, *, endpoints: str = "", status: str = "") -> WatchedFiles | EtcdKey:
    """Return the source that a name stands for: `etcd:KEY`, `http(s)://HOST:PORT/KEY` of an etcd, or a path. Raises Failure."""
    if name.startswith("etcd:"):
        return EtcdKey(Etcd(endpoints), name.removeprefix("etcd:"))
    if name.startswith(("http://", "https://")):
        scheme, _, rest = name.partition("://")
        address, _, key = rest.partition("/")
        if not key:
            raise Failure(f"{name} has no key; write {scheme}://HOST:PORT/KEY")
        # The URL of a key that begins with a slash has two slashes before it.
        return EtcdKey(Etcd(f"{scheme}://{address}"), key)
    return WatchedFiles(name, status)


class Follower:
    """Applies the states of one source. Each `step` reads the source, sends a new state once, and waits."""

    def __init__(self, session: Session, watched: WatchedFiles | EtcdKey) -> None:
        self._session, self._source = session, watched
        # The mark of the last state that was applied or refused, the mark of the last state that was sent, and how often it was sent.
        self._done, self._trying, self._tries = "", "", 0
        # Whether the source was missing or empty when it was read last.
        self._is_missing = False
        self._reported: dict[str, Any] | None = None

    def step(self) -> tuple[bool, bool]:
        """Read the source, and send a new state. Return whether the state was applied or refused, and whether it was applied. Blocks."""
        try:
            state = self._source.read()
        except Failure as failure:
            self._pause(f"{failure}")
            return False, False
        if state is None and not self._is_missing:
            self._session.note(f"{self._session.given.source} is missing or empty; nothing is applied until it has content")
        self._is_missing = state is None
        if state is None or state.mark == self._done:
            self._source.wait(LONGEST_PAUSE)
            return state is not None, self._reported is not None and self._reported["outcome"] == "applied"
        self._tries = self._tries + 1 if state.mark == self._trying else 1
        self._trying = state.mark
        try:
            outcome = {"outcome": "applied", **self._send(state)}
        except Failure as failure:
            code = failure.code if isinstance(failure, RefusedCall) else None
            if code is None or code < 400 or code in PASSING or code >= 500:
                self._report({"outcome": "trying", "message": str(failure), "tries": self._tries, "mark": state.mark})
                self._pause(str(failure))
                return False, False
            outcome = {"outcome": "refused", "status": code, "message": str(failure)}
        self._done = state.mark
        self._report({**outcome, "tries": self._tries, "mark": state.mark})
        self._session.note(f"{state.mark}: {outcome['outcome']}{' ' + outcome['message'] if 'message' in outcome else ''}")
        return True, outcome["outcome"] == "applied"

    def _send(self, state: DeclaredState) -> dict[str, Any]:
        """Apply a state, and return what the report says about the result. Raises Failure."""
        given, client = self._session.given, self._session.client
        if given.whole:
            # A push with skip_version would restart the numbering.
            query = {"version": client.get(f"{CONFIGURATION}/version"), "wait": RELOAD_TIME}
            client.request("POST", f"{CONFIGURATION}/raw", query, state.body, TEXT)
            return {"version": client.get(f"{CONFIGURATION}/version")}
        query = {name: getattr(given, name) for name in ("owner", "force", "max_delete", "unowned")}
        result = client.request("PUT", f"{SIDECAR}/apply", {**query, "wait": RELOAD_TIME}, state.body, state.kind).json()
        return {
            "owner": given.owner,
            "version": result["version"],
            **{name: len(result[name]) for name in ("created", "changed", "deleted")},
        }

    def _pause(self, why: str) -> None:
        """Wait before the next try, longer after each one. A new state of the source ends the wait."""
        self._session.client.close()
        pause = min(FIRST_PAUSE * 2 ** min(max(self._tries - 1, 0), 10), LONGEST_PAUSE)
        self._session.note(f"not applied yet, trying again in {pause:g} s: {why}")
        if self._trying:
            self._source.wait(pause)
        else:
            time.sleep(pause)

    def _report(self, outcome: dict[str, Any]) -> None:
        """Write the outcome next to the source. If that fails, print the failure."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._reported = outcome
        try:
            self._source.report(json.dumps({**outcome, "time": stamp}, ensure_ascii=False) + "\n")
        except Failure as failure:
            self._session.note(f"writing the outcome failed: {failure}")
