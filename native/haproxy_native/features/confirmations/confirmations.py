"""Roll a change back at its deadline unless a client confirms it.

A client that changes the configuration remotely may lock itself out. With the option `confirm`, the client must confirm the change within
a number of seconds. Otherwise the server restores the state from before the change. The states of a confirmation:

    OPEN         the request that makes the change is in progress
    PENDING      the change is in effect, and waits for its confirmation until the deadline
    CONFIRMED    a client has confirmed the change, which makes it permanent
    ROLLED_BACK  the change was rolled back: at the deadline, by a client, or because its guard was violated
    FAILED       the rollback left a part of the change in effect
    VOID         the request changed nothing, or it failed and its changes were rolled back

OPEN changes to PENDING or VOID. PENDING changes to any of the last four states, which are final.

* At most one confirmation is OPEN or PENDING at a time. Until it ends, changes of configuration and files by other clients are refused.
* A confirmation is on disk before its change begins. The history entries of the change have the id of the confirmation.
* A rollback reverts these entries, the newest first, until reverting them changes nothing more. After a temporary error, such as a full
  disk, the rollback is repeated every second.
* After a crash, the next process makes an OPEN confirmation PENDING, with a new deadline. The client got no response, and finds the id in
  the list of confirmations. If a PENDING confirmation is past its deadline, the next process rolls it back at once.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, replace
from types import TracebackType
from typing import Any, Self, TypeVar

from haproxy_native.background import Background
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
from haproxy_native.features.confirmations.guard import (
    BAD,
    INCONCLUSIVE,
    Guard,
    GuardWatch,
    Verdict,
    affected_sections,
    baseline,
)
from haproxy_native.features.confirmations.ledger import (
    CONFIRMED,
    FAILED,
    OPEN,
    PENDING,
    ROLLED_BACK,
    VOID,
    Confirmation,
    ConfirmationLedger,
)
from haproxy_native.history.history import History
from haproxy_native.history.journal import Journal
from haproxy_native.history.reverting import Reverter
from haproxy_native.planning.touches import CHANGE, changed
from haproxy_native.request_context import Author
from haproxy_native.threads import run_in_thread

log = logging.getLogger(__name__)
NAME = "confirmation"
POLL_SECONDS = 0.2
# Temporary errors after which nothing has changed, such as a full disk, or a HAProxy that does not run. The rollback is repeated.
TEMPORARY = (WriteFailed, CheckImpossible, Unusable, RuntimeAbsent)
RETRY_SECONDS = 1.0
# How long to wait for the statistics that a guard reads.
ANSWER_SECONDS = 5.0
# An error that persists is logged again after so many seconds.
REMINDER_SECONDS = 60.0
# How many times the revert of one entry is tried. Each try is a commit.
TRIES = 3
Listener = Callable[[Confirmation], None]
AnyAuthor = TypeVar("AnyAuthor", bound=Author)


class Confirmations(Observer):
    """The confirmations of one engine. Enforces their deadlines and guards within `async with`.

    `notify` is called with each confirmation that has become PENDING, was extended or has ended. `watch` reads the statistics for guards.
    If `watch` is None, guards have no effect.
    """

    def __init__(
        self,
        context: CommitContext,
        history: History,
        reverter: Reverter,
        database: Database,
        notify: Listener = lambda confirmation: None,
        watch: GuardWatch | None = None,
    ) -> None:
        self._context, self._history, self._reverter, self._notify = context, history, reverter, notify
        self._guard_watch = watch
        self._changed = asyncio.Event()
        self._ledger = ConfirmationLedger(database, self._changed.set)
        self._background = Background("the confirmations")
        self._lock = asyncio.Lock()
        # The id of a confirmation that `_resume` has made PENDING in memory but not on disk; empty if there is none.
        self._resumed = ""
        # The last error that was logged, and when, by the monotonic clock.
        self._logged = ("", 0.0)

    async def __aenter__(self) -> Self:
        self._context.observers.append(self)
        self._resume()
        self._background.begin(self._watch())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._background.stop()
        self._context.observers.remove(self)

    def _resume(self) -> None:
        """Start the deadline of a confirmation that was OPEN when the last process ended.

        The confirmation stays OPEN on disk until the history has its entries, so that the process after another crash resumes it again.
        """
        if (waiting := self._ledger.waiting) and waiting.status == OPEN:
            self._resumed = waiting.id
            self._ledger.update(waiting.id, queue_write=False, status=PENDING, deadline=time.time() + waiting.seconds)

    def all(self) -> list[Confirmation]:
        """Return the confirmations, the newest first."""
        return self._ledger.all()

    def get(self, id_: str) -> Confirmation:
        """Return a confirmation. Raises NoConfirmation."""
        return self._ledger.get(id_)

    def is_confirmed(self, confirmation: str) -> bool | None:
        """Return whether the changes of a confirmation are permanent; None while it is OPEN or PENDING; True for an unknown id."""
        try:
            known = self._ledger.get(confirmation)
        except NoConfirmation:
            return True
        return known.status not in (ROLLED_BACK, VOID) if known.is_over else None

    async def entries(self, id_: str) -> Sequence[int]:
        """Return the ids of the history entries that belong to a confirmation, the newest first. Raises Unusable."""
        return await self._history.ask(Journal.of_confirmation, id_)

    # -- changes

    def admit(self, change: Change) -> None:
        """Raise Unconfirmed for a change of configuration or files by a client if another confirmation is OPEN or PENDING.

        Raises BadRequest for a change of the running process with a confirmation, unless the change only sets members of servers.
        """
        waiting, author = self._ledger.waiting, change.author
        process_change = change.sole_operation if isinstance(change.sole_operation, SetRuntime) else None
        if waiting and author.request_id and author.confirmation != waiting.id and not process_change:
            left = max(0.0, (waiting.deadline or time.time() + waiting.seconds) - time.time())
            text = f"a change by {waiting.author or 'another client'} waits for its confirmation, for {left:.0f} s at most"
            raise Unconfirmed(text, confirmation=waiting.id, author=waiting.author, seconds_left=left)
        if process_change and author.confirmation:
            # The history has the former values of servers, and can revert them.
            touched = process_change.touched
            if not touched or not all(touch.verb == CHANGE and touch.object.startswith("backend/") for touch in touched):
                raise BadRequest(
                    f"confirm in query cannot roll back a change of {process_change.object} in the running process alone; "
                    "send the request without confirm, and reload HAProxy to undo the change"
                )

    @asynccontextmanager
    async def open_confirmation(self, by: AnyAuthor, seconds: float, guard: Guard | None = None) -> AsyncIterator[AnyAuthor]:
        """Yield the author for the changes of a new confirmation. While the body runs, the confirmation is OPEN.

        The deadline is `seconds` after the end of the body. If the body raises, its changes are rolled back at once. If the body changes
        nothing, the confirmation ends as VOID. If `guard` is violated, the changes are rolled back before the deadline. Reloads for the
        yielded author are not debounced.

        Raises what `admit` raises, and Unrecorded if the confirmation cannot be stored. With a guard, raises RuntimeFailure if HAProxy does
        not answer.
        """
        self.admit(Change(author=by))
        before = await self._guard_watch.statistics() if guard and self._guard_watch else None
        self.admit(Change(author=by))
        members = asdict(guard) if guard else None
        try:
            made = await self._ledger.add(lambda id_: Confirmation(id_, by.name, time.time(), seconds, guard=members, identity=by.identity))
        except Unusable as error:
            raise Unrecorded(error.detail) from error
        try:
            yield replace(by, confirmation=made.id, is_urgent=True)
        except BaseException:
            await asyncio.shield(self._end_failed_request(made))
            raise
        if not await self._has_entries(made.id):
            await self._note(made.id, status=VOID, ended=time.time())
            return
        start = None
        if before and self._guard_watch:
            after = None
            with suppress(RuntimeFailure):
                after = await self._guard_watch.statistics()
            try:
                objects = {name for entry in await self.entries(made.id) for name in await self._history.ask(Journal.objects, entry)}
                document = self._context.current.document
                start = await run_in_thread(lambda: baseline(before, after, affected_sections(document, objects)))
            except Unusable as error:
                start = {"unknown": str(error)}
        await self._note(made.id, status=PENDING, deadline=time.time() + seconds, baseline=start)

    async def _has_entries(self, id_: str) -> bool:
        """Return whether the history has entries of the confirmation; True if the history cannot be read."""
        try:
            await self._history.catch_up()
            return bool(await self.entries(id_))
        except Unusable as error:
            self._log_error(id_, error)
            return True

    async def confirm(self, id_: str, by: Author) -> Confirmation:
        """Make the changes permanent. Raises NoConfirmation, NotPending and Forbidden.

        Raises Unusable if the state CONFIRMED cannot be stored; the confirmation is then still PENDING.
        """
        async with self._lock:
            self.check_pending(id_, by)
            return self._notified(await self._ledger.change(id_, status=CONFIRMED, ended=time.time(), error=""))

    async def extend(self, id_: str, seconds: float, by: Author) -> Confirmation:
        """Set the deadline to `seconds` from now. Raises NoConfirmation, NotPending and Forbidden.

        Raises Unusable if the change cannot be stored; the deadline is then the same as before.
        """
        async with self._lock:
            self.check_pending(id_, by)
            # The history must have the entries before the confirmation is PENDING on disk: after a kill, the rollback would miss them.
            await self._history.catch_up()
            return self._notified(await self._ledger.change(id_, seconds=seconds, deadline=time.time() + seconds, error=""))

    async def roll_back(self, id_: str, by: Author) -> Confirmation:
        """Roll the changes back at once. Cancelling the caller does not cancel the rollback.

        Raises NoConfirmation, NotPending and Forbidden. Raises one of TEMPORARY if the rollback failed; the server then repeats it every
        second.
        """
        self.check_pending(id_, by)
        self._ledger.update(id_, queue_write=False, deadline=time.time())
        return await asyncio.shield(self._roll_back(id_))

    def check_pending(self, id_: str, by: Author) -> Confirmation:
        """Return a confirmation that an author may end or extend. Raises NoConfirmation, NotPending and Forbidden."""
        confirmation = self._ledger.get(id_)
        if not by.identity == confirmation.identity != "":
            by.permit(changed(spelled("confirmation", id_), ()))
        if confirmation.status != PENDING:
            raise NotPending(f"confirmation {id_} is {confirmation.status}" + (f": {confirmation.error}" if confirmation.error else ""))
        return confirmation

    def _notified(self, changed: Confirmation) -> Confirmation:
        self._notify(changed)
        return changed

    async def _note(self, id_: str, **members: Any) -> Confirmation:
        """Change members of a confirmation, and wait until they are on disk. If the disk refuses the write, the write stays queued.

        In this case, the call does not wait any longer.
        """
        changed = self._notified(self._ledger.update(id_, **members))
        await self._ledger.wait_until_written()
        return changed

    def _log_error(self, id_: str, error: Exception) -> None:
        """Log an error, unless the last logged error is the same and less than REMINDER_SECONDS old."""
        text, now = f"confirmation {id_}: {error}; it is tried again every second", time.monotonic()
        if text != self._logged[0] or now > self._logged[1] + REMINDER_SECONDS:
            self._logged = text, now
            log.error(text, exc_info=None if isinstance(error, NativeError) else error)

    # -- guards

    async def _judge_guard(self, waiting: Confirmation) -> None:
        """Update the verdict of a PENDING confirmation if a new verdict is due. If the guard is violated, roll the changes back.

        Waits for HAProxy until the deadline, but at most ANSWER_SECONDS.
        """
        if self._guard_watch is None or waiting.deadline is None or waiting.guard is None:
            return
        try:
            async with asyncio.timeout(min(ANSWER_SECONDS, waiting.deadline - time.time())):
                verdict = await self._guard_watch.verdict(waiting.id, Guard(**waiting.guard), waiting.baseline)
        except (RuntimeFailure, TimeoutError) as error:
            verdict = Verdict(INCONCLUSIVE, [f"HAProxy does not answer: {error or 'timeout'}"], {})
        if verdict is None:
            return
        if verdict.result == BAD:
            log.warning("confirmation %s violates its guard: %s", waiting.id, "; ".join(verdict.reasons))
            self._ledger.update(waiting.id, verdict=verdict.as_dict(), deadline=time.time())
            await self._roll_back(waiting.id)
        else:
            self._ledger.update(waiting.id, queue_write=False, verdict=verdict.as_dict())

    # -- rolling back

    async def _end_failed_request(self, made: Confirmation) -> None:
        """Roll back what a failed request has changed, and end its confirmation."""
        if await self._has_entries(made.id):
            self._ledger.update(made.id, status=PENDING, deadline=time.time())
            await self._roll_back(made.id, end=VOID)
        else:
            await self._note(made.id, status=VOID, ended=time.time())

    async def _watch(self) -> None:
        """Enforce deadlines and guards until cancelled. If the confirmations could not be read at the start, read them again."""
        while True:
            self._changed.clear()
            waiting, pause = self._ledger.waiting, RETRY_SECONDS
            try:
                if waiting and waiting.status == PENDING:
                    if waiting.deadline is not None and waiting.deadline <= time.time():
                        await self._roll_back(waiting.id)
                    elif waiting.guard:
                        await self._judge_guard(waiting)
                if not self._ledger.is_read:
                    await self._ledger.read()
                    self._resume()
                if self._resumed:
                    await self._history.catch_up()
                    self._ledger.update(self._resumed)
                    self._resumed = ""
                pause = POLL_SECONDS
            except Exception as error:  # noqa: BLE001 - no error may end this task, which enforces the deadlines
                self._log_error(waiting.id if waiting else "", error)
            if pause == POLL_SECONDS and not self._ledger.waiting:
                await self._changed.wait()
            else:
                await asyncio.sleep(pause)

    async def _roll_back(self, id_: str, end: str = ROLLED_BACK) -> Confirmation:
        """Revert the history entries of a confirmation that has not ended. End the confirmation as `end` or FAILED, and return it.

        Raises one of TEMPORARY if the rollback failed; the confirmation then stays PENDING.
        """
        async with self._lock:
            if (confirmation := self._ledger.get(id_)).is_over:
                return confirmation
            author = Author(NAME, cause=f"{NAME}/{id_}", is_urgent=True)
            try:
                await self._history.catch_up()
                reasons = {entry: await self._revert_entry(entry, author) for entry in await self.entries(id_)}
            except TEMPORARY as error:
                self._ledger.update(id_, queue_write=False, error=f"rolling back failed, and is tried again every second: {error}")
                raise
            if standing := {entry: reason for entry, reason in reasons.items() if reason}:
                text = "; ".join(f"entry {entry} of the history is still in effect: {reason}" for entry, reason in standing.items())
                text += ". Everything else was rolled back. Keep these entries, or remove the cause and revert them then"
                log.error("confirmation %s of %s: %s", id_, confirmation.author, text)
                return await self._note(id_, status=FAILED, ended=time.time(), error=text, standing=list(standing))
            why = "its guard was violated" if (confirmation.verdict or {}).get("result") == BAD else "they were not confirmed"
            log.warning("rolled back the changes of confirmation %s of %s: %s", id_, confirmation.author, why)
            return await self._note(id_, status=end, ended=time.time(), error="")

    async def _revert_entry(self, entry: int, author: Author) -> str:
        """Revert a history entry. Return why a part of it is still in effect; empty if all of it is reverted. Raises one of TEMPORARY."""
        reason = ""
        for number in range(1, TRIES + 1):
            try:
                if not (await self._reverter.roll_back(entry, author)).outcomes:
                    return ""
                # The next try checks whether the entry is still in effect.
                reason = "it was reverted, and is in effect again"
            except TEMPORARY:
                raise
            except (ReloadFailed, RuntimeFailure) as error:
                log.warning("reverting entry %d failed: %s; try %d of %d", entry, error, number, TRIES)
                reason = str(error)
                await asyncio.sleep(RETRY_SECONDS)
            except NativeError as error:
                return str(error)
        return f"{reason} ({TRIES} tries)"
