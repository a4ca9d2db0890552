"""Transactions that were ended since nobody used them, so that a later use is answered why."""

import json
import time
from contextlib import suppress
from pathlib import Path

from haproxy_native.disk.atomic import write_atomically

# So many are remembered.
MOST = 1_000


class Ended:
    """Reasons of ended transactions, in a file of `{id: [when, after so many seconds]}`; if it cannot be read or written, only the reason
    is lost.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, tuple[float, float]] | None = None

    def add(self, id_: str, when: float, ttl: float) -> None:
        known = {**self._all(), id_: (when, ttl)}
        self._known = dict(list(known.items())[-MOST:])
        with suppress(OSError):
            write_atomically(self._path, json.dumps(self._known).encode(), durable=False)

    def why(self, id_: str) -> str:
        """Empty for one that was not ended so."""
        if id_ not in self._all():
            return ""
        when, ttl = self._all()[id_]
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
        return f"transaction {id_} was ended at {at}, since it had not been used for {ttl:g} s (transaction_ttl); start another one"

    def _all(self) -> dict[str, tuple[float, float]]:
        if self._known is None:
            self._known = {}
            with suppress(OSError, ValueError, TypeError, AttributeError):
                self._known = {str(id_): (float(when), float(ttl)) for id_, (when, ttl) in json.loads(self._path.read_bytes()).items()}
        return self._known
