"""Confirmations as values, and the table that stores them."""

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.errors import NoConfirmation, Unusable

log = logging.getLogger(__name__)
# See native/haproxy_native/features/confirmations/confirmations.py for what they mean.
OPEN, PENDING, CONFIRMED, ROLLED_BACK, FAILED, VOID = "open", "pending", "confirmed", "returned", "failed", "void"
# How many confirmations that have ended are stored.
MOST = 100


@dataclass(frozen=True)
class Confirmation:
    """A confirmation. Moments are Unix times."""

    id: str
    author: str
    created: float
    # The time from the outcome of the change to the deadline.
    seconds: float
    status: str = OPEN
    # None while the status is OPEN.
    deadline: float | None = None
    ended: float | None = None
    # Why the change has not been rolled back yet, or which part of it could not be.
    error: str = ""
    # The members of its guard.
    guard: dict[str, Any] | None = None
    # The baseline of the guard, or the single member `unknown` with the reason.
    baseline: dict[str, Any] | None = None
    # The last verdict of the guard.
    verdict: dict[str, Any] | None = None
    # The entries of the history that could not be rolled back.
    standing: list[int] = field(default_factory=list)
    # The caller that may confirm it, as in `users/ann`. A user, a certificate and a token may all have the name of the author.
    identity: str = ""

    @property
    def is_over(self) -> bool:
        return self.status not in (OPEN, PENDING)


class ConfirmationLedger:
    """The confirmations, in memory and in the database. Calls `changed` after each change in memory.

    `add` and `change` return when the disk is written. `note` queues its write behind the earlier entries of the history.
    """

    def __init__(self, database: Database, changed: Callable[[], None] = lambda: None) -> None:
        database.declare(Tables("confirmations", "CREATE TABLE confirmation (id INTEGER PRIMARY KEY, data TEXT NOT NULL)"))
        self._database, self._changed = database, changed
        self._known: dict[str, Confirmation] = {}
        self.is_read = False
        try:
            self._know(database.read(_read))
        except Unusable as error:
            log.error("changes that wait for their confirmation are not known: %s", error)

    async def read(self) -> None:
        """Read the rows. Raises Unusable."""
        self._know(await self._database.run(_read))

    def _know(self, stored: list[Confirmation]) -> None:
        self._known, self.is_read = {confirmation.id: confirmation for confirmation in stored}, True

    def all(self) -> list[Confirmation]:
        """Return the confirmations, the newest first."""
        return list(reversed(self._known.values()))

    def get(self, id_: str) -> Confirmation:
        """Return a confirmation. Raises NotFound."""
        if (confirmation := self._known.get(id_)) is None:
            raise NoConfirmation(id_)
        return confirmation

    @property
    def waiting(self) -> Confirmation | None:
        """Return the confirmation that is not over; there is at most one."""
        return next((confirmation for confirmation in self.all() if not confirmation.is_over), None)

    async def add(self, make: Callable[[str], Confirmation]) -> Confirmation:
        """Store the confirmation that `make` returns for an id. Raises Unusable, with nothing changed."""
        if not self.is_read:
            await self.read()
        made = make(str(max(map(int, self._known), default=0) + 1))
        self._known[made.id] = made
        self._changed()
        try:
            await self._database.store(partial(_store, made, self._forget()))
        except BaseException:
            del self._known[made.id]
            raise
        return made

    async def change(self, id_: str, **members: Any) -> Confirmation:
        """Change a confirmation. Raises Unusable, with nothing changed."""
        changed = replace(self.get(id_), **members)
        await self._database.store(partial(_store, changed, ()))
        self._known[id_] = changed
        self._changed()
        return changed

    def note(self, id_: str, *, is_due: bool = True, **members: Any) -> Confirmation:
        """Change a confirmation in memory, and write it later. Unless `is_due`, it is written only with its next change."""
        self._known[id_] = changed = replace(self.get(id_), **members)
        self._changed()
        if is_due:
            self._database.post(partial(_store, changed, ()))
        return changed

    async def written(self) -> None:
        """Wait until noted changes are on disk. If the disk cannot be written, return nevertheless; they stay queued."""
        with suppress(Unusable):
            await self._database.catch_up()

    def _forget(self) -> list[str]:
        """Drop the oldest confirmations that are over, except for MOST of them, and return the ids of those dropped."""
        gone = [confirmation.id for confirmation in self._known.values() if confirmation.is_over][:-MOST]
        for id_ in gone:
            del self._known[id_]
        return gone


def _read(state: State) -> list[Confirmation]:
    return [Confirmation(**json.loads(data)) for (data,) in state.execute("SELECT data FROM confirmation ORDER BY id")]


def _store(confirmation: Confirmation, gone: Sequence[str], state: State) -> None:
    with state.transaction():
        state.execute("INSERT OR REPLACE INTO confirmation VALUES (?, ?)", (int(confirmation.id), json.dumps(asdict(confirmation))))
        state.executemany("DELETE FROM confirmation WHERE id = ?", [(int(id_),) for id_ in gone])
