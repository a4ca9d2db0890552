"""`ctl follow`: applies each new state of a source until it is acknowledged or refused, and writes the outcome back beside it."""

import argparse
import json
import signal
import sys
import time
from typing import Any, NoReturn

from dataplaneapi.ctl.client import TEXT
from dataplaneapi.ctl.failures import OK, REFUSED, Failure, Refused
from dataplaneapi.ctl.objects import CONFIGURATION, SIDECAR
from dataplaneapi.ctl.session import Session
from dataplaneapi.ctl.sources import Files, Key, State, source

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
# Within the time that an answer may take.
RELOAD_TIME = "4m"
# Answers that say nothing about the state itself: it is sent again.
PASSING = (401, 408, 409, 412, 425, 429)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="a file, a directory, etcd:KEY, or http://HOST:PORT/KEY of an etcd")
    parser.add_argument("--owner", help="who declares it")
    parser.add_argument("--whole", action="store_true", help="the text is the whole configuration, not what one owner declares of it")
    parser.add_argument("--force", action="store_true", default=None, help="take what others own")
    parser.add_argument("--max-delete", type=int, metavar="N", help="refuse a state that would delete more objects")
    parser.add_argument("--unowned", metavar="MEMBERS", help="members that are left to others, as in weight,maintenance")
    parser.add_argument("--status", metavar="FILE", help="file for the outcome (default SOURCE.status)")
    parser.add_argument("--etcd", metavar="URL", help="endpoints of etcd, with commas between (default ETCDCTL_ENDPOINTS)")
    parser.add_argument("--once", action="store_true", help="end when the present state is acknowledged or refused")


def run(session: Session) -> int:
    given = session.given
    if bool(given.owner) == given.whole:
        raise Failure("--owner NAME is required, or --whole for a whole configuration")
    signal.signal(signal.SIGTERM, _end)
    follower = Follower(session, source(given.source, endpoints=given.etcd or "", status=given.status or ""))
    while True:
        is_over, is_taken = follower.step()
        if is_over and given.once:
            return OK if is_taken else REFUSED


def _end(number: int, frame: object) -> NoReturn:
    sys.exit(OK)


class Follower:
    """`step` is one look at the source, one try where there is something to do, and one wait."""

    def __init__(self, session: Session, watched: Files | Key) -> None:
        self._session, self._source = session, watched
        self._done, self._trying, self._tries = "", "", 0
        self._said: dict[str, Any] | None = None

    def step(self) -> tuple[bool, bool]:
        """Whether the present state needs no further try, and whether it was taken."""
        try:
            state = self._source.read()
        except Failure as failure:
            self._pause(f"{failure}")
            return False, False
        if state is None or state.mark == self._done:
            if not self._session.given.once:
                self._source.wait(LONGEST_PAUSE)
            return state is not None, self._said is not None and self._said["outcome"] == "applied"
        self._tries = self._tries + 1 if state.mark == self._trying else 1
        self._trying = state.mark
        try:
            outcome = {"outcome": "applied", **self._applied(state)}
        except Failure as failure:
            code = failure.code if isinstance(failure, Refused) else None
            if code is None or code < 400 or code in PASSING or code >= 500:
                self._report({"outcome": "trying", "message": str(failure), "tries": self._tries, "mark": state.mark})
                self._pause(str(failure))
                return False, False
            outcome = {"outcome": "refused", "status": code, "message": str(failure)}
        self._done = state.mark
        self._report({**outcome, "tries": self._tries, "mark": state.mark})
        self._session.note(f"{state.mark}: {outcome['outcome']}{' ' + outcome['message'] if 'message' in outcome else ''}")
        return True, outcome["outcome"] == "applied"

    def _applied(self, state: State) -> dict[str, Any]:
        given, client = self._session.given, self._session.client
        if given.whole:
            # A push that skips the version would begin to count anew.
            query = {"version": client.get(f"{CONFIGURATION}/version"), "wait": RELOAD_TIME}
            client.ask("POST", f"{CONFIGURATION}/raw", query, state.body, TEXT)
            return {"version": client.get(f"{CONFIGURATION}/version")}
        query = {name: getattr(given, name) for name in ("owner", "force", "max_delete", "unowned")}
        applied = client.ask("PUT", f"{SIDECAR}/apply", {**query, "wait": RELOAD_TIME}, state.body, state.kind).json()
        return {
            "owner": given.owner,
            "version": applied["version"],
            **{name: len(applied[name]) for name in ("created", "changed", "deleted")},
        }

    def _pause(self, why: str) -> None:
        """Longer from try to try, and over as soon as another state is there."""
        self._session.client.close()
        pause = min(FIRST_PAUSE * 2 ** min(max(self._tries - 1, 0), 10), LONGEST_PAUSE)
        self._session.note(f"not applied yet, trying again in {pause:g} s: {why}")
        if self._trying:
            self._source.wait(pause)
        else:
            time.sleep(pause)

    def _report(self, outcome: dict[str, Any]) -> None:
        """Failures to write it are no reason to stop."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._said = outcome
        try:
            self._source.report(json.dumps({**outcome, "time": stamp}, ensure_ascii=False) + "\n")
        except Failure as failure:
            self._session.note(f"the outcome cannot be written: {failure}")
