"""`FleetNode`: the state of one node on disk. It checks, applies, watches and rolls back the bundle of a release.

`release.decide` chooses the action. Only FleetNode writes the state, to its table in the database of the engine. In its stage, a node makes
the change under a confirmation with the guard of the release, and confirms the change at the end of the bake. None of this needs the store,
so an outage of the store never rolls back a good change. Each step is on disk before the next step begins:

    step                                   if the server is killed after the step, its next start
    1  open a confirmation                 ends the confirmation, which has no change, and applies the release
    2  become BAKING, with its id          finds no change under the confirmation, and applies the release
    3  write the configuration             finishes or undoes the commit from the journal of the history, as after any kill
    4  commit                              begins the bake again, as the clock of a bake is not on disk
    5  confirm at the end of the bake      finds that the change is confirmed, and becomes GOOD
    6  become GOOD or BAD                  reports it

The deadline of the confirmation is the bake and the deadline of the stage together. It rolls the change back if no server starts in time,
or if the guard has no verdict until then. The node is then BAD. An action that fails temporarily makes the node WAITING, and the next turn
tries again.
"""

import json
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from haproxy_native.disk.database import State, Tables
from haproxy_native.engine import Engine
from haproxy_native.errors import (
    ChangedSince,
    CheckImpossible,
    Conflict,
    NativeError,
    NotFound,
    Refused,
    RuntimeAbsent,
    Unusable,
    WriteFailed,
)
from haproxy_native.features.confirmations.confirmations import Confirmations
from haproxy_native.features.confirmations.guard import GOOD as VERDICT_GOOD
from haproxy_native.features.confirmations.guard import Guard, WorkerStatistics
from haproxy_native.features.confirmations.ledger import CONFIRMED, PENDING
from haproxy_native.features.fleet import release as machine
from haproxy_native.features.fleet.bundle import BundleReader
from haproxy_native.features.fleet.group import FleetGroup
from haproxy_native.features.fleet.release import BAD, BAKING, CHECKED, GOOD, REFUSED, WAITING, Head, NodeState, Release
from haproxy_native.request_context import Author
from haproxy_native.threads import run_in_thread

log = logging.getLogger(__name__)
# Temporary errors: the node tries again until the deadline of its stage.
PASSING = (CheckImpossible, WriteFailed, Unusable, Conflict, ChangedSince, RuntimeAbsent)
CAUSE = "release"
Statistics = Callable[[], Awaitable[WorkerStatistics]]
Notify = Callable[[str, NodeState], None]


