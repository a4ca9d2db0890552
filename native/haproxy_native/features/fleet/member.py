"""`FleetMember`: one node of a fleet. It reads the head of the group, does what `release.decide` says, reports, and helps to lead.

Each turn of its loop reads the head. Turns are at most READ_SECONDS apart; notifications of the store and changes of the configuration
begin the next turn sooner. All writes to the store are made here. Everything that a node must not forget is on disk before it acts.

In its stage, a node commits the text of the release as a change with a confirmation, watches it with the guard of the release, and confirms
it at the end of the bake. This needs no store, so an outage of the store never rolls back a good change. If this process is killed during
a bake, the next one starts the bake again.
"""

import asyncio
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, Self

from haproxy_native.background import Background
from haproxy_native.changes.expect import ExpectedText
from haproxy_native.changes.operations import PutText, SetRuntime, text_as_sent
from haproxy_native.commit.change import Change
from haproxy_native.commit.ports import Observer
from haproxy_native.disk.database import State, Tables
from haproxy_native.editing import header
from haproxy_native.engine import Engine
from haproxy_native.errors import (
    BadRequest,
    ChangedSince,
    CheckImpossible,
    Conflict,
    NativeError,
    NoConfirmation,
    NotFound,
    RuntimeAbsent,
    Unusable,
    WriteFailed,
)
from haproxy_native.features.confirmations.confirmations import Confirmations
from haproxy_native.features.confirmations.guard import GOOD as VERDICT_GOOD
from haproxy_native.features.confirmations.guard import Guard, WorkerStatistics
from haproxy_native.features.confirmations.ledger import CONFIRMED, PENDING
from haproxy_native.features.fleet import release as machine
from haproxy_native.features.fleet.release import (
    BAD,
    BAKING,
    CHECKED,
    DONE,
    GOOD,
    HELD,
    PAUSED,
    REFUSED,
    ROLLING,
    WAITING,
    Head,
    NodeState,
    Release,
    Report,
)
from haproxy_native.features.fleet.sealing import Keyring
from haproxy_native.features.fleet.store import GroupStore, Presence, StoreAway
from haproxy_native.request_context import Author
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread

log = logging.getLogger(__name__)
HEAD = "head"
# The longest time between two reads of the head, in seconds: in general, and while a release is rolling.
READ_SECONDS, ROLLING_SECONDS = 15.0, 1.0
# A presence ends after PRESENT_SECONDS without a renewal.
PRESENT_SECONDS, RENEW_SECONDS = 15, 5.0
PIECE = 256 << 10
# Temporary errors: the node tries again until the deadline of its stage.
PASSING = (CheckImpossible, WriteFailed, Unusable, Conflict, ChangedSince, RuntimeAbsent)
CAUSE = "release"
Statistics = Callable[[], Awaitable[WorkerStatistics]]


class FleetConflict(Conflict):
    """`detail` is the complete message."""

    label = ""


@dataclass(frozen=True)
class Proposal:
    """A person's request for a release."""

    message: str = ""
    stages: Sequence[int | str] = machine.STAGES
    guard: Guard | None = None
    # Seconds.
    bake: float = 60.0
    deadline: float = 600.0
    force: bool = False
    dry_run: bool = False
    # The number of a former release whose text is released again; 0 for the text of this node.
    former: int = 0


@dataclass(frozen=True)
class StoreState:
    """Whether the store answers."""

    error: str = ""
    # When it began or ceased to answer, as Unix time.
    since: float = 0.0


