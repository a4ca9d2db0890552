"""`FleetMember`: one server as a member of its fleet. Its loop reads the head, lets the node act, reports, and computes the next head.

While the context is active, three background tasks run. They own the state that is in memory only:

- *The loop* takes a turn at least every READ_SECONDS. Notifications of the store and changes of the configuration begin a turn at once.
  Each turn reads the head, so a lost notification only costs time. The loop owns `store_state`, what the metrics show, and the time when
  the present gate was first seen.
- *The listener* waits for notifications of the store.
- *The presence* is a key that disappears 15 seconds after its last renewal. A node without a presence takes no turn, so of two processes
  with the same name only one takes part.

`at_rest` lets people's requests (`requests`) wait for the end of a turn. State that must survive a kill is in `FleetNode` or in the store.
A turn that a kill has interrupted is repeated after the next start, as soon as the former presence has ended.

There is no leader: each node computes the next head from the reports, and the store accepts the first one that it receives. This needs no
election, and a node that dies or acts on an old head does no harm.
"""

import asyncio
import logging
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from haproxy_native.background import Background
from haproxy_native.changes.operations import SetRuntime
from haproxy_native.commit.change import Change
from haproxy_native.commit.ports import Observer
from haproxy_native.engine import Engine
from haproxy_native.errors import NativeError, Unusable
from haproxy_native.features.fleet import release as machine
from haproxy_native.features.fleet.bundle import Bundle
from haproxy_native.features.fleet.differences import compare_own
from haproxy_native.features.fleet.group import FleetConflict, FleetGroup, new_id
from haproxy_native.features.fleet.node import CAUSE, FleetNode
from haproxy_native.features.fleet.release import DONE, WAITING, Head, Report
from haproxy_native.features.fleet.store import Presence, StoreAway

log = logging.getLogger(__name__)
# The longest time between two reads of the head, in seconds: in general, and while a release is rolling.
READ_SECONDS, ROLLING_SECONDS = 15.0, 1.0
# The time between two renewals of the presence.
RENEW_SECONDS = 5.0
# The time before another try while the store does not answer, on average, so that a node catches up soon after the store answers again.
RETRY_SECONDS = 1.0


@dataclass(frozen=True)
class StoreState:
    """Whether the store answers."""

    # Why the store does not answer; empty if it does.
    error: str = ""
    # When the store began or ceased to answer, as Unix time.
    since: float = 0.0


@dataclass(frozen=True)
class StoredDrift:
    """What the store has about how this node differs from its group: the key of a release, and the digest of the bundle of the node."""

    release: tuple[int, str]
    bundle: str


# The store has no difference.
NO_DRIFT = StoredDrift((0, ""), "")


