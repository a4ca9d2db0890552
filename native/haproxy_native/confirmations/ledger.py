"""Confirmations as values, and the file that keeps them."""

import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from haproxy_native.disk.atomic import write_atomically
from haproxy_native.disk.ownership import failed
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
    """`add` and `change` are on disk when they return; what is noted is, once `save` has returned."""

    def __init__(self, path: Path) -> None:
        self._path, self.is_saved = path, True
        self._known = {confirmation.id: confirmation for confirmation in _read(path)}

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

    def add(self, make: Callable[[str], Confirmation]) -> Confirmation:
        """`make` takes the id. Raises Unusable, with nothing changed."""
        made = make(str(max(map(int, self._known), default=0) + 1))
        self._keep(made)
        return made

    def change(self, id_: str, **members: Any) -> Confirmation:
        """Raises Unusable, with nothing changed."""
        changed = replace(self.get(id_), **members)
        self._keep(changed)
        return changed

    def note(self, id_: str, *, is_due: bool = True, **members: Any) -> Confirmation:
        """Changes memory. What is not due is on disk with the next change, or lost."""
        self._known[id_] = changed = replace(self.get(id_), **members)
        self.is_saved = self.is_saved and not is_due
        return changed

    def save(self) -> None:
        """Raises Unusable; again is harmless."""
        if not self.is_saved:
            self._write(self._known)

    def _keep(self, confirmation: Confirmation) -> None:
        known = self._known | {confirmation.id: confirmation}
        for id_ in [confirmation.id for confirmation in known.values() if confirmation.is_over][:-MOST]:
            del known[id_]
        self._write(known)
        self._known = known

    def _write(self, known: dict[str, Confirmation]) -> None:
        try:
            self._path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
            write_atomically(self._path, json.dumps([asdict(confirmation) for confirmation in known.values()], indent=2).encode())
        except OSError as error:
            raise Unusable(failed(f"confirmations cannot be kept in {self._path}", error, self._path.parent)) from error
        self.is_saved = True


def _read(path: Path) -> list[Confirmation]:
    try:
        text = path.read_text()
    except FileNotFoundError:
        return []
    except OSError as error:
        log.error("changes that wait for their confirmation are not known: %s: %s", path, error.strerror)
        return []
    names = {field.name for field in fields(Confirmation)}
    try:
        return [Confirmation(**{name: value for name, value in row.items() if name in names}) for row in json.loads(text)]
    except (ValueError, TypeError, AttributeError) as error:
        log.error("changes that wait for their confirmation are not known: %s: %s", path, error)
        return []
