"""Confirmations as values, and the rows that keep them."""

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
# A change is being made; it waits for its confirmation; it was confirmed; it was taken back; it could not be, or not all of it; the change
# itself failed, so that there is nothing to confirm.
OPEN, PENDING, CONFIRMED, RETURNED, FAILED, VOID = "open", "pending", "confirmed", "returned", "failed", "void"
# Those that have ended and are remembered.
MOST = 100


@dataclass(frozen=True)
class Confirmation:
    """`seconds` from the outcome of the change to `deadline`, which is Unix time like `created` and `ended`; None before.

    `error`: why it has not gone back yet, or what could not be taken back; `standing` are the entries of the history that still stand then.
    `guard`: the members of its guard, and `verdict` what that said last.
    `baseline`: what the guard compares with, or its one member `unknown` with the reason why there is nothing.
    """

    id: str
    author: str
    created: float
    seconds: float
    status: str = OPEN
    deadline: float | None = None
    ended: float | None = None
    error: str = ""
    guard: dict[str, Any] | None = None
    baseline: dict[str, Any] | None = None
    verdict: dict[str, Any] | None = None
    standing: list[int] = field(default_factory=list)
    # The caller who may confirm it, as in `users/ann`. The name alone may be that of a user, a certificate and a token.
    identity: str = ""

    @property
    def is_over(self) -> bool:
        return self.status not in (OPEN, PENDING)


class ConfirmationLedger:
    """The confirmations, in memory and as rows; `changed` is called after each change in memory.

    `add` and `change` are on disk when they return. What is noted is written with the entries of the history that came before it, or
    after them: if those wait for a disk that takes nothing, it waits behind them.
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
        """Reads what could not be read at the start. Raises Unusable."""
        self._know(await self._database.run(_read))

    def _know(self, stored: list[Confirmation]) -> None:
        self._known, self.is_read = {confirmation.id: confirmation for confirmation in stored}, True

    def all(self) -> list[Confirmation]:
        """The newest first."""
        return list(reversed(self._known.values()))

    def get(self, id_: str) -> Confirmation:
        """Raises NotFound."""
        if (confirmation := self._known.get(id_)) is None:
            raise NoConfirmation(id_)
        return confirmation

    @property
    def waiting(self) -> Confirmation | None:
        """The one that is not over; there is one at most."""
        return next((confirmation for confirmation in self.all() if not confirmation.is_over), None)

    async def add(self, make: Callable[[str], Confirmation]) -> Confirmation:
        """`make` takes the id. Raises Unusable, with nothing changed."""
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
        """Raises Unusable, with nothing changed."""
        changed = replace(self.get(id_), **members)
        await self._database.store(partial(_store, changed, ()))
        self._known[id_] = changed
        self._changed()
        return changed

    def note(self, id_: str, *, is_due: bool = True, **members: Any) -> Confirmation:
        """Changes memory. What is not due is written with the next change, or lost."""
        self._known[id_] = changed = replace(self.get(id_), **members)
        self._changed()
        if is_due:
            self._database.post(partial(_store, changed, ()))
        return changed

    async def written(self) -> None:
        """Returns once what was noted is on disk, or queued in memory until the disk takes it."""
        with suppress(Unusable):
            await self._database.catch_up()

    def _forget(self) -> list[str]:
        """Forgets the oldest that are over, beyond MOST, and returns their ids."""
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
