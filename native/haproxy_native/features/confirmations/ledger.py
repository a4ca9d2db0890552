"""Store confirmations, in memory and in the database. `Confirmations` decides when they change.

A crash loses the updates that are queued for the database, and those with `queue_write=False`.
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
    # How long the change waits for its confirmation, in seconds from the end of the request that made the change.
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
    """The confirmations of one engine. Each change in memory calls `changed`.

    `add` and `change` wait until the change is on disk. `update` queues the write and does not wait. The database writes in the order of
    the calls, so history entries that were added before a call are on disk before the confirmation.
    """

    def __init__(self, database: Database, changed: Callable[[], None] = lambda: None) -> None:
        database.declare(Tables("confirmations", "CREATE TABLE confirmation (id INTEGER PRIMARY KEY, data TEXT NOT NULL)"))
        self._database, self._changed = database, changed
        self._known: dict[str, Confirmation] = {}
        self.is_read = False
        try:
            self._known, self.is_read = database.read(_read_rows), True
        except Unusable as error:
            log.error("reading the confirmations failed: %s", error)

    async def read(self) -> None:
        """Read the confirmations from the database again, after reading them failed at the start. Raises Unusable."""
        self._known, self.is_read = await self._database.run(_read_rows), True

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
        """Add the confirmation that `make` returns for a new id, and wait until it is on disk.

        If the disk refuses the write, raises Unusable and adds nothing. Deletes the oldest ended confirmations if there are more than MOST.
        """
        if not self.is_read:
            await self.read()
        made = make(str(max(map(int, self._known), default=0) + 1))
        self._known[made.id] = made
        self._changed()
        deleted = [confirmation.id for confirmation in self._known.values() if confirmation.is_over][:-MOST]
        try:
            await self._database.store(partial(_store, made, deleted))
        except BaseException:
            del self._known[made.id]
            raise
        for id_ in deleted:
            self._known.pop(id_, None)
        return made

    async def change(self, id_: str, **members: Any) -> Confirmation:
        """Change members of a confirmation, and wait until they are on disk. Raises NoConfirmation.

        If the disk refuses the write, raises Unusable and changes nothing.
        """
        changed = replace(self.get(id_), **members)
        await self._database.store(partial(_store, changed, ()))
        self._known[id_] = changed
        self._changed()
        return changed

    def update(self, id_: str, *, queue_write: bool = True, **members: Any) -> Confirmation:
        """Change members of a confirmation in memory, and queue the write. Without `queue_write`, the next write includes these members."""
        self._known[id_] = changed = replace(self.get(id_), **members)
        self._changed()
        if queue_write:
            self._database.post(partial(_store, changed, ()))
        return changed

    async def wait_until_written(self) -> None:
        """Wait until all queued writes are on disk. Writes that the disk refuses stay queued, and end the wait."""
        with suppress(Unusable):
            await self._database.catch_up()


def _read_rows(state: State) -> dict[str, Confirmation]:
    """Return the stored confirmations by id, the oldest first."""
    rows = [Confirmation(**json.loads(data)) for (data,) in state.execute("SELECT data FROM confirmation ORDER BY id")]
    return {confirmation.id: confirmation for confirmation in rows}


def _store(confirmation: Confirmation, deleted: Sequence[str], state: State) -> None:
    """Write a confirmation, and delete those with the ids `deleted`."""
    with state.transaction():
        state.execute("INSERT OR REPLACE INTO confirmation VALUES (?, ?)", (int(confirmation.id), json.dumps(asdict(confirmation))))
        state.executemany("DELETE FROM confirmation WHERE id = ?", [(int(id_),) for id_ in deleted])
