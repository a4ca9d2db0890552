"""`ctl rollout`: apply what an owner declares to several servers, one after the other. All of them keep the change, or none does.

First every server makes a plan. If a server refuses, no server is changed. Then each server in turn applies its plan as a change that must
be confirmed, or else the server rolls it back. The command watches each changed server for the bake time. When the last server is good, the
command confirms all changes. If the command is killed or loses a server, each server rolls back at its deadline. Only a failure between two
confirmations leaves some servers changed and others not. If the command still runs then, it reports which servers are changed.
"""

import argparse
import json
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from dataplaneapi.ctl import contexts, output
from dataplaneapi.ctl.client import JSON, Client, quote_name
from dataplaneapi.ctl.commands.apply import OPTIONS, declaration_arguments, declaration_text, differs, plan_status, read_declarations
from dataplaneapi.ctl.failures import FAILED, OK, PENDING, UNREACHABLE, Failure, RefusedCall
from dataplaneapi.ctl.objects import SIDECAR
from dataplaneapi.ctl.output import Progress
from dataplaneapi.ctl.session import Session, add_message_argument, duration, guard

# The pause between two polls of the servers, in seconds.
PAUSE = 1.0
# How long the requests before a change are counted, at least, in seconds.
COUNTED = 10.0
# The default of `min_requests` in a guard, as on the server.
MIN_REQUESTS = 50
NO_REQUESTS = "new sections may get no requests: then press Ctrl-C, which rolls back all servers, and run this again with --guard ready"
UNTOUCHED, UNCHANGED, WAITING, CONFIRMED, ROLLED_BACK, UNKNOWN = "untouched", "unchanged", "pending", "confirmed", "rolled back", "unknown"


def rollout_arguments(parser: argparse.ArgumentParser) -> None:
    declaration_arguments(parser)
    text = "contexts of the servers in their order, as in lb2,lb1; the passive one first"
    parser.add_argument("--to", metavar="CONTEXTS", required=True, help=text)
    text = "roll back a server that is not confirmed in this time, also if this command is killed (default 10m)"
    parser.add_argument("--confirm", type=duration, default=600.0, metavar="TIME", help=text)
    text = "what each server must fulfil meanwhile, as in errors=2,ready,min_requests=50"
    parser.add_argument("--guard", type=guard, metavar="GUARD", help=text)
    parser.add_argument("--bake", type=duration, default=10.0, metavar="TIME", help="watch each server this long (default 10s)")
    parser.add_argument("--tests", dest="with_tests", action="store_true", help="refuse the change if it breaks a routing test")
    parser.add_argument("--dry-run", action="store_true", help="show the plans of all servers, and change nothing")
    add_message_argument(parser)


def run_rollout(session: Session) -> int:
    given = session.given
    names = given.to.split(",")
    if not given.file or not given.owner:
        raise Failure("-f FILE and --owner NAME are required")
    if len(set(names)) != len(names):
        raise Failure(f"--to names a server twice: {given.to}")
    if given.bake >= given.confirm:
        raise Failure(f"--bake ({given.bake:g} s) must be shorter than --confirm ({given.confirm:g} s), after which a server rolls back")
    # SIGTERM ends the command as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    servers = [RolloutServer(name, given.confirm) for name in names]
    with ExitStack() as stack:
        for server in servers:
            stack.callback(server.client.close)
        try:
            return Rollout(session, servers).run()
        finally:
            rows: list[dict[str, Any]] = []
            for server in servers:
                version = server.plan.get("version", "")
                rows.append({"server": server.name, "version": version, "outcome": server.outcome, "plan": server.plan})
            session.show(rows, lambda _: output.table_of_members(("server", "version", "outcome"), rows, colours=session.colours))


