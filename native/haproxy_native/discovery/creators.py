"""Who has defined a source through the API, by the id of its definition; in a file of its own, since definitions are the reference's."""

import json
import logging
from contextlib import suppress
from pathlib import Path

from haproxy_native.access.initiator import Initiator
from haproxy_native.disk.atomic import write_atomically

log = logging.getLogger(__name__)


class Creators:
    """A disk that does not take one costs the memory of it beyond a restart: then nobody is known, as of a definition from a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, Initiator] = {}
        with suppress(OSError, ValueError, TypeError, AttributeError):
            self._known = {str(id_): Initiator.of(initiator) for id_, initiator in json.loads(file.read_bytes()).items()}

    def of(self, id_: str) -> Initiator:
        """One without a name where it is not known."""
        return self._known.get(id_, Initiator())

    def keep(self, id_: str, creator: Initiator | None) -> None:
        """Remembers the creator; None forgets it."""
        remaining = {name: initiator for name, initiator in self._known.items() if name != id_}
        if creator and creator != Initiator():
            remaining[id_] = creator
        if remaining == self._known:
            return
        self._known = remaining
        try:
            self._file.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
            write_atomically(
                self._file, json.dumps({name: initiator.as_dict() for name, initiator in remaining.items()}, indent=2).encode() + b"\n"
            )
        except OSError as error:
            log.warning("cannot write %s: %s; after a restart it is not known who has defined a source", self._file, error.strerror)