class FleetNode:
    """One node: its state, and its actions on releases. `statistics` reads the counters of the worker in service.

    Once a new state is on disk, `notify` is called with the state and each event that `release.events_between` returns.
    """

    def __init__(
        self, engine: Engine, bundles: BundleReader, confirmations: Confirmations, group: FleetGroup, statistics: Statistics, notify: Notify
    ) -> None:
        engine.database.declare(Tables("fleet", "CREATE TABLE fleet (data TEXT NOT NULL)"))
        self.state, self.bundles = NodeState(), bundles
        self._engine, self._confirmations, self._group, self._statistics, self._notify = engine, confirmations, group, statistics, notify
        # When the bake ends, by the monotonic clock; None if it has not begun in this process.
        self._bake_end: float | None = None
        # The last count of requests: the time by the monotonic clock, the name of the worker, and the number; None if it failed.
        self._counted: tuple[float, str, int] | None = None
        # The bundle that was fetched last, until nothing more is to be done for its release.
        self._fetched: tuple[Release, bytes] | None = None
        # Whether this node had too few requests for a verdict before it applied the release.
        self._is_idle = False

    async def read_state(self) -> None:
        """Read the state that the last process has stored. Raises Unusable."""

        def read_row(database: State) -> NodeState:
            row = database.execute("SELECT data FROM fleet").fetchone()
            return NodeState.of(json.loads(row[0])) if row else NodeState()

        self.state = await self._engine.database.run(read_row)

    async def store_state(self, state: NodeState) -> None:
        """Store the state on disk and in memory, if it has changed. Raises Unusable."""
        if state == self.state:
            return

        def write_row(database: State) -> None:
            with database.transaction():
                database.execute("DELETE FROM fleet")
                database.execute("INSERT INTO fleet VALUES (?)", (json.dumps(state.as_dict()),))

        await self._engine.database.store(write_row)
        if state.report != self.state.report:
            log.info("release %d of the fleet: %s %s", state.report.number, state.report.phase, state.report.reason)
        former, self.state = self.state, state
        for event in machine.events_between(former, state):
            self._notify(event, state)

    async def _become(self, phase: str, reason: str = "", confirmation: str = "") -> None:
        await self.store_state(self.state.become(phase, reason[:1000], confirmation))

    async def join(self, head: Head, name: str) -> None:
        """Follow a head that is DONE and apply its bundle. The head that the node has followed before, and its bundle, do not matter."""
        if self.state.confirmation:
            await self.roll_back("this node has joined again")
        digest = (await self.bundles.read()).digest
        state, action = machine.decide(head, NodeState(head, applied=digest), name, digest)
        await self.store_state(state)
        await self.act(head, action)

    async def act(self, head: Head, action: str) -> None:
        """Check or apply the release of a head. After a temporary error, the next turn tries again. Raises Unusable."""
        release = head.release
        if action == machine.NOTHING:
            if self.state.phase != CHECKED:
                self._fetched = None
            return
        if self._fetched is None or self._fetched[0] != release:
            self._fetched = release, await self._group.fetch(release)
        data, cause = self._fetched[1], f"{CAUSE}/{release.number}"
        by = Author(release.author or "fleet", request_id=cause.replace("/", "-"), message=release.message, cause=cause, is_urgent=True)
        try:
            if release.files != self.bundles.kinds:
                text = f"the release has the stored files {release.files or 'none'}, and this node releases {self.bundles.kinds or 'none'}"
                raise Refused(f"{text}; the setting fleet.files must be the same on all nodes")
            # If somebody has edited the bundle after `decide` has seen it, the commit raises.
            change = await run_in_thread(self.bundles.change, data, by)
            if action == machine.CHECK:
                if not change.files and change.text:
                    await self._engine.validate(change.text.text.data, author=by)
                elif not (preview := await self._engine.plan(change)).valid:
                    raise Refused("; ".join(map(str, preview.messages)))
                await self._count_requests()
                await self._become(CHECKED)
                return
            if action == machine.CATCH_UP:
                await self._engine.commit(change)
                await self._become(GOOD)
                return
            self._is_idle = await self._has_few_requests(head)
            guard = Guard(**head.guard) if head.guard else None
            async with self._confirmations.open_confirmation(by, head.bake + head.deadline, guard) as confirming:
                await self._become(BAKING, confirmation=confirming.confirmation)
                await self._engine.commit(replace(change, author=confirming))
            self._bake_end = time.monotonic() + head.bake
        except PASSING as error:
            await self._become(WAITING, str(error))
        except NativeError as error:
            await self._become(REFUSED, str(error))

    async def watch_change(self) -> None:
        """Check the change that waits for its confirmation, and confirm it at the end of the bake."""
        state, head = self.state, self.state.head
        if not state.confirmation or head is None:
            self._bake_end = None
            return
        has_bundle = (await self.bundles.read()).digest == head.release.bundle
        try:
            confirmation = self._confirmations.get(state.confirmation)
        except NotFound:
            await self._become(BAD, "its confirmation is gone")
            return
        verdict = confirmation.verdict or {}
        reasons = verdict.get("reasons", ())
        if confirmation.status == CONFIRMED:
            await self._become(GOOD)
        elif confirmation.is_over:
            await self._become(BAD, "; ".join(filter(None, (*reasons, confirmation.error))) or "the change was rolled back on this node")
        elif confirmation.status != PENDING or (confirmation.deadline or 0.0) <= time.time():
            # The change is being rolled back.
            return
        elif not has_bundle and not await self._confirmations.entries(confirmation.id):
            # This server was killed before it had changed anything.
            await self.roll_back("")
            await self._become(WAITING)
        elif not has_bundle:
            await self.roll_back(machine.EDITED)
        else:
            self._bake_end = self._bake_end or time.monotonic() + head.bake
            if time.monotonic() < self._bake_end:
                return
            result = verdict.get("result")
            if confirmation.guard is None or result == VERDICT_GOOD or (self._is_idle and result is not None):
                with suppress(Conflict):
                    await self._confirmations.confirm(confirmation.id, Author(confirmation.author))
                    await self._become(GOOD)
            elif not state.reason:
                await self._become(BAKING, "; ".join(reasons), state.confirmation)

    async def roll_back(self, why: str) -> None:
        """Roll back the change that waits for its confirmation, and become BAD with this reason."""
        with suppress(Conflict, NotFound):
            await self._confirmations.roll_back(self.state.confirmation, Author("fleet"))
        self._bake_end = None
        await self._become(BAD, why)

    async def _count_requests(self) -> None:
        """Store the present number of requests in `_counted`; None if HAProxy does not answer."""
        self._counted = None
        with suppress(NativeError):
            statistics = await self._statistics()
            total = sum(count.requests for (kind, _), count in statistics.counts.items() if kind == "frontends")
            self._counted = time.monotonic(), statistics.worker, total

    async def _has_few_requests(self, head: Head) -> bool:
        """Return True if this node had fewer requests per minute than a verdict needs, from its check of the release until this call.

        Return False if that is unknown.
        """
        before = self._counted
        await self._count_requests()
        if not head.guard or before is None or self._counted is None or before[1] != self._counted[1]:
            return False
        least = int(head.guard.get("min_requests", 50))
        return (self._counted[2] - before[2]) * 60 / max(1.0, self._counted[0] - before[0]) < least