class RolloutServer:
    """One server of a rollout: its plan, its change, and the confirmation of the change."""

    def __init__(self, name: str, seconds: float) -> None:
        # The context, and the time after which the server rolls the change back.
        self.name, self.seconds = name, seconds
        self.client = Client(contexts.stored_context(name))
        self.plan: dict[str, Any] = {}
        self.outcome = UNTOUCHED
        self.confirmation: dict[str, Any] = {}
        # Whether the server has too few requests for the guard to reach a verdict.
        self.is_idle = False
        self._deadline = 0.0
        # The monotonic time when requests were first counted, and their number then; None if that is unknown.
        self._counted: tuple[float, int | None] = (0.0, None)

    @contextmanager
    def naming_failures(self) -> Iterator[None]:
        """Put the name of the server before the message of any Failure that the body raises."""
        try:
            yield
        except Failure as failure:
            raise Failure(f"{self.name}: {failure}", failure.status) from None

    def change(self, query: dict[str, Any], headers: dict[str, str], min_requests: int) -> None:
        """Apply the plan as a change that waits for its confirmation. Blocks. Raises Failure.

        `min_requests`: the number of requests per minute below which the server counts as idle.
        """
        began, before = self._counted
        if before is not None:
            time.sleep(max(0.0, began + COUNTED - time.monotonic()))
            after = self._requests()
            # The counters of a new worker begin at zero.
            if after is not None and after >= before:
                self.is_idle = (after - before) * 60 / (time.monotonic() - began) < min_requests
        self.outcome, self._deadline = UNKNOWN, time.monotonic() + self.seconds
        try:
            answer = self.client.request("PUT", f"{SIDECAR}/apply", query, None, JSON, **headers)
        except RefusedCall as refused:
            self.outcome = ROLLED_BACK if refused.is_failed_reload else UNTOUCHED
            raise
        self.plan |= answer.json()
        if number := answer.headers.get("location", "").partition("/confirmations/")[2]:
            self.outcome, self.confirmation = WAITING, {"id": number}
        else:
            self.outcome = UNCHANGED

    def poll(self) -> None:
        """Query the state of the confirmation. Raises Failure if the confirmation is no longer pending.

        If the server does not answer, does nothing before the deadline, and raises Failure afterwards.
        """
        try:
            self.confirmation = self.client.get(self._path)
        except Failure as failure:
            if failure.status != UNREACHABLE or time.monotonic() > self._deadline:
                raise
        if (status := self.confirmation.get("status", "pending")) != "pending":
            self.outcome = output.word(status)
            why = [*self.confirmation.get("verdict", {}).get("reasons", ()), self.confirmation.get("error")]
            raise Failure(f"the change is {self.outcome}: {'; '.join(filter(None, why)) or 'somebody else has ended it'}", FAILED)

    def extend(self) -> None:
        """Set the deadline to `seconds` from now. Raises Failure."""
        self.confirmation = self.client.request("PATCH", self._path, body={"timeout": f"{self.seconds:g}s"}).json()
        self._deadline = time.monotonic() + self.seconds

    def confirm(self) -> None:
        """Confirm the change, so that the server keeps it. If the server does not answer, retry until the deadline. Raises Failure."""
        while True:
            try:
                self.client.request("POST", f"{self._path}/confirm")
            except Failure as failure:
                if failure.status == UNREACHABLE and time.monotonic() < self._deadline:
                    time.sleep(PAUSE)
                    continue
                # An earlier call without an answer may have confirmed the change.
                with suppress(Failure):
                    self.confirmation = self.client.get(self._path)
                if self.confirmation.get("status") != "confirmed":
                    raise
            self.outcome = CONFIRMED
            return

    def roll_back(self) -> None:
        """Roll the change back at once. Raises Failure."""
        self.outcome = UNKNOWN
        # A signal may have interrupted a call, so the connection may still receive its answer.
        self.client.close()
        self.confirmation = self.client.request("DELETE", self._path).json()
        self.outcome = output.word(self.confirmation["status"])

    def begin_count(self) -> None:
        """Store how many requests the server has had so far, so that `change` can find out whether the server is idle."""
        self._counted = time.monotonic(), self._requests()

    def _requests(self) -> int | None:
        """Return how many requests all frontends have received. Return None if the server refuses to report the number."""
        try:
            stats = self.client.get("/v3/services/haproxy/stats/native", {"type": "frontend"})
        except RefusedCall:
            return None
        return sum(row["stats"].get("req_tot") or row["stats"].get("stot") or 0 for row in stats["stats"])

    @property
    def seconds_left(self) -> float:
        """The seconds until the server rolls its change back, as of the last poll."""
        return float(self.confirmation.get("seconds_left", self.seconds))

    @property
    def _path(self) -> str:
        return f"{SIDECAR}/confirmations/{quote_name(self.confirmation['id'])}"


