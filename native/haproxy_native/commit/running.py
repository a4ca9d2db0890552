"""`Running`: queries the HAProxy worker and stores the state of native/haproxy_native/process_state.py in the database."""

from contextlib import suppress

from haproxy_native.commit.current import Current, StateRow, TextRows
from haproxy_native.commit.events import Events, WorkerChanged
from haproxy_native.errors import RuntimeFailure
from haproxy_native.planning.outcome import Reason
from haproxy_native.process_state import (
    Doubtful,
    Event,
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


class Running:
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
            self._events.tell(WorkerChanged(before.worker, self.state.worker))

    def save_last_good(self) -> None:
        """Schedule the write of the text that a failed reload restores. Runtime changes do not write it, since it may be large."""
        self._texts.save_last_good(self.state)

    async def flush(self) -> None:
        """Return once all scheduled writes survive a kill of this process, or the disk has refused them."""
        await self._row.flush()

    # -- what is known

    @property
    def document(self) -> Document | None:
        """What the worker does, or did before a failure; None if that is unknown."""
        return self.state.text.document if self.state.text else None

    @property
    def is_doubtful(self) -> bool:
        return isinstance(self.state.belief, Doubtful)

    @property
    def is_trying(self) -> bool:
        """Whether commands are being sent before the file is written. The start of another worker ends that."""
        return isinstance(self.state.belief, Trying)

    @property
    def is_current(self) -> bool:
        """Whether the worker does exactly what the file says."""
        return self.document is not None and self.document is self._current.document and not self.is_doubtful

    @property
    def worker(self) -> Worker | None:
        """The last worker that has answered."""
        return self.state.worker

    @property
    def last_good(self) -> Document | None:
        """What a failed reload restores."""
        return self.state.last_good.document if self.state.last_good else None

    @property
    def is_expected(self) -> bool:
        """Whether HAProxy is known to run on this host: its master's socket is configured, or a worker has answered once."""
        return self._runtime.is_configured and bool(self._runtime.configured_master or self.state.has_answered)

    def reasons(self) -> list[Reason]:
        """Return why nothing can be changed at runtime now; empty if it can."""
        if reasons := self.state.reasons():
            return reasons
        return [Reason("", 0, "", "HAProxy does not answer")] if self.is_expected and not self.state.answers else []

    def drift(self) -> list[Reason]:
        """Return the changes of the process alone, which the next reload discards."""
        return [Reason("", 0, "", f"{name} was changed in the running process alone") for name in self.state.drift]

    # -- queries of HAProxy

    async def restore(self) -> None:
        """Restore, at the start of this server, what is still true of what the previous one knew."""
        self.state = from_row(self._row.value.process, self._current.text, *self._texts.read())
        await self.observe()
        self.save_last_good()
        await self.flush()

    async def observe(self) -> None:
        """Query which worker is in service. One that somebody else has started has read the file if the file is older."""
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
        seen = self._current.file.seen()
        return bool(seen and self._current.touched() is None and worker.started_after(seen.written / 1e9))
