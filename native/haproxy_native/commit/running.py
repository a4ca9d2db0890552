"""Query the HAProxy worker, and store in the database the state that native/haproxy_native/process_state.py computes.

`ProcessState` is small and is stored as JSON in the row of the file (`StateRow`). The texts that it refers to may be large and have rows
of their own (`TextRows`), which are written only when they change.
"""

import logging
from contextlib import suppress
from pathlib import Path

from haproxy_native.commit.current import Current, StateRow
from haproxy_native.commit.events import Events, WorkerChanged
from haproxy_native.disk.atomic import write_atomically
from haproxy_native.disk.database import Database, State
from haproxy_native.errors import RuntimeFailure, Unusable
from haproxy_native.planning.outcome import Reason
from haproxy_native.process_state import (
    ConfigurationText,
    Doubtful,
    Event,
    Load,
    ProcessState,
    ReloadSucceeded,
    Trying,
    WorkerSeen,
    WorkerSilent,
    from_row,
    step,
    to_row,
)
from haproxy_native.runtime.client import Runtime, Worker
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)


class TextRows:
    """The texts that the state of the process refers to, except the one in the file.

    `copy`: a file for operators, which gets the text that a failed reload restores, with owner and mode of the file `like`. This server
    never reads it.
    """

    def __init__(self, database: Database, copy: Path | None = None, like: Path | None = None, *, is_kept: bool = True) -> None:
        self._database, self._copy, self._like, self._is_kept = database, copy, like, is_kept
        self._is_posted = False
        # The text that a failed reload restores, and the fingerprint of the text that is stored as such.
        self._last_good: ConfigurationText | None = None
        self._written = ""

    def read(self) -> tuple[ConfigurationText | None, list[Load]]:
        """Return the text that a failed reload restores, and the reloads without an outcome, oldest first. Blocks."""

        def read(state: State) -> tuple[ConfigurationText | None, list[Load]]:
            row = state.execute("SELECT fingerprint, data FROM last_good").fetchone()
            loads = [
                Load(ConfigurationText(Document.parse(data), mark), began, target=None if target is None else Document.parse(target))
                for began, mark, data, target in state.execute("SELECT began, fingerprint, data, target FROM open_load ORDER BY began")
            ]
            return ConfigurationText(Document.parse(row[1]), row[0]) if row else None, loads

        last_good, loads = None, list[Load]()
        with suppress(Unusable):
            last_good, loads = self._database.read(read)
        self._written = last_good.fingerprint if last_good else ""
        return last_good, loads

    def save_last_good(self, state: ProcessState) -> None:
        """Schedule the write of the text that a failed reload restores, unless it is written already."""
        self._last_good = state.last_good
        if self._last_good and self._last_good.fingerprint != self._written and self._is_kept and not self._is_posted:
            self._is_posted = True
            self._database.post(self._write_last_good)

    def _write_last_good(self, state: State) -> None:
        if text := self._last_good:
            with state.transaction(is_synced=False):
                state.execute("INSERT OR REPLACE INTO last_good VALUES (1, ?, ?)", (text.fingerprint, text.document.data))
            self._written = text.fingerprint
            try:
                if self._copy:
                    self._copy.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
                    write_atomically(self._copy, text.document.pieces(), like=self._like, durable=False)
            except OSError as error:
                log.warning("writing %s failed: %s", self._copy, error.strerror)
        self._is_posted = False

    def save_loads(self, before: ProcessState, after: ProcessState) -> None:
        """Schedule the write of the reloads that differ between two states."""
        known = {load.began: load for load in before.loads}
        changed = [load for load in after.loads if load is not known.get(load.began)]
        are_over = bool(before.loads) and not after.loads

        def write(state: State) -> None:
            with state.transaction(is_synced=False):
                for load in changed:
                    row = (load.began, load.text.fingerprint, load.text.document.data, load.target.data if load.target else None)
                    state.execute("INSERT OR REPLACE INTO open_load VALUES (?, ?, ?, ?)", row)
                if are_over:
                    state.execute("DELETE FROM open_load")

        if self._is_kept and (changed or are_over):
            self._database.post(write)


