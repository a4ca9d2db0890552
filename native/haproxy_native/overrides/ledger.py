"""Overrides as values, and the file that keeps them."""

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haproxy_native.disk.atomic import write_atomically
from haproxy_native.planning.effects import Effect

log = logging.getLogger(__name__)
STATE, WEIGHT, ADDRESS, PORT = "admin_state", "weight", "address", "port"
MEMBERS = (STATE, WEIGHT, ADDRESS, PORT)
READY, MAINTENANCE = "ready", "maint"
# By which member of the configuration's server each of them is what it is.
CONFIGURED = {STATE: "maintenance", WEIGHT: "weight", ADDRESS: "address", PORT: "port"}


@dataclass(frozen=True)
class Override:
    """One member of one server, by its object name. `former`: what it was before the first change. `since`: Unix time.

    `configured`: what the configuration says of it, as a text; None until that is looked up.
    """

    object: str
    member: str
    value: Any
    former: Any
    since: float
    author: str = ""
    configured: str | None = None


class OverrideLedger:
    """`worker` is the one that has all of them, as `pid@start`; `changes` counts what was kept and forgotten.

    A disk that takes nothing costs the memory of them beyond a restart.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.worker, self.changes = "", 0
        self._overrides: dict[tuple[str, str], Override] = {}
        self._read()

    def all(self) -> list[Override]:
        """The newest first."""
        return sorted(self._overrides.values(), key=lambda override: -override.since)

    def of(self, object_: str) -> list[Override]:
        return [override for override in self._overrides.values() if override.object == object_]

    def get(self, object_: str, member: str) -> Override | None:
        return self._overrides.get((object_, member))

    def keep(self, overrides: Sequence[Override]) -> None:
        """Forgets those whose first value is back."""
        for override in overrides:
            key = (override.object, override.member)
            if override.value == override.former:
                self._overrides.pop(key, None)
            else:
                self._overrides[key] = override
        if overrides:
            self.changes += 1
            self.write()

    def forget(self, overrides: Iterable[Override]) -> None:
        gone = [key for override in overrides if (key := (override.object, override.member)) in self._overrides]
        for key in gone:
            del self._overrides[key]
        if gone:
            self.changes += 1
            self.write()

    def is_applied(self, worker: str) -> None:
        if worker != self.worker:
            self.worker = worker
            self.write()

    def write(self) -> None:
        stored = {"worker": self.worker, "overrides": [vars(override) for override in self._overrides.values()]}
        try:
            write_atomically(self._path, json.dumps(stored).encode() + b"\n", durable=False)
        except OSError as error:
            log.warning("cannot write %s: %s; changes of the process are forgotten at a restart", self._path, error.strerror)

    def _read(self) -> None:
        try:
            stored = json.loads(self._path.read_bytes())
            known = [Override(**{"configured": None, **row}) for row in stored["overrides"]]
            self.worker, self._overrides = str(stored["worker"]), {(override.object, override.member): override for override in known}
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("cannot read %s: %s: %s", self._path, type(error).__name__, error)


def ended(overrides: Iterable[Override], effects: Sequence[Effect]) -> list[Override]:
    """Returns the overrides whose member a change of the configuration changed, or whose server it deleted."""
    return [override for override in overrides if any(_ends(effect, override) for effect in effects)]


def in_process(object_: str) -> str:
    """The name of an object of the configuration as overrides have it: for a process a listen section is one of its backends."""
    kind, slash, rest = object_.partition("/")
    return f"backend{slash}{rest}" if kind == "listen" else object_


def _ends(effect: Effect, override: Override) -> bool:
    object_ = in_process(effect.object)
    if effect.member:
        return object_ == override.object and CONFIGURED.get(override.member) == effect.member
    return effect.new is None and f"{override.object}/".startswith(f"{object_}/")