class FleetMember(Observer):
    """The node `name` of a group. While the context is active, the node takes part, and refuses changes that it cannot release.

    `refuses_local` is whether changes of the configuration are refused while the store does not answer or this node holds.
    """

    def __init__(self, engine: Engine, group: FleetGroup, node: FleetNode, name: str, *, refuses_local: bool) -> None:
        self.group, self.node, self.name, self.store_state = group, node, name, StoreState(since=time.time())
        self._engine, self._refuses_local, self._boot = engine, refuses_local, os.urandom(8).hex()
        self._works, self._wake, self._lock = Background("the fleet"), asyncio.Event(), asyncio.Lock()
        self._presence: Presence | None = None
        # Whether another process has this node's name.
        self._is_name_used = False
        # The report that the store has; None if that is unknown.
        self._sent: dict[str, Any] | None = None
        # The difference that the store has; None if that is unknown.
        self._drift: StoredDrift | None = None
        # As of the last turn: the head in the store, the number of nodes that reported each phase, present or not, and the digest of this
        # node's bundle.
        self._head: Head | None = None
        self.phases: Mapping[str, int] = {}
        self._bundle = ""
        # The present gate, and when it was first seen, by the monotonic clock.
        self._gate: tuple[Any, float] = (None, 0.0)

    async def __aenter__(self) -> Self:
        await self.node.read_state()
        self._engine.context.observers.append(self)
        for work in (self._keep_present(), self._listen(), self._run()):
            self._works.begin(work)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._works.stop()
        if self._presence:
            with suppress(Unusable):
                await self._presence.leave()
        await self.group.close()
        self._engine.context.observers.remove(self)

    def admit(self, change: Change) -> None:
        """Raise StoreAway or FleetConflict for a client's change of the configuration while this node cannot release the change."""
        by, state = change.author, self.node.state
        is_ours = not by.request_id or by.cause.startswith(f"{CAUSE}/") or isinstance(change.sole_operation, SetRuntime)
        if not self._refuses_local or is_ours or state.head is None:
            return
        if error := self.store_state.error:
            since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.store_state.since))
            text = f"the store of the fleet has not answered since {since}: {error}"
            raise StoreAway(f"{text}; the setting local_changes: drift accepts changes nevertheless")
        if state.held and state.held == state.kept:
            raise FleetConflict(f"this node is {state.kept}; have it follow again, or set local_changes: drift")
        if state.held:
            raise FleetConflict(f"this node holds: {state.held}; adopt the release of the store, or the configuration of this node")

    @property
    def has_drifted(self) -> bool:
        """Whether the configuration is neither what this node got from the fleet last, nor that of the release that it follows."""
        state = self.node.state
        return state.head is not None and self._bundle not in ("", state.applied, state.head.release.bundle)

    @property
    def behind_seconds(self) -> float:
        """Seconds since the newest completed release was made, by the clock of its node; 0 if this node has that release or a newer one."""
        if (head := self._head or self.node.state.head) is None:
            return 0.0
        newest = head.release if head.state == DONE else head.settled
        has_it = self.node.state.applied in (newest.bundle, head.release.bundle)
        return 0.0 if has_it else max(0.0, time.time() - newest.made)

    def wake(self) -> None:
        """Begin the next turn at once."""
        self._wake.set()

    @asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """Run the body between two turns of the loop, then begin the next turn."""
        async with self._lock:
            yield
        self.wake()

    # -- the background tasks

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            try:
                async with self._lock:
                    await self._turn()
                self._set_store_state("")
            except NativeError as error:
                self._set_store_state(str(error))
            except Exception as error:
                self._set_store_state(f"unexpected failure: {type(error).__name__}")
                log.exception("a turn of the fleet failed")
            state = self.node.state
            is_rolling = state.head is not None and state.head.state != DONE
            with suppress(TimeoutError):
                async with asyncio.timeout(ROLLING_SECONDS if state.confirmation or is_rolling or state.phase == WAITING else READ_SECONDS):
                    await self._wake.wait()

    def _set_store_state(self, error: str) -> None:
        if error != self.store_state.error:
            has_changed = bool(error) != bool(self.store_state.error)
            self.store_state = StoreState(error, time.time()) if has_changed else replace(self.store_state, error=error)
            log.log(logging.WARNING if error else logging.INFO, "the store of the fleet: %s", error or "it answers")

    async def _listen(self) -> None:
        while True:
            with suppress(Unusable):
                async for _ in self.group.changes():
                    self.wake()
            await asyncio.sleep(_retry_seconds())

    async def _keep_present(self) -> None:
        """Renew the presence of this node until cancelled. Only one process may be present with the name of the node."""
        while True:
            pause = RENEW_SECONDS
            try:
                if self._presence is None or not await self._presence.renew():
                    self._presence = await self.group.enter(self.name, self._boot)
                    self._is_name_used = self._presence is None
                    self.wake()
                elif self.store_state.error:
                    # The store answers again.
                    self.wake()
            except Unusable as error:
                pause = _retry_seconds()
                self._set_store_state(str(error))
            await asyncio.sleep(pause)

    # -- one turn

    async def _turn(self) -> None:
        """Take one step for this node, report its state, and take one step for the group. Raises Unusable."""
        node = self.node
        await node.watch_change()
        self._bundle = (await node.bundles.read()).digest
        head, version = await self.group.head()
        self._head = head
        if self._presence is None:
            if not self._is_name_used:
                return
            raise StoreAway(f"another node is present as {self.name}, or this one was killed some seconds ago; names must differ")
        state, action = machine.decide(head, node.state, self.name, self._bundle)
        await node.store_state(state)
        if action == machine.ABANDON:
            await node.roll_back(f"release {state.report.number} was rolled back")
            self.wake()
        elif head:
            await node.act(head, action)
        own = await node.bundles.read()
        self._bundle = own.digest
        if (to_send := asdict(node.state.report) | {"bundle": own.digest}) != self._sent:
            await self.group.write_report(self.name, node.state.report, own.digest)
            self._sent = to_send
        reports = await self.group.reports()
        self.phases = Counter(each["phase"] for each in reports.values())
        if reports.get(self.name) != self._sent:
            # The store was restored or wiped.
            self._sent = self._drift = None
        if head and head.state != DONE and not machine.hold_reason(head, node.state):
            await self._advance_release(head, version, reports)
        if head:
            await self._store_drift(head, own)

    async def _store_drift(self, head: Head, own: Bundle) -> None:
        """Store how the bundle of this node differs from the release; delete the stored difference if a release has the bundle."""
        is_released = any(each.bundle == own.digest for each in head.chain)
        drift = NO_DRIFT if is_released else StoredDrift(head.release.key, own.digest)
        if drift == self._drift:
            return
        if drift != NO_DRIFT:
            found = await compare_own(self.group, head.release, own, self.node.bundles.kinds, self.name)
            await self.group.write_drift(self.name, own.digest, asdict(found))
        else:
            await self.group.delete_drift(self.name)
        self._drift = drift

    async def _advance_release(self, head: Head, version: str | None, stored: Mapping[str, Mapping[str, Any]]) -> None:
        """Open the next gate, or end or revert the release, if that is due and no other node does it first."""
        gate, now = (head.release.id, head.gate, head.state), time.monotonic()
        if self._gate[0] != gate:
            self._gate = gate, now
        reports = {name: Report(each["number"], each["id"], each["phase"], each["reason"]) for name, each in stored.items()}
        if next_head := machine.advance(head, reports, now - self._gate[1], new_id(), time.time()):
            with suppress(FleetConflict):
                await self.group.swap(next_head, version, head)
            self.wake()


def _retry_seconds() -> float:
    """Return the time before another try. It is random, so that the nodes do not call the store all at once."""
    return RETRY_SECONDS * random.uniform(0.5, 1.5)