class Rollout:
    def __init__(self, session: Session, servers: list[RolloutServer]) -> None:
        self._session, self._given, self._servers = session, session.given, servers

    def run(self) -> int:
        """Run the rollout and return the exit status.

        If it fails or is interrupted, roll back the changes that are not confirmed, and raise.
        """
        given = self._given
        status = self._plan()
        if status != OK or given.dry_run:
            return status
        query = {"confirm": f"{given.confirm:g}s", "tests": "require" if given.with_tests else None}
        query |= {"guard": json.dumps(given.guard) if given.guard else None}
        min_requests = (given.guard or {}).get("min_requests", MIN_REQUESTS)
        try:
            for server in self._servers:
                if not differs(server.plan):
                    server.outcome = UNCHANGED
                    continue
                with server.naming_failures():
                    server.change({"plan": server.plan["plan_token"], **query}, self._session.message_header(), min_requests)
                if server.outcome == WAITING:
                    self._session.note(f"{server.name}: changed, and watched{' without traffic' if server.is_idle else ''}")
                self._watch(server)
            for server in self._waiting():
                with server.naming_failures():
                    server.extend()
            for server in self._waiting():
                with server.naming_failures():
                    server.confirm()
        except BaseException:
            self._roll_back()
            raise
        return OK

    def _waiting(self) -> list[RolloutServer]:
        return [server for server in self._servers if server.outcome == WAITING]

    def _plan(self) -> int:
        """Make the plans of all servers, and show them. Return OK, or the exit status for the first server that refuses."""
        given, refused = self._given, OK
        body, kind = read_declarations(given.file)
        query = {name: getattr(given, name) for name in OPTIONS} | {"dry_run": True, "tests": "require" if given.with_tests else None}
        for server in self._servers:
            with server.naming_failures():
                server.plan = server.client.request("PUT", f"{SIDECAR}/apply", query, body, kind).json()
                if given.guard and not given.dry_run:
                    server.begin_count()
            if self._session.format == "table":
                self._session.write(f"{server.name}:\n{declaration_text(server.plan, colours=self._session.colours)}")
            if status := plan_status(server.plan):
                refused = refused or status
                self._session.note(f"{server.name} refuses; nothing was changed on any server")
        return refused

    def _watch(self, server: RolloutServer) -> None:
        """Block until the bake time is over and the guard finds that the server is good.

        If the guard has no verdict when the bake time is over, report that once. Raises Failure if the change of this server or of an
        earlier server is rolled back, or if the guard reaches no verdict in time.
        """
        began, is_reported = time.monotonic(), False
        with Progress() as progress:
            while server.outcome == WAITING:
                for each in self._waiting():
                    with each.naming_failures():
                        each.poll()
                        if each is not server and each.seconds_left < each.seconds / 2:
                            each.extend()
                # The server has no verdict before it has read its statistics for the first time.
                verdict = server.confirmation.get("verdict")
                result = verdict["result"] if verdict else "inconclusive" if self._given.guard else "good"
                spent, why = time.monotonic() - began, "; ".join(verdict["reasons"]) if verdict else ""
                if spent >= self._given.bake and (result == "good" or (server.is_idle and verdict)):
                    return
                if result == "inconclusive" and server.seconds_left <= 2 * PAUSE:
                    raise Failure(f"{server.name}: the guard has no verdict yet: {why}", PENDING)
                if spent >= self._given.bake and verdict and result == "inconclusive" and not is_reported:
                    is_reported = True
                    self._session.note(f"{server.name}: the guard has no verdict yet: {why}; waiting at most {server.seconds_left:.0f} s")
                    if "errors" in self._given.guard:
                        self._session.note(NO_REQUESTS)
                progress.show(f"{server.name}: {result} {why}, {spent:.0f} s")
                time.sleep(PAUSE)

    def _roll_back(self) -> None:
        """Roll back all changes that wait for their confirmation.

        Report the servers that do not answer, and those whose change is confirmed already.
        """
        for server in reversed(self._waiting()):
            with suppress(Failure):
                server.roll_back()
        for server in self._servers:
            if server.outcome == UNKNOWN:
                self._session.note(
                    f"{server.name}: unknown, because it does not answer; its change is rolled back within {server.seconds:g} s"
                )
            elif server.outcome == CONFIRMED:
                self._session.note(f"{server.name}: confirmed, and keeps the change")