class RunningProcess:
    """The state of the process that reads `current`. Call `restore` before anything else."""

    def __init__(self, current: Current, runtime: Runtime, row: StateRow, texts: TextRows, events: Events) -> None:
        self._current, self._runtime, self._row, self._texts, self._events = current, runtime, row, texts, events
        self.state = ProcessState()

    def step(self, event: Event) -> None:
        """Apply an event and schedule the write of the new state."""
        before, self.state = self.state, step(self.state, event)
        if self.state is not before:
            self._texts.save_loads(before, self.state)
            self._row.set(process=to_row(self.state))
        if self.state.worker != before.worker:
            self._events.publish(WorkerChanged(before.worker, self.state.worker))

    def save_last_good(self) -> None:
        """Schedule the write of the text that a failed reload restores. Runtime changes do not write it, since it may be large."""
        self._texts.save_last_good(self.state)

    async def flush(self) -> None:
        """Wait until each scheduled write survives a kill of this process, or the disk has refused it."""
        await self._row.flush()

    # -- what is known

    @property
    def document(self) -> Document | None:
        """The configuration that the worker runs, or ran before a command failed; None if it is unknown."""
        return self.state.text.document if self.state.text else None

    @property
    def is_doubtful(self) -> bool:
        return isinstance(self.state.belief, Doubtful)

    @property
    def is_trying(self) -> bool:
        """Whether commands of an unchecked change have been sent, and the file is not written yet. False when another worker starts."""
        return isinstance(self.state.belief, Trying)

    @property
    def is_current(self) -> bool:
        """Whether the worker runs exactly the configuration in the file."""
        return self.document is not None and self.document is self._current.document and not self.is_doubtful

    @property
    def worker(self) -> Worker | None:
        """The last worker that has answered."""
        return self.state.worker

    @property
    def last_good(self) -> Document | None:
        """The configuration that a failed reload restores."""
        return self.state.last_good.document if self.state.last_good else None

    @property
    def is_expected(self) -> bool:
        """Whether HAProxy is known to run on this host: its master's socket is configured, or a worker has answered once."""
        return self._runtime.is_configured and bool(self._runtime.configured_master or self.state.has_answered)

    def reasons(self) -> list[Reason]:
        """Return why nothing can be changed at runtime now; empty if changes are possible."""
        if reasons := self.state.reasons():
            return reasons
        return [Reason("HAProxy does not answer")] if self.is_expected and not self.state.answers else []

    def drift(self) -> list[Reason]:
        """Return a reason for each change that was made in the process alone and that the next reload discards."""
        return [Reason(f"{name} was changed in the running process alone") for name in self.state.drift]

    # -- queries of HAProxy

    async def restore(self) -> None:
        """Restore the state that the previous server process has stored, then query the worker.

        The query discards the parts of the state that no longer apply.
        """
        self.state = from_row(self._row.value.process, self._current.text, *self._texts.read())
        await self.observe()
        self.save_last_good()
        await self.flush()

    async def observe(self) -> None:
        """Query which worker is in service. A new worker has read the file if the file was last written before that worker started."""
        try:
            worker = await self._runtime.worker()
        except RuntimeFailure:
            self.step(WorkerSilent())
            return
        is_new = worker != self.state.worker
        self.step(WorkerSeen(worker, self._current.text if is_new and self._has_read_file(worker) else None))

    async def succeeded(self) -> None:
        """Query the worker that the reload in progress has started."""
        worker = None
        with suppress(RuntimeFailure):
            worker = await self._runtime.worker()
        self.step(ReloadSucceeded(worker, self._current.text, worker is not None and self._has_read_file(worker)))
        self.save_last_good()
        await self.flush()

    def _has_read_file(self, worker: Worker) -> bool:
        seen = self._current.file.read_stamp()
        return bool(seen and self._current.changed_stamp() is None and worker.started_after(seen.written / 1e9))
