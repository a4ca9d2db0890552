"""`FleetNode`: the state of one node on disk. It checks, applies, watches and rolls back the bundle of a release.

`release.decide` chooses the action. FleetNode alone writes the state, to its table in the database of the engine. In its stage, a node
makes the change under a confirmation with the guard of the release, and confirms it at the end of the bake. None of this needs the store,
so an outage of the store never rolls back a good change. Each step is on disk before the next one begins:

    step                                   if the server is killed after it, the next one
    1  open a confirmation                 ends the confirmation, which has no change, and applies the release
    2  become BAKING, with its id          finds no change under the confirmation, and applies the release
    3  write the configuration             finishes or undoes the commit from the journal of the history, as after any kill
    4  commit                              begins the bake again, as the clock of a bake is not on disk
    5  confirm at the end of the bake      finds that the change is confirmed, and becomes GOOD
    6  become GOOD or BAD                  reports it

The deadline of the confirmation, bake and deadline of the stage together, rolls the change back if no server starts in time or if the guard
never has a verdict. Then the node is BAD. An action that fails temporarily makes the node WAITING, and the next turn tries again.
"""

import json
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

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
from haproxy_native.features.fleet.release import BAD, BAKING, CHECKED, GOOD, REFUSED, WAITING, Head, NodeState
from haproxy_native.request_context import Author

log = logging.getLogger(__name__)
# Temporary errors: the node tries again until the deadline of its stage.
PASSING = (CheckImpossible, WriteFailed, Unusable, Conflict, ChangedSince, RuntimeAbsent)
CAUSE = "release"
Statistics = Callable[[], Awaitable[WorkerStatistics]]
Notify = Callable[[str, NodeState], None]


