"""Where declared states come from and outcomes go: a file, a directory, a key of etcd."""

import hashlib
import os
import time

from dataplaneapi.ctl import declarations, files
from dataplaneapi.ctl.etcd import Etcd
from dataplaneapi.ctl.failures import Failure

# How often files are looked at, and how long one must stay as it is before it is read: it may be being written.
LOOK_SECONDS, STILL_SECONDS = 1.0, 0.2
# A watch in which nothing comes for so long is made anew.
WATCH_SECONDS = 60.0


class State:
    """`mark` differs from that of every other state."""

    def __init__(self, body: bytes, kind: str, mark: str) -> None:
        self.body, self.kind, self.mark = body, kind, mark


class Files:
    """A file or a directory. One that is not there is no state: nothing is applied, and nothing deleted."""

    def __init__(self, path: str, status: str = "") -> None:
        self.path = path.rstrip("/")
        self._status = status or f"{self.path}.status"
        self._seen: tuple[tuple[str, int, int, int], ...] = ()

    def read(self) -> State | None:
        """Waits until nothing of it has changed for a moment. Raises Failure for what cannot be read."""
        self._seen = self._stamps()
        if not self._seen:
            return None
        while True:
            time.sleep(STILL_SECONDS)
            now = self._stamps()
            if now == self._seen:
                break
            self._seen = now
        body, kind = declarations.read([self.path])
        return State(body, kind, hashlib.sha256(body).hexdigest())

    def wait(self, seconds: float) -> None:
        """Waits until the files differ from those read last, at most so many seconds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._stamps() == self._seen:
            time.sleep(min(LOOK_SECONDS, max(0.0, deadline - time.monotonic())))

    def report(self, text: str) -> None:
        try:
            files.replace(self._status, text, 0o644)
        except OSError as error:
            raise Failure(f"{self._status}: {error.strerror}") from None

    def _stamps(self) -> tuple[tuple[str, int, int, int], ...]:
        names = [self.path]
        if os.path.isdir(self.path):
            names += sorted(os.path.join(above, name) for above, _, file_names in os.walk(self.path) for name in file_names)
        stamps = []
        for name in names:
            try:
                known = os.stat(name)
            except OSError:
                continue
            stamps.append((name, known.st_mtime_ns, known.st_size, known.st_ino))
        return tuple(stamps)


class Key:
    """A key of etcd. One that is not there, or is empty, is no state."""

    def __init__(self, etcd: Etcd, key: str) -> None:
        self.etcd, self.key = etcd, key
        self._revision = 0

    def read(self) -> State | None:
        value, changed, self._revision = self.etcd.get(self.key)
        return State(value, declarations.guessed(value), f"revision {changed}") if value else None

    def wait(self, seconds: float) -> None:
        """Waits from the revision that was read last, so that no put in between is lost."""
        try:
            for _ in self.etcd.changes(self.key, self._revision + 1, min(seconds, WATCH_SECONDS)):
                return
        except Failure:
            # What reads next says so.
            time.sleep(min(seconds, LOOK_SECONDS))

    def report(self, text: str) -> None:
        self.etcd.put(f"{self.key}.status", text)


def source(name: str, *, endpoints: str = "", status: str = "") -> Files | Key:
    """Returns the source of `etcd:KEY`, of `http://HOST:PORT/KEY` or `https://...` of an etcd, or of a path."""
    if name.startswith("etcd:"):
        return Key(Etcd(endpoints), name.removeprefix("etcd:"))
    if name.startswith(("http://", "https://")):
        scheme, _, rest = name.partition("://")
        address, _, key = rest.partition("/")
        if not key:
            raise Failure(f"{name} names no key: {scheme}://HOST:PORT/KEY")
        # Keys often begin with a slash, which stands doubled then.
        return Key(Etcd(f"{scheme}://{address}"), key)
    return Files(name, status)
