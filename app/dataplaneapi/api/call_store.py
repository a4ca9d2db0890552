"""Calls with an `Idempotency-Key`, and what was answered: one file each, kept for a day. Blocks where it touches the disk.

Where there are too many, the oldest of the caller goes that has the most: no caller makes another's calls be forgotten.

A file is written before the call is made, and again with its answer before that is sent.
"""

import base64
import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from haproxy_native import shares
from haproxy_native.disk.atomic import write_atomically
from haproxy_native.errors import Unusable

log = logging.getLogger(__name__)
SECONDS = 86400.0
# So many calls are kept of one caller, and of all. Longer answers are not kept; all of them together take no more, in bytes.
MOST_OF_ONE, MOST, LARGEST, MOST_BYTES = 1000, 10_000, 1 << 18, 64 << 20
# So many answers with secrets are kept, in memory alone.
MOST_SECRET = 100
# How often what is too old goes.
TIDY_SECONDS = 60.0
_SUFFIX = ".json"


@dataclass(frozen=True)
class KeptCall:
    """`began`: Unix time. `id`: that of the request. `request`: digest of its body. Without a `status` it has not ended; a `body` is None
    where it was not kept.

    `headers` are those of the answer, `ignored` those that name what nothing has read. `rights`: a digest of those that its caller had.
    """

    began: float
    request: str = ""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    id: str = ""
    rights: str = ""


class CallStore:
    """The stored calls of one directory. A name is the caller's, a dash, and the call's."""

    def __init__(self, directory: Path, clock: Callable[[], float] = time.time) -> None:
        self._directory, self._clock = directory, clock
        self._in_memory: dict[str, KeptCall] = {}
        self._tidied = 0.0

    def find(self, name: str) -> KeptCall | None:
        """One of the last day. Raises Unusable where that cannot be known."""
        if (stored_call := self._in_memory.get(name)) is None:
            try:
                stored_call = _read(self._path(name).read_bytes())
            except FileNotFoundError:
                return None
            except (OSError, ValueError, TypeError, KeyError) as error:
                raise Unusable(f"{self._path(name)} cannot be read: {error}; nothing was done") from None
        return stored_call if stored_call.began > self._clock() - SECONDS else None

    def begin(self, name: str, id_: str = "") -> KeptCall:
        """Raises Unusable."""
        call = KeptCall(self._clock(), id=id_)
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._tidy(_caller(name))
            self._write(name, call)
        except OSError as error:
            raise Unusable(f"nothing was done: {self._directory} takes no note of its key: {error.strerror}") from None
        return call

    def end(self, name: str, call: KeptCall, *, is_secret: bool) -> None:
        """Keeps the answer; one that is secret, or that the disk does not take, in memory alone."""
        is_large = len(call.body or b"") > LARGEST
        try:
            self._write(name, replace(call, body=None) if is_secret or is_large else call)
        except OSError as error:
            log.warning("the answer to a call with an Idempotency-Key is lost at the next start: %s: %s", self._path(name), error.strerror)
            self._remember(name, replace(call, body=None) if is_large else call)
            return
        if is_secret and not is_large:
            self._remember(name, call)

    def forget(self, name: str) -> None:
        """A call that has done nothing may be made again."""
        with suppress(OSError):
            self._path(name).unlink(missing_ok=True)

    def _remember(self, name: str, call: KeptCall) -> None:
        self._in_memory[name] = call
        known = [(_caller(each), -place, 0, each) for place, each in enumerate(self._in_memory)]
        for gone in shares.surplus(known, MOST_SECRET + 1, 0, _caller(name)):
            del self._in_memory[gone]

    def _write(self, name: str, call: KeptCall) -> None:
        stored = asdict(call) | {"body": None if call.body is None else base64.b64encode(call.body).decode()}
        write_atomically(self._path(name), json.dumps(stored).encode())

    def _path(self, name: str) -> Path:
        return self._directory / f"{name}{_SUFFIX}"

    def _tidy(self, caller: str) -> None:
        """Deletes the caller's calls that are too old, or too many."""
        if self._clock() - self._tidied < TIDY_SECONDS and len(list(self._directory.glob(f"{caller}-*{_SUFFIX}"))) < MOST_OF_ONE:
            return
        self._tidied, there = self._clock(), sorted(self._ages())
        own = [path for _, path, _ in there if _caller(path.name) == caller]
        gone = {*own[MOST_OF_ONE - 1 :], *(path for age, path, _ in there if age > SECONDS)}
        left = [(_caller(path.name), age, size, path) for age, path, size in there if path not in gone]
        for path in [*gone, *shares.surplus(left, MOST, MOST_BYTES, caller)]:
            path.unlink(missing_ok=True)
        oldest = self._clock() - SECONDS
        self._in_memory = {name: call for name, call in self._in_memory.items() if call.began > oldest}

    def _ages(self) -> Iterator[tuple[float, Path, int]]:
        """Each file with its age and its size."""
        for path in self._directory.glob(f"*{_SUFFIX}"):
            with suppress(FileNotFoundError):
                status = path.stat()
                yield self._clock() - status.st_mtime, path, status.st_size


def _caller(name: str) -> str:
    return name[: name.rindex("-")]


def _read(data: bytes) -> KeptCall:
    stored = json.loads(data)
    headers, ignored = (tuple((name, value) for name, value in stored[member]) for member in ("headers", "ignored"))
    body = None if stored["body"] is None else base64.b64decode(stored["body"])
    return KeptCall(**stored | {"headers": headers, "ignored": ignored, "body": body})
