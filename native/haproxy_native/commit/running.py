"""The running document: the text that the worker in service has loaded, plus every confirmed live change.

It is known from a reload, from the state file, or since the worker started after the file was last written. Else it is None, and the
next change reloads. A failed reload restores its copy (`.lkg`).
"""

import logging
import time
from pathlib import Path

from haproxy_native.commit.current import Current
from haproxy_native.commit.loads import Loads
from haproxy_native.commit.state_file import StateFile, fingerprint
from haproxy_native.disk.atomic import write_atomically
from haproxy_native.errors import RuntimeFailure
from haproxy_native.planning.plan import Reason
from haproxy_native.runtime.client import Runtime, Worker
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
# CLOCK_REALTIME_COARSE, the kernel's clock for files, which Python does not name; it lags behind by up to a tick.
_TICK = time.clock_getres(5)


class Running:
    """`document` is None while it is not known; `doubt` says why the worker may not do what the document says. `missing`: what the
    worker has to do in addition, since its predecessor did. `answers`: True if the worker answered when it was last asked."""

    def __init__(
        self, current: Current, runtime: Runtime, state_file: StateFile, copy: Path, loads: Loads, *, keeps_copy: bool = True
    ) -> None:
        self._current, self._runtime, self._state_file, self.copy, self.loads = current, runtime, state_file, copy, loads
        self._keeps_copy = keeps_copy
        self.document: Document | None = None
        self.doubt = ""
        self._place: Reason | None = None
        self.missing: Document | None = None
        self.answers = True
        self._fingerprint = self._copied = ""

    def reasons(self) -> list[Reason]:
        """Why nothing can be changed live now."""
        if self.document is None:
            return [Reason("", 0, "", "it is not known what HAProxy has loaded")]
        if self.doubt:
            return [self._place or Reason("", 0, "", self.doubt)]
        return [Reason("", 0, "", "HAProxy does not answer")] if self.is_expected and not self.answers else []

    def drift(self) -> list[Reason]:
        """Runtime-only changes, which the next reload discards."""
        return [Reason("", 0, "", f"{name} was changed in the running process alone") for name in self._state_file.value.drift]

    def drifts(self, what: str, before: str, after: str) -> None:
        """Records a runtime-only change of `what`, and removes it again once the first value is back."""
        drift = dict(self._state_file.value.drift)
        if drift.setdefault(what, before) == after:
            del drift[what]
        self._state_file.set(drift=drift)

    @property
    def is_expected(self) -> bool:
        """Whether HAProxy is known to run here: its master's socket is configured, or a worker has answered once."""
        known, master = self._state_file.value, self._runtime.configured_master
        return self._runtime.is_configured and bool(master or known.answered or known.pid)

    @property
    def is_current(self) -> bool:
        """Whether the worker in service does exactly what the file says."""
        return self.document is not None and self.document is self._current.document and not self.doubt

    def tries(self, new: str) -> None:
        """Remembers, also for the time after a kill, that commands are sent ahead of the text with this fingerprint."""
        self._state_file.set(running="", tried=f"{self._fingerprint} {new}")

    @property
    def is_trying(self) -> bool:
        """True from `tries` until what the worker does is known again, also by another worker's start."""
        return bool(self._state_file.value.tried)

    def stays(self) -> None:
        """Ends `tries`: the worker does what it did before."""
        self._set(self.document, self._fingerprint)

    async def recall(self) -> None:
        """Restores, at the start, what an earlier process knew, if the same worker still runs."""
        try:
            data = self.copy.read_bytes()
        except OSError:
            data = b""
        self._copied = fingerprint(data) if data else ""
        known = self._state_file.value.running
        if self._current.fingerprint in self._state_file.value.tried.split():
            # HAProxy accepts either text; a reload makes the worker do the one that the file has.
            self._copy(self._current.document, self._current.fingerprint)
            self._state_file.set(pending=self._current.fingerprint)
        if known and known == self._current.fingerprint:
            self._set(self._current.document, known)
        elif known and known == self._copied:
            self._set(Document.parse(data), known)
        await self.observe()
        if self.document is None and not data:
            # Nothing better is known: what there is at the first start is assumed to be good.
            self._copy(self._current.document, self._current.fingerprint)
        self.save_copy()

    async def observe(self) -> None:
        """Asks for the worker's pid and start; one that was started from outside has loaded the file if the file is older."""
        try:
            worker = await self._runtime.worker()
        except RuntimeFailure:
            self.answers = False
            return
        self.answers = True
        remembered = self._state_file.value
        if (worker.pid, worker.started) == (remembered.pid, remembered.started):
            return
        self._state_file.set(pid=worker.pid, started=worker.started, drift={}, answered=True)
        self._started_by_others(worker)

    def _started_by_others(self, worker: Worker) -> None:
        if self._has_read_file(worker):
            self.is_loaded(self._current.document, self._current.fingerprint)
        elif texts := self.loads.read_by(worker):
            self.is_ahead(texts[0])
            self.missing = texts[1]
        else:
            # What a failed reload goes back to.
            self.save_copy()
            self._set(None, "")

    def _has_read_file(self, worker: Worker) -> bool:
        seen = self._current.file.seen()
        return bool(seen and self._current.touched() is None and started_after(worker, seen.written / 1e9))

    def is_loaded(self, document: Document, mark: str, pending: str = "") -> None:
        """The worker in service does exactly this now. `pending`: the fingerprint of a text that is still to be loaded."""
        self.doubt = ""
        self._set(document, mark, pending=pending)

    def is_ahead(self, document: Document) -> None:
        """The worker does exactly this, which is on no disk: the file holds more, and that waits for a reload."""
        self.doubt = ""
        self._set(document, fingerprint(document.data))
        self.save_copy()

    def is_in_doubt(self, why: str, place: Reason | None = None) -> None:
        """`place`: the same with the line whose change is in doubt."""
        self.doubt, self._place = why, place
        self._state_file.set(running="")

    async def verify(self, document: Document, mark: str) -> None:
        """Records that the new worker runs this text, after a reload of ours."""
        current = self._current
        try:
            worker = await self._runtime.worker()
            self._state_file.set(pid=worker.pid, started=worker.started, drift={}, answered=True)
            if self._has_read_file(worker):
                document, mark = current.document, current.fingerprint
        except RuntimeFailure:
            self._state_file.set(pid=0, started=0, drift={})
        self.is_loaded(document, mark, "" if document is current.document else current.fingerprint)
        self.save_copy()

    @property
    def is_copied(self) -> bool:
        """Whether the copy is of the running document, where that is known and a copy is kept."""
        return not self._keeps_copy or self.document is None or self._fingerprint == self._copied

    def save_copy(self) -> None:
        """Brings the copy up to date, before the file gets a text that has yet to prove itself."""
        if self.document is not None and not self.is_copied:
            self._copy(self.document, self._fingerprint)

    def _copy(self, document: Document, mark: str) -> None:
        if not self._keeps_copy:
            return
        try:
            self.copy.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
            write_atomically(self.copy, document.pieces(), like=self._current.path, durable=False)
            self._copied = mark
        except OSError as error:
            log.warning("cannot keep a copy of the running configuration in %s: %s", self.copy, error.strerror)

    def good(self) -> Document | None:
        """What to go back to when a reload fails."""
        if self.document is not None:
            return self.document
        try:
            return Document.parse(self.copy.read_bytes())
        except OSError:
            return None

    def _set(self, document: Document | None, mark: str, **more: str) -> None:
        self.document, self._fingerprint, self.missing = document, mark, None
        self._state_file.set(running="" if self.doubt else mark, tried="", **more)


def started_after(worker: Worker, moment: float) -> bool:
    """Whether a worker certainly read its configuration after a moment."""
    return worker.started > moment + _TICK