class FleetMember(Observer):
    """One node of a group. While the context is active, it takes part."""

    def __init__(
        self,
        engine: Engine,
        confirmations: Confirmations,
        store: GroupStore,
        keyring: Keyring,
        path: str,
        name: str,
        statistics: Statistics,
        *,
        refuses_local: bool,
    ) -> None:
        """`path` is the path of the group in the store, without a slash at its end.

        `refuses_local`: whether changes of the configuration are refused while this node cannot release them.
        """
        engine.database.declare(Tables("fleet", "CREATE TABLE fleet (data TEXT NOT NULL)"))
        self.name, self.store_state = name, StoreState(since=time.time())
        self._engine, self._confirmations, self._store, self._keyring = engine, confirmations, store, keyring
        self._path, self._statistics, self._refuses_local = path, statistics, refuses_local
        self._boot = os.urandom(8).hex()
        self._node, self._works, self._wake = NodeState(), Background("the fleet"), asyncio.Event()
        self._presence: Presence | None = None
        # Whether another process has this node's name.
        self._is_taken = False
        self._lock = asyncio.Lock()
        # The report that the store has.
        self._sent: dict[str, Any] | None = None
        # The last document of this node, its text without header, and the SHA-256 of that text.
        self._text: tuple[Document | None, bytes, str] = (None, b"", "")
        # The last gate that was seen, and when it was first seen, by the monotonic clock.
        self._gate: tuple[Any, float] = (None, 0.0)
        # When the bake ends, by the same clock; None if it has not begun in this process.
        self._baked: float | None = None
        # The last count of requests: when, by which worker, and how many.
        self._counted: tuple[float, str, int] | None = None
        self._is_idle = False

    async def __aenter__(self) -> Self:
        self._node = await self._engine.database.run(_read)
        self._engine.context.observers.add(self)
        self._works.begin(self._stay())
        self._works.begin(self._listen())
        self._works.begin(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._engine.context.observers.remove(self)
        await self._works.stop()
        if self._presence:
            with suppress(Unusable):
                await self._presence.leave()
        await self._store.close()

    @property
    def node(self) -> NodeState:
        """Return the stored state of this node, from which it reports."""
        return self._node

    def admit(self, change: Change) -> None:
        """Refuse a client's change of the configuration while this node cannot release it. Raises StoreAway and FleetConflict."""
        by = change.author
        is_ours = not by.request_id or by.cause.startswith(f"{CAUSE}/") or isinstance(change.sole_operation, SetRuntime)
        if not self._refuses_local or is_ours or self._node.head is None:
            return
        if error := self.store_state.error:
            since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.store_state.since))
            text = f"the store of the fleet has not answered since {since}: {error}"
            raise StoreAway(f"{text}; with the setting local_changes: drift, changes are made nevertheless")
        if why := self._node.held:
            raise FleetConflict(f"this node holds: {why}; adopt the side that is right")

    def wake(self) -> None:
        """Begin the next turn at once."""
        self._wake.set()

    # -- the store, opened

    async def _get(self, key: str) -> tuple[Any, str | None]:
        """Return the value of a key and its version; None for both if the key is missing. Raises Unusable."""
        place = f"{self._path}/{key}"
        entry = await self._store.read(place)
        return (json.loads(self._keyring.open(place, entry.value)), entry.version) if entry else (None, None)

    async def _all(self, prefix: str) -> dict[str, Any]:
        """Return the values of all keys with a prefix, by the rest of the key."""
        entries = await self._store.list(f"{self._path}/{prefix}")
        return {
            entry.key.removeprefix(f"{self._path}/{prefix}"): json.loads(self._keyring.open(entry.key, entry.value)) for entry in entries
        }

    def _sealed(self, key: str, value: Any) -> tuple[str, bytes]:
        place = f"{self._path}/{key}"
        return place, self._keyring.seal(place, json.dumps(value).encode())

    async def head(self) -> tuple[Head | None, str | None]:
        """Return the head of the group that a majority of the store has, and its version. Raises Unusable."""
        members, version = await self._get(HEAD)
        return (Head.of(members), version) if members else (None, None)

    async def reports(self) -> dict[str, dict[str, Any]]:
        """Return the reports of the nodes, by name. Raises Unusable."""
        return await self._all("node/")

    async def present(self) -> set[str]:
        """Return the names of the nodes that are present. Raises Unusable."""
        return {entry.key.rpartition("/")[2] for entry in await self._store.list(f"{self._path}/alive/")}

    async def _swap(self, head: Head, version: str | None, former: Head | None) -> None:
        """Replace the former head if it still has this version; without a version, create the first head. Delete texts no longer needed.

        Raises FleetConflict if another node was first.
        """
        place, sealed = self._sealed(HEAD, head.as_dict())
        made = await (self._store.replace(place, sealed, version) if version else self._store.create(place, sealed))
        if made is None:
            raise FleetConflict("another node has changed the release meanwhile; look at the fleet and try again")
        kept = {each.object for each in (head.settled, *head.chain)}
        for release in former.chain if former else ():
            if release.object not in kept:
                for index in range(release.pieces):
                    with suppress(Unusable):
                        await self._store.delete(f"{self._path}/object/{release.object}/{index}")

    # -- the loop

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            try:
                async with self._lock:
                    await self._turn()
                self._store_is("")
            except NativeError as error:
                self._store_is(str(error))
            except Exception as error:
                self._store_is(f"unexpected failure: {type(error).__name__}")
                log.exception("a turn of the fleet failed")
            head = self._node.head
            is_quiet = head is None or head.state == DONE
            is_busy = self._node.confirmation or not is_quiet or self._node.phase == WAITING
            with suppress(TimeoutError):
                async with asyncio.timeout(ROLLING_SECONDS if is_busy else READ_SECONDS):
                    await self._wake.wait()

    def _store_is(self, error: str) -> None:
        if error != self.store_state.error:
            if bool(error) != bool(self.store_state.error) or not self.store_state.since:
                self.store_state = StoreState(error, time.time())
            else:
                self.store_state = replace(self.store_state, error=error)
            log.log(logging.WARNING if error else logging.INFO, "the store of the fleet: %s", error or "it answers")

    async def _listen(self) -> None:
        while True:
            with suppress(Unusable):
                async for _ in self._store.changes(f"{self._path}/{HEAD}"):
                    self.wake()
            await asyncio.sleep(RENEW_SECONDS)

    async def _stay(self) -> None:
        """Keep the presence of this node alive. Only one process may be present with its name."""
        while True:
            try:
                if self._presence is None or not await self._presence.renew():
                    self._presence = await self._store.present(*self._sealed(f"alive/{self.name}", {"boot": self._boot}), PRESENT_SECONDS)
                    self._is_taken = self._presence is None
                    self.wake()
            except Unusable as error:
                self._store_is(str(error))
                self.wake()
            await asyncio.sleep(RENEW_SECONDS)

    async def _turn(self) -> None:
        """Take one step for this node, and one step of leading the release. Raises Unusable."""
        await self._watch_change()
        head, version = await self.head()
        if self._presence is None:
            if not self._is_taken:
                return
            raise StoreAway(f"another node is present as {self.name}, or this one was killed some seconds ago; names must differ")
        node, action = machine.decide(head, self._node, self.name, (await self._own())[1])
        await self._remember(node)
        if action == machine.ABANDON:
            await self._end_change(f"release {self._node.report.number} was rolled back")
            self.wake()
        elif head and action != machine.NOTHING:
            await self._act(head, action)
        await self._report()
        await self._lead(head, version)

    async def _lead(self, head: Head | None, version: str | None) -> None:
        """Open the next gate, end the release or revert it, if it is time. Does nothing if this node cannot follow the head.

        If another node was first, its head is valid.
        """
        if head is None or head.state == DONE or machine.broken(head, self._node):
            return
        at, now = (head.release.id, head.gate, head.state), time.monotonic()
        if self._gate[0] != at:
            self._gate = at, now
        found = await self.reports()
        if found.get(self.name) != self._sent:
            self._sent = None
        reports = {name: Report(each["number"], each["id"], each["phase"], each["reason"]) for name, each in found.items()}
        next_head = machine.advance(head, reports, now - self._gate[1], _new_id(), time.time())
        if next_head:
            with suppress(FleetConflict):
                await self._swap(next_head, version, head)
            self.wake()

    async def _remember(self, node: NodeState) -> None:
        """Store the state of this node on disk and in memory, if it has changed. Raises Unusable."""
        if node != self._node:
            await self._engine.database.store(partial(_store, node))
            if node.report != self._node.report:
                log.info("release %d of the fleet: %s %s", node.report.number, node.report.phase, node.report.reason)
            self._node = node

    async def _become(self, phase: str, reason: str = "", confirmation: str = "") -> None:
        await self._remember(self._node.become(phase, reason[:1000], confirmation))

    async def _report(self) -> None:
        """Write the report of this node to the store, unless the store has it already."""
        report = asdict(self._node.report) | {"bundle": (await self._own())[1]}
        if report != self._sent:
            await self._store.replace(*self._sealed(f"node/{self.name}", report))
            self._sent = report

    # -- this node's configuration

    async def _own(self) -> tuple[bytes, str]:
        """Return the text of the main file without its header, and the SHA-256 of that text."""
        with suppress(NativeError):
            await self._engine.notice()
        document = self._engine.document
        if self._text[0] is not document:
            text = await run_in_thread(_text_of, document)
            self._text = document, text, sha256(text).hexdigest()
        return self._text[1:]

    async def _fetch(self, release: Release) -> bytes:
        """Return the text of a release. Raises Unusable, also if the store no longer has the text."""
        pieces = []
        for index in range(release.pieces):
            place = f"{self._path}/object/{release.object}/{index}"
            if (entry := await self._store.read(place)) is None:
                raise StoreAway(f"the store has no text of release {release.number}")
            pieces.append(self._keyring.open(place, entry.value))
        text = b"".join(pieces)
        if sha256(text).hexdigest() != release.bundle:
            raise StoreAway(f"the text of release {release.number} in the store is another one")
        return text

    async def _act(self, head: Head, action: str) -> None:
        """Check or apply the release of a head. After a temporary error, the next turn tries again. Raises Unusable."""
        document, release = self._text[0], head.release
        assert document
        text, cause = await self._fetch(release), f"{CAUSE}/{release.number}"
        by = Author(release.author or "fleet", request_id=cause.replace("/", "-"), message=release.message, cause=cause, is_urgent=True)
        try:
            if action == machine.CHECK:
                await self._engine.validate(text, author=by)
                await self._count()
                await self._become(CHECKED)
                return
            # Somebody may have edited the text since `decide` has seen it; then the commit raises.
            seen = await run_in_thread(ExpectedText.from_document, document, parts.MAIN)
            change = Change([PutText(parts.MAIN, await run_in_thread(text_as_sent, text))], seen, author=by)
            if action == machine.CATCH_UP:
                await self._engine.commit(change)
                await self._become(GOOD)
                return
            self._is_idle = await self._has_few_requests(head)
            guard = Guard(**head.guard) if head.guard else None
            async with self._confirmations.opened(by, head.bake + head.deadline, guard) as confirming:
                await self._become(BAKING, confirmation=confirming.confirmation)
                await self._engine.commit(replace(change, author=confirming))
            self._baked = time.monotonic() + head.bake
        except PASSING as error:
            await self._become(WAITING, str(error))
        except NativeError as error:
            await self._become(REFUSED, str(error))

    async def _watch_change(self) -> None:
        """Check the change that waits for its confirmation, and confirm it at the end of the bake."""
        node, head = self._node, self._node.head
        if not node.confirmation or head is None:
            self._baked = None
            return
        has_text = (await self._own())[1] == head.release.bundle
        try:
            found = self._confirmations.get(node.confirmation)
        except NoConfirmation:
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
        elif not has_text and not await self._confirmations.entries(found.id):
            # This server was killed before it had changed anything.
            await self._end_change("")
            await self._become(WAITING)
        elif not has_text:
            await self._end_change(machine.EDITED)
        else:
            self._baked = self._baked or time.monotonic() + head.bake
            if time.monotonic() < self._baked:
                return
            if found.guard is None or verdict == VERDICT_GOOD or (self._is_idle and verdict is not None):
                with suppress(Conflict):
                    await self._confirmations.confirm(found.id, Author(found.author))
                    await self._become(GOOD)
            elif not node.reason:
                await self._become(BAKING, "; ".join(reasons), node.confirmation)

    async def _end_change(self, why: str) -> None:
        """Roll back the change that waits for its confirmation, and become BAD with this reason."""
        with suppress(Conflict, NotFound):
            await self._confirmations.roll_back(self._node.confirmation, Author("fleet"))
        self._baked = None
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

    # -- what people ask for

    @asynccontextmanager
    async def _at_rest(self) -> AsyncIterator[None]:
        """Run the body between two turns of the loop, then begin the next turn."""
        async with self._lock:
            yield
        self.wake()

    async def init(self, by: Author) -> Head:
        """Begin a new group, with this node's text as the first release. Raises FleetConflict and Unusable."""
        async with self._at_rest():
            head, _ = await self.head()
            if begun := head or self._node.head:
                raise FleetConflict(f"the group has begun, and has release {begun.release.number}; adopt it to join")
            release = await self._upload(1, by, "")
            made = Head(release, release)
            await self._swap(made, None, None)
            await self._follow(made)
        return made

    async def adopt(self, side: str, by: Author) -> Head:
        """Follow the head in the store, whatever this node has followed before. If `side` is "node", first release this node's text to all.

        Raises FleetConflict and Unusable.
        """
        async with self._at_rest():
            head, version = await self.head()
            if side == "node":
                if (own := self._node.head) is None:
                    raise FleetConflict("this node has not joined the group; it can adopt what the store has")
                made = machine.adopt(head, own, await self._upload(own.release.number + 1, by, "adopted"))
                await self._swap(made, version, head)
                head = made
            elif head is None:
                raise FleetConflict("the store has no release; adopt from this node, or init the group")
            elif head.state != DONE:
                raise FleetConflict(f"release {head.release.number} is {head.state}; try again when it is done")
            await self._follow(head)
            if self._node.phase != GOOD:
                raise FleetConflict(f"release {head.release.number} is {self._node.phase} here: {self._node.reason}")
        return head

    async def propose(self, proposal: Proposal, by: Author) -> tuple[Head, list[str]]:
        """Begin a release. Return the new head, and the names of nodes that are in no stage because they are absent or hold.

        Raises FleetConflict, BadRequest and Unusable.
        """
        async with self._at_rest():
            head, version = await self.head()
            if why := machine.broken(head, self._node):
                raise FleetConflict(why)
            assert head
            if head.state != DONE:
                raise FleetConflict(f"release {head.release.number} by {head.release.author} is {head.state}, at gate {head.gate}")
            number = head.release.number + 1
            if proposal.former:
                former = next((each for each in reversed(head.chain) if each.number == proposal.former), None)
                if former is None:
                    raise FleetConflict(f"there is no release {proposal.former} among the last {machine.PAST}")
                release = replace(
                    former, number=number, id=_new_id(), author=by.name, message=proposal.message, made=time.time(), origin="", reverts=0
                )
            else:
                release = await self._upload(number, by, proposal.message)
            if proposal.dry_run:
                release = replace(release, origin="")
            if self._node.applied != head.release.bundle and not (proposal.former or proposal.force):
                text = f"this node does not have release {head.release.number}, so its text lacks what that has changed"
                raise FleetConflict(f"{text}; adopt it and make your change again, or use force")
            if release.bundle == head.release.bundle:
                raise FleetConflict(f"the configuration is that of release {head.release.number}; there is nothing to release")
            has_it = (await self._own())[1] == release.bundle
            reports, present = await self.reports(), await self.present()
            able = sorted(name for name in present if name in reports and reports[name]["phase"] != HELD)
            try:
                stages = machine.staged([name for name in able if name != self.name or not has_it], proposal.stages)
            except ValueError as error:
                raise BadRequest(str(error)) from None
            if not stages and len(reports) > 1 and not proposal.force:
                raise FleetConflict("no other node is there that could try the release; with force, it is made nevertheless")
            guard = asdict(proposal.guard) if proposal.guard else None
            made = machine.propose(
                head,
                release,
                stages=stages,
                guard=guard,
                bake=proposal.bake,
                deadline=proposal.deadline,
                force=proposal.force,
                dry_run=proposal.dry_run,
            )
            await self._swap(made, version, head)
        return made, sorted(set(reports) - set(able))

    async def steer(self, number: int, what: str, by: Author) -> Head:
        """Pause, resume or stop the release with this number. Raises FleetConflict and Unusable."""
        async with self._at_rest():
            head, version = await self.head()
            if why := machine.broken(head, self._node):
                raise FleetConflict(why)
            assert head
            expected = {"pause": (ROLLING,), "resume": (PAUSED,), "stop": (ROLLING, PAUSED)}[what]
            if head.release.number != number or head.state not in expected:
                raise FleetConflict(f"release {head.release.number} is {head.state}, so there is nothing to {what} of release {number}")
            if what == "stop":
                made = machine.revert(head, _new_id(), f"stopped by {by.name}", time.time())
            else:
                made = replace(head, state=PAUSED if what == "pause" else ROLLING)
            await self._swap(made, version, head)
        return made

    async def forget(self, name: str) -> None:
        """Delete the report of a node that is gone. Raises FleetConflict, NotFound and Unusable."""
        async with self._at_rest():
            if name in await self.present():
                raise FleetConflict(f"{name} is present; stop its server first")
            if not await self._store.delete(f"{self._path}/node/{name}"):
                raise NotFound(f"the group has no node {name[:40]}")

    async def facts(self) -> Mapping[str, Any]:
        """Return facts about the store. Raises Unusable."""
        return asdict(await self._store.facts())

    async def _follow(self, head: Head) -> None:
        """Follow a head that is DONE and apply its text, whatever this node has followed before and whatever text it has."""
        if self._node.confirmation:
            await self._end_change("this node has joined again")
        text = (await self._own())[1]
        node, action = machine.decide(head, NodeState(head, applied=text), self.name, text)
        await self._remember(node)
        if action == machine.CATCH_UP:
            await self._act(head, action)

    async def _upload(self, number: int, by: Author, message: str) -> Release:
        """Write this node's text to the store, and return a release of it. Raises TooLarge and Unusable."""
        text, digest = await self._own()
        name = self._keyring.object_name(digest)
        pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
        for index, piece in enumerate(pieces):
            place = f"{self._path}/object/{name}/{index}"
            await self._store.create(place, await run_in_thread(self._keyring.seal, place, piece))
        return Release(number, _new_id(), digest, name, len(pieces), by.name, message[:200], time.time(), self.name)


def _text_of(document: Document) -> bytes:
    if parts.is_joined(document):
        document = Document.parse(parts.split(document.data)[parts.MAIN])
    return header.without_banner(header.bare(document)).data


def _new_id() -> str:
    return os.urandom(8).hex()


def _read(state: State) -> NodeState:
    row = state.execute("SELECT data FROM fleet").fetchone()
    return NodeState.of(json.loads(row[0])) if row else NodeState()


def _store(node: NodeState, state: State) -> None:
    with state.transaction():
        state.execute("DELETE FROM fleet")
        state.execute("INSERT INTO fleet VALUES (?)", (json.dumps(node.as_dict()),))
