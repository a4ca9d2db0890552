"""`Confirmations`: one change at a time that is taken back at its deadline, unless it is confirmed before.

A confirmation is on disk before its change begins. Its changes are the entries of the history with its id; taking it back reverts them, the
newest first, and then looks whether anything is left of them. A deadline that passed while this server did not run is kept at the start.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, replace
from types import TracebackType
from typing import Any, Self, TypeVar

from haproxy_native.background import Background
from haproxy_native.beside import beside
from haproxy_native.changes.operations import SetRuntime
from haproxy_native.commit.change import Change
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.ports import Observer
from haproxy_native.disk.database import Database
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import (
    BadRequest,
    CheckImpossible,
    NativeError,
    NoConfirmation,
    NotPending,
    ReloadFailed,
    RuntimeAbsent,
    RuntimeFailure,
    Unconfirmed,
    Unrecorded,
    Unusable,
    WriteFailed,
)
from haproxy_native.features.confirmations.guard import BAD, INCONCLUSIVE, Guard, Reading, Verdict, Watch, baseline
from haproxy_native.features.confirmations.ledger import CONFIRMED, FAILED, OPEN, PENDING, RETURNED, VOID, Confirmation, ConfirmationLedger
from haproxy_native.features.confirmations.touched import sections
from haproxy_native.history.history import History
from haproxy_native.history.journal import Journal
from haproxy_native.history.reverting import Reverter
from haproxy_native.planning.touches import CHANGE, changed
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
NAME = "confirmation"
LOOK_SECONDS = 0.2
# What may pass, and has changed nothing: a full disk, a HAProxy that is away.
PASSING = (WriteFailed, CheckImpossible, Unusable, RuntimeAbsent)
AGAIN_SECONDS = 1.0
# The longest wait for the statistics that a guard reads.
ANSWER_SECONDS = 5.0
# The same trouble is logged again after so long.
REMINDER_SECONDS = 60.0
# Of one entry: each try is a commit.
TRIES = 3
Listener = Callable[[Confirmation], None]
AnyAuthor = TypeVar("AnyAuthor", bound=Author)


class Confirmations(Observer):
    """Within `async with` deadlines are kept, and changes by other clients refused while one is not over.

    `tell` is called with each confirmation that has changed. `watch` reads the statistics for guards.
    """

    def __init__(
        self,
        context: CommitContext,
        history: History,
        returning: Reverter,
        database: Database,
        tell: Listener = lambda confirmation: None,
        watch: Watch | None = None,
    ) -> None:
        self._context, self._history, self._returning, self._tell = context, history, returning, tell
        self._guard_watch = watch
        self._changed = asyncio.Event()
        self._ledger = ConfirmationLedger(database, self._changed.set)
        self._works = Background("the confirmations")
        self._lock, self._was_open = asyncio.Lock(), ""
        # What was logged last, and when, by the monotonic clock.
        self._logged = ("", 0.0)

    async def __aenter__(self) -> Self:
        self._context.observers.add(self)
        self._take_up()
        self._works.begin(self._watch())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._context.observers.remove(self)
        await self._works.stop()

    def _take_up(self) -> None:
        """Lets the time begin of one that was OPEN when the server ended: its client has no answer, but may know the id from the list.

        It stays OPEN on disk until the history has what was changed: another kill finds it as this start did.
        """
        if (waiting := self._ledger.waiting) and waiting.status == OPEN:
            self._was_open = waiting.id
            self._ledger.note(waiting.id, is_due=False, status=PENDING, deadline=time.time() + waiting.seconds)

    def all(self) -> list[Confirmation]:
        """The newest first."""
        return self._ledger.all()

    def get(self, id_: str) -> Confirmation:
        """Raises NotFound."""
        return self._ledger.get(id_)

    def lasts(self, confirmation: str) -> bool | None:
        """Return whether what waits for it stays; None while that is not decided. One that nobody remembers is taken for confirmed."""
        with suppress(NoConfirmation):
            found = self._ledger.get(confirmation)
            return found.status not in (RETURNED, VOID) if found.is_over else None
        return True

    async def entries(self, id_: str) -> Sequence[int]:
        """The ids of the changes that stand and fall with it, the newest first."""
        return await self._history.ask(Journal.of_confirmation, id_)

    # -- changes

    def admit(self, change: Change) -> None:
        """Raises Unconfirmed for a client's change of configuration or stored files while that of another waits.

        Raises BadRequest for a change that is to be confirmed and that could not be rolled back.
        """
        waiting, by = self._ledger.waiting, change.author
        alone = change.sole_operation if isinstance(change.sole_operation, SetRuntime) else None
        if waiting and by.request_id and by.confirmation != waiting.id and not alone:
            raise _unconfirmed(waiting)
        if alone and by.confirmation and not _sets_servers(alone):
            raise BadRequest(
                f"confirm in query cannot roll back a change of {alone.object} in the running process alone; a reload makes HAProxy do "
                "what the files say"
            )

    @asynccontextmanager
    async def opened(self, by: AnyAuthor, seconds: float, guard: Guard | None = None) -> AsyncIterator[AnyAuthor]:
        """Enter the author whose changes wait for a new confirmation of `by`, and whose reloads are not put off.

        Its time begins at the end. Raises Unconfirmed while there is another.

        Raises Unrecorded, with no confirmation stored, where the database takes none: without it nothing could be rolled back.

        A `guard` rolls it back as soon as it is violated. HAProxy must answer then: raises RuntimeFailure.

        Where the body raises, what was changed nevertheless is taken back at once. Where nothing was changed there is nothing to confirm.
        """
        self.admit(Change(author=by))
        before = await self._guard_watch.read() if guard and self._guard_watch else None
        self.admit(Change(author=by))
        members = asdict(guard) if guard else None
        try:
            made = await self._ledger.add(lambda id_: Confirmation(id_, by.name, time.time(), seconds, guard=members, identity=by.identity))
        except Unusable as error:
            raise Unrecorded(error.detail) from error
        try:
            yield replace(by, confirmation=made.id, is_urgent=True)
        except BaseException:
            await asyncio.shield(self._abandon(made))
            raise
        if await self._is_made(made.id):
            start = await self._baseline(made.id, before) if before else None
            await self._note(made.id, status=PENDING, deadline=time.time() + seconds, baseline=start)
        else:
            await self._note(made.id, status=VOID, ended=time.time())

    async def _is_made(self, id_: str) -> bool:
        """Whether anything was changed; where the history cannot say it, it may have been."""
        try:
            await self._history.catch_up()
            return bool(await self.entries(id_))
        except Unusable as error:
            self._log(id_, error)
            return True

    async def _baseline(self, id_: str, before: Reading) -> dict[str, Any]:
        """Return what the guard compares with, or why that is unknown: the history does not say which sections were changed."""
        assert self._guard_watch
        after = None
        with suppress(RuntimeFailure):
            after = await self._guard_watch.read()
        try:
            objects = {name for entry in await self.entries(id_) for name in await self._history.ask(Journal.objects, entry)}
        except Unusable as error:
            return {"unknown": str(error)}
        return await beside(_baseline, self._context.current.document, objects, before, after)

    async def confirm(self, id_: str, by: Author) -> Confirmation:
        """What was changed stays. Raises NotFound, NotPending and Forbidden, and Unusable with nothing changed."""
        async with self._lock:
            self.check_pending(id_, by)
            return self._told(await self._ledger.change(id_, status=CONFIRMED, ended=time.time(), error=""))

    async def extend(self, id_: str, seconds: float, by: Author) -> Confirmation:
        """The time begins anew. Raises NotFound, NotPending and Forbidden, and Unusable with nothing changed."""
        async with self._lock:
            self.check_pending(id_, by)
            # What the history has not taken is cut off by a kill, and must not be PENDING on disk then.
            await self._history.catch_up()
            return self._told(await self._ledger.change(id_, seconds=seconds, deadline=time.time() + seconds, error=""))

    async def take_back(self, id_: str, by: Author) -> Confirmation:
        """Takes the change back now.

        Raises NotFound, NotPending and Forbidden, and what prevents it; then it is taken back as soon as that has passed.
        """
        self.check_pending(id_, by)
        self._ledger.note(id_, is_due=False, deadline=time.time())
        return await asyncio.shield(self._go_back(id_))

    def check_pending(self, id_: str, by: Author) -> Confirmation:
        """Return a confirmation that an author may end. Raises NotFound, NotPending and Forbidden."""
        confirmation = self._ledger.get(id_)
        if not by.identity == confirmation.identity != "":
            by.permit(changed(spelled("confirmation", id_), ()))
        if confirmation.status != PENDING:
            raise NotPending(f"confirmation {id_} is {confirmation.status}" + (f": {confirmation.error}" if confirmation.error else ""))
        return confirmation

    def _told(self, changed: Confirmation) -> Confirmation:
        self._tell(changed)
        return changed

    async def _note(self, id_: str, **members: Any) -> Confirmation:
        """Changes what is known in any case, and what is on disk as soon as that takes it."""
        changed = self._told(self._ledger.note(id_, **members))
        await self._ledger.written()
        return changed

    def _log(self, id_: str, error: Exception) -> None:
        text, now = f"confirmation {id_}: {error}; it is tried again every second", time.monotonic()
        if text != self._logged[0] or now > self._logged[1] + REMINDER_SECONDS:
            self._logged = text, now
            log.error(text, exc_info=None if isinstance(error, NativeError) else error)

    # -- guards

    async def _judge(self, waiting: Confirmation) -> None:
        """Note what the guard of a pending confirmation says, and roll it back if the guard is violated."""
        if (verdict := await self._verdict(waiting)) is None:
            return
        if verdict.result == BAD:
            log.warning("confirmation %s violates its guard: %s", waiting.id, "; ".join(verdict.reasons))
            self._ledger.note(waiting.id, verdict=verdict.as_dict(), deadline=time.time())
            await self._go_back(waiting.id)
        else:
            self._ledger.note(waiting.id, is_due=False, verdict=verdict.as_dict())

    async def _verdict(self, waiting: Confirmation) -> Verdict | None:
        """Return None if there is nothing new. Waits for HAProxy no longer than the deadline permits."""
        if self._guard_watch is None or waiting.deadline is None or waiting.guard is None:
            return None
        try:
            async with asyncio.timeout(min(ANSWER_SECONDS, waiting.deadline - time.time())):
                return await self._guard_watch.verdict(waiting.id, Guard(**waiting.guard), waiting.baseline)
        except (RuntimeFailure, TimeoutError) as error:
            return Verdict(INCONCLUSIVE, [f"HAProxy does not answer: {error or 'timeout'}"], {})

    # -- going back

    async def _abandon(self, made: Confirmation) -> None:
        if await self._is_made(made.id):
            self._ledger.note(made.id, status=PENDING, deadline=time.time())
            await self._go_back(made.id, end=VOID)
        else:
            await self._note(made.id, status=VOID, ended=time.time())

    async def _watch(self) -> None:
        while True:
            self._changed.clear()
            waiting, pause = self._ledger.waiting, AGAIN_SECONDS
            try:
                if waiting and waiting.status == PENDING:
                    await self._look_at(waiting)
                if not self._ledger.is_read:
                    await self._ledger.read()
                    self._take_up()
                if self._was_open:
                    await self._history.catch_up()
                    self._ledger.note(self._was_open)
                    self._was_open = ""
                pause = LOOK_SECONDS
            except Exception as error:  # noqa: BLE001 - whatever it is, deadlines are kept
                self._log(waiting.id if waiting else "", error)
            if pause == LOOK_SECONDS and not self._ledger.waiting:
                await self._changed.wait()
            else:
                await asyncio.sleep(pause)

    async def _look_at(self, waiting: Confirmation) -> None:
        if waiting.deadline is not None and waiting.deadline <= time.time():
            await self._go_back(waiting.id)
        elif waiting.guard:
            await self._judge(waiting)

    async def _go_back(self, id_: str, end: str = RETURNED) -> Confirmation:
        async with self._lock:
            if (confirmation := self._ledger.get(id_)).is_over:
                return confirmation
            by = Author(NAME, cause=f"{NAME}/{id_}", is_urgent=True)
            try:
                await self._history.catch_up()
                reasons = {entry: await self._revert(entry, by) for entry in await self.entries(id_)}
            except PASSING as error:
                self._ledger.note(id_, is_due=False, error=f"it goes back as soon as this has passed: {error}")
                raise
            if standing := {entry: reason for entry, reason in reasons.items() if reason}:
                text = _failure(standing)
                log.error("confirmation %s of %s: %s", id_, confirmation.author, text)
                return await self._note(id_, status=FAILED, ended=time.time(), error=text, standing=list(standing))
            why = "violates its guard" if (confirmation.verdict or {}).get("result") == BAD else "was not given in time, or refused"
            log.warning("confirmation %s of %s %s; its changes are taken back", id_, confirmation.author, why)
            return await self._note(id_, status=end, ended=time.time(), error="")

    async def _revert(self, entry: int, by: Author) -> str:
        """Why an entry still stands, empty where nothing of it is left. Raises what may pass, with nothing changed."""
        reason = ""
        for number in range(1, TRIES + 1):
            try:
                if not (await self._returning.roll_back(entry, by)).outcomes:
                    return ""
                reason = "it was taken back, and is there again"
            except PASSING:
                raise
            except (ReloadFailed, RuntimeFailure) as error:
                log.warning("entry %d is not taken back: %s; try %d of %d", entry, error, number, TRIES)
                reason = str(error)
                await asyncio.sleep(AGAIN_SECONDS)
            except NativeError as error:
                return str(error)
        return f"{reason} ({TRIES} tries)"


def _baseline(document: Document, objects: Collection[str], before: Reading, after: Reading | None) -> dict[str, Any]:
    return baseline(before, after, sections(document, objects))


def _sets_servers(change: SetRuntime) -> bool:
    """Whether a change of the process alone sets members of servers, whose former values the history has."""
    return bool(change.touched) and all(touch.verb == CHANGE and touch.object.startswith("backend/") for touch in change.touched)


def _failure(standing: Mapping[int, str]) -> str:
    """What still stands, why, and what to do."""
    reasons = "; ".join(f"entry {entry} of the history still stands: {reason}" for entry, reason in standing.items())
    return f"{reasons}. All else is taken back. Keep what stands, or mend what is in its way and revert it then"


def _unconfirmed(waiting: Confirmation) -> Unconfirmed:
    left = max(0.0, (waiting.deadline or time.time() + waiting.seconds) - time.time())
    text = f"a change by {waiting.author or 'another client'} waits for its confirmation, for {left:.0f} s at most"
    return Unconfirmed(text, confirmation=waiting.id, author=waiting.author, seconds_left=left)
