"""Plans that are kept to be carried out later, as they were shown: once, within an hour, also after a restart."""

import base64
import json
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from haproxy_native import shares
from haproxy_native.apply.moves import Moves, Values
from haproxy_native.disk.atomic import write_atomically
from haproxy_native.errors import NoPlan, Unusable

SECONDS = 3600.0
# So many are kept, of so many bytes together.
MOST, MOST_BYTES = 100, 1 << 26
# How many characters of a token say whose it is.
HOLDER = 8
_SUFFIX, _TOKEN = ".json", re.compile(r"[A-Za-z0-9_-]{32}")


@dataclass(frozen=True)
class KeptPlan:
    """`body` is a declaration as it was sent, of the media type `kind`; `options` are its parameters. `moves`: what it changes. `values`:
    what the running process had of that, None where it was not known.

    `until`: Unix time.
    """

    kind: str
    body: bytes
    options: Mapping[str, Any]
    moves: Moves
    values: Values | None
    until: float


class Plans:
    """The plans in one directory, readable only by this process's user: declarations hold secrets."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def keep(self, kind: str, body: bytes, options: Mapping[str, Any], moves: Moves, values: Values | None) -> str:
        """Returns its token. Where there are too many, the oldest of the caller goes that has the most. Raises Unusable."""
        token = shares.holder() + secrets.token_urlsafe(18)
        plan = KeptPlan(kind, body, options, moves, values, time.time() + SECONDS)
        stored = asdict(plan) | {"body": base64.b64encode(body).decode()}
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._tidy(token[:HOLDER])
            write_atomically(self._directory / f"{token}{_SUFFIX}", json.dumps(stored).encode())
        except OSError as error:
            raise Unusable(f"cannot keep the plan in {self._directory}: {error.strerror}") from error
        return token

    def take(self, token: str) -> KeptPlan:
        """Return a stored plan and delete it, since it is carried out once. Raises NoPlan."""
        plan = self.stored(token)
        (self._directory / f"{token}{_SUFFIX}").unlink(missing_ok=True)
        return plan

    def stored(self, token: str) -> KeptPlan:
        """Return a stored plan. Raises NoPlan."""
        path = self._directory / f"{token}{_SUFFIX}"
        try:
            if not _TOKEN.fullmatch(token):
                raise FileNotFoundError
            stored = json.loads(path.read_bytes())
            plan = KeptPlan(**stored | {"body": base64.b64decode(stored["body"])})
        except (OSError, ValueError, TypeError):
            raise NoPlan(f"there is no plan {token[:40]!r}: it was carried out, or an hour has passed; ask for a new one") from None
        if plan.until < time.time():
            raise NoPlan(f"plan {token} is older than an hour; ask for a new one")
        return plan

    def _tidy(self, coming: str) -> None:
        """Delete plans that are too old, and those that leave no room for one more of the holder `coming`."""
        now, there = time.time(), list[tuple[str, float, int, Path]]()
        for path in self._directory.glob(f"*{_SUFFIX}"):
            try:
                status = path.stat()
            except FileNotFoundError:
                # It has just been carried out.
                continue
            if now - status.st_mtime > SECONDS:
                path.unlink(missing_ok=True)
            else:
                there.append((path.name[:HOLDER], now - status.st_mtime, status.st_size, path))
        for path in shares.surplus(there, MOST, MOST_BYTES, coming):
            path.unlink(missing_ok=True)