class FleetNode:
    """One node: its state, and what it does with releases. `statistics` reads the counters of the worker in service.

    `notify` is called with each thing that `release.happened` returns, and the new state, when that is on disk.
    """

    def __init__(
        self, engine: Engine, bundles: BundleReader, confirmations: Confirmations, group: FleetGroup, statistics: Statistics, notify: Notify
    ) -> None:
        engine.database.declare(Tables("fleet", "CREATE TABLE fleet (data TEXT NOT NULL)"))
        self.state, self.bundles = NodeState(), bundles
        self._engine, self._confirmations, self._group, self._statistics, self._notify = engine, confirmations, group, statistics, notify
        # When the bake ends, by the monotonic clock; None if it has not begun in this process.
        self._bake_end: float | None = None
        # The last count of requests: when, by which worker, and how many.
        self._counted: tuple[float, str, int] | None = None
        self._is_idle = False

    async def read_state(self) -> None:
        """Read the state that the last process has stored. Raises Unusable."""
        self.state = await self._engine.database.run(_read)

    async def store_state(self, state: NodeState) -> None:
        """Store the state on disk and in memory, if it has changed. Raises Unusable."""
        if state != self.state:
            await self._engine.database.store(partial(_store, state))
            if state.report != self.state.report:
                log.info("release %d of the fleet: %s %s", state.report.number, state.report.phase, state.report.reason)
            former, self.state = self.state, state
            for change in machine.happened(former, state):
                self._notify(change, state)

    async def _become(self, phase: str, reason: str = "", confirmation: str = "") -> None:
        await self.store_state(self.state.become(phase, reason[:1000], confirmation))

    async def join(self, head: Head, name: str) -> None:
        """Follow a head that is DONE and apply its bundle, whatever this node has followed before and whatever bundle it has."""
        if self.state.confirmation:
            await self.roll_back("this node has joined again")
        digest = (await self.bundles.read()).digest
        state, action = machine.decide(head, NodeState(head, applied=digest), name, digest)
        await self.store_state(state)
        await self.act(head, action)

    async def act(self, head: Head, action: str) -> None:
        """Check or apply the release of a head. After a temporary error, the next turn tries again. Raises Unusable."""
        if action == machine.NOTHING:
            return
        release = head.release
        data, cause = await self._group.fetch(release), f"{CAUSE}/{release.number}"
        by = Author(release.author or "fleet", request_id=cause.replace("/", "-"), message=release.message, cause=cause, is_urgent=True)
        try:
            if release.files != self.bundles.kinds:
                text = f"the release has the stored files {release.files or 'none'}, and this node releases {self.bundles.kinds or 'none'}"
                raise Refused(f"{text}; the setting fleet.files must be the same on all nodes")
            # Somebody may have edited something since `decide` has seen it; then the commit raises.
            change = await self.bundles.change(data, by)
            if action == machine.CHECK:
                if not change.files and change.text:
                    await self._engine.validate(change.text.text.data, author=by)
                elif not (found := await self._engine.plan(change)).valid:
                    raise Refused("; ".join(map(str, found.messages)))
                await self._count()
                await self._become(CHECKED)
                return
            if action == machine.CATCH_UP:
                await self._engine.commit(change)
                await self._become(GOOD)
                return
            self._is_idle = await self._has_few_requests(head)
            guard = Guard(**head.guard) if head.guard else None
            async with self._confirmations.opened(by, head.bake + head.deadline, guard) as confirming:
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
            found = self._confirmations.get(state.confirmation)
        except NotFound:
            await self._become(BAD, "its confirmation is gone")
            return
        verdict, reasons = (found.verdict or {}).get("result"), (found.verdict or {}).get("reasons", ())
        if found.status == CONFIRMED:
            await self._become(GOOD)
        elif found.is_over:
            await self._become(BAD, "; ".join(filter(None, (*reasons, found.error))) or "the change was rolled back on this node")
        elif found.status != PENDING or (found.deadline or 0.0) <= time.time():
            # The change is being rolled back.
            return
        elif not has_bundle and not await self._confirmations.entries(found.id):
            # This server was killed before it had changed anything.
            await self.roll_back("")
            await self._become(WAITING)
        elif not has_bundle:
            await self.roll_back(machine.EDITED)
        else:
            self._bake_end = self._bake_end or time.monotonic() + head.bake
            if time.monotonic() < self._bake_end:
                return
            if found.guard is None or verdict == VERDICT_GOOD or (self._is_idle and verdict is not None):
                with suppress(Conflict):
                    await self._confirmations.confirm(found.id, Author(found.author))
                    await self._become(GOOD)
            elif not state.reason:
                await self._become(BAKING, "; ".join(reasons), state.confirmation)

    async def roll_back(self, why: str) -> None:
        """Roll back the change that waits for its confirmation, and become BAD with this reason."""
        with suppress(Conflict, NotFound):
            await self._confirmations.roll_back(self.state.confirmation, Author("fleet"))
        self._bake_end = None
        await self._become(BAD, why)

    async def _count(self) -> None:
        """Count requests, so that it is known later whether this node has traffic."""
        self._counted = None
        with suppress(NativeError):
            found = await self._statistics()
            total = sum(count.requests for (kind, _), count in found.counts.items() if kind == "frontends")
            self._counted = time.monotonic(), found.worker, total

    async def _has_few_requests(self, head: Head) -> bool:
        """Return whether this node had too few requests per minute for a verdict, since it checked the release; False if unknown."""
        before = self._counted
        await self._count()
        if not head.guard or before is None or self._counted is None or before[1] != self._counted[1]:
            return False
        least = int(head.guard.get("min_requests", 50))
        return (self._counted[2] - before[2]) * 60 / max(1.0, self._counted[0] - before[0]) < least


def _read(state: State) -> NodeState:
    row = state.execute("SELECT data FROM fleet").fetchone()
    return NodeState.of(json.loads(row[0])) if row else NodeState()


def _store(node: NodeState, state: State) -> None:
    with state.transaction():
        state.execute("DELETE FROM fleet")
        state.execute("INSERT INTO fleet VALUES (?)", (json.dumps(node.as_dict()),))
