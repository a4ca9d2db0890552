"""Store confirmations, in memory and in the database. `Confirmations` decides when they change.

The database lacks the updates that are still queued, and those with `queue_write=False`. A crash loses them.
"""

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
# The states of a confirmation as the database and the API spell them. The module `confirmations` describes them.
OPEN, PENDING, CONFIRMED, ROLLED_BACK, FAILED, VOID = "open", "pending", "confirmed", "returned", "failed", "void"
# How many ended confirmations are stored.
MOST = 100


@dataclass(frozen=True)
class Confirmation:
    """The confirmation of one change. All times are Unix times. The rows of the table have the same members."""

    id: str
    author: str
    created: float
    # How long the change waits for its confirmation, in seconds from its end.
    seconds: float
    status: str = OPEN
    # None while the status is OPEN.
    deadline: float | None = None
    # None while the status is OPEN or PENDING.
    ended: float | None = None
    # Why the change has not been rolled back yet, or which part of it is still in effect and why.
    error: str = ""
    # The members of its `Guard`; None for a change without a guard.
    guard: dict[str, Any] | None = None
    # The result of `guard.baseline`. If it could not be computed, its only member is `unknown`, with the reason.
    baseline: dict[str, Any] | None = None
    # The last verdict of the guard, as `Verdict.as_dict` returns it.
    verdict: dict[str, Any] | None = None
    # The ids of the history entries that are still in effect, because reverting them failed.
    standing: list[int] = field(default_factory=list)
    # The identity of the author, such as `users/ann`. The name alone is ambiguous: a user, a certificate and a token may have the same.
    identity: str = ""

    @property
    def is_over(self) -> bool:
        """Return whether the confirmation has ended, in whatever state."""
        return self.status not in (OPEN, PENDING)


class ConfirmationLedger:
    """The confirmations of one engine. Calls `changed` after each change in memory.

    `add` and `change` return after the disk was written. `update` returns at once and queues its write. The database writes in the order of
    the calls, so the entries of the history that were added before are on disk first.
    """

    def __init__(self, database: Database, changed: Callable[[], None] = lambda: None) -> None:
        database.declare(Tables("confirmations", "CREATE TABLE confirmation (id INTEGER PRIMARY KEY, data TEXT NOT NULL)"))
        self._database, self._changed = database, changed
        self._known: dict[str, Confirmation] = {}
        self.is_read = False
        try:
            self._set_rows(database.read(_read))
        except Unusable as error:
            log.error("reading the confirmations failed: %s", error)

    async def read(self) -> None:
        """Read the confirmations from the database, after that failed at the start. Raises Unusable."""
        self._set_rows(await self._database.run(_read))

    def _set_rows(self, stored: list[Confirmation]) -> None:
        self._known, self.is_read = {confirmation.id: confirmation for confirmation in stored}, True

    def all(self) -> list[Confirmation]:
        """Return the confirmations, the newest first."""
        return list(reversed(self._known.values()))

    def get(self, id_: str) -> Confirmation:
        """Return a confirmation. Raises NoConfirmation."""
        if (confirmation := self._known.get(id_)) is None:
            raise NoConfirmation(id_)
        return confirmation

    @property
    def waiting(self) -> Confirmation | None:
        """Return the confirmation that is OPEN or PENDING; None if there is none. There is at most one."""
        return next((confirmation for confirmation in self.all() if not confirmation.is_over), None)

    async def add(self, make: Callable[[str], Confirmation]) -> Confirmation:
        """Add the confirmation that `make` returns for a new id, and return it once it is on disk. Raises Unusable if it was not added."""
        if not self.is_read:
            await self.read()
        made = make(str(max(map(int, self._known), default=0) + 1))
        self._known[made.id] = made
        self._changed()
        try:
            await self._database.store(partial(_store, made, self._drop_oldest()))
        except BaseException:
            del self._known[made.id]
            raise
        return made

    async def change(self, id_: str, **members: Any) -> Confirmation:
        """Change members of a confirmation, and return it once it is on disk. Raises NoConfirmation, and Unusable with nothing changed."""
        changed = replace(self.get(id_), **members)
        await self._database.store(partial(_store, changed, ()))
        self._known[id_] = changed
        self._changed()
        return changed

    def update(self, id_: str, *, queue_write: bool = True, **members: Any) -> Confirmation:
        """Change members of a confirmation in memory, and queue the write. Without `queue_write`, only the next change writes them."""
        self._known[id_] = changed = replace(self.get(id_), **members)
        self._changed()
        if queue_write:
            self._database.post(partial(_store, changed, ()))
        return changed

    async def wait_until_written(self) -> None:
        """Wait until all queued writes are on disk. If the disk does not accept them, return anyway: they stay queued."""
        with suppress(Unusable):
            await self._database.catch_up()

    def _drop_oldest(self) -> list[str]:
        """Drop ended confirmations from memory, except for the last MOST, and return the ids of those that were dropped."""
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
