"""Track what the current HAProxy worker runs: the states, the events, and `step`, which computes the next state.

HAProxy reads its configuration when a worker starts and does not report which text it has read. Afterwards, runtime commands change
what the worker does. This server therefore concludes what the worker runs from what it has observed itself:

- A worker that started after the file was last written has read that file.
- A worker that a reload has started has read the text that the file contained when the reload began, whatever it contains now.
- A command that HAProxy has accepted and that a second read confirms has had its effect.

In every other case it is unknown what the worker runs, and the next change reloads HAProxy. The states:

- `Unknown`: no observation tells which text the worker has read.
- `Runs`: the worker does exactly what a text says. The file may contain more, which waits for a reload.
- `Trying`: the commands of a change are being sent, before or after the file is written. The worker does what the old text says, or what
  the new one says, or something in between.
- `Doubtful`: the worker did what a text says, and a failure since then may have changed that.

`ProcessState` adds what must survive a restart of this server: the worker's identity, the texts that wait for a reload, the text that a
failed reload restores, and the reloads that have no outcome yet. A new worker invalidates all that was known about the previous one.

Everything that changes the state is in this file, and this file does nothing else: native/haproxy_native/commit/running.py queries HAProxy
and stores the state in the database.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from haproxy_native.planning.outcome import Reason
from haproxy_native.runtime.client import Worker
from haproxy_native.text.document import Document

NOT_KNOWN = Reason("it is not known what HAProxy has loaded")


@dataclass(frozen=True)
class ConfigurationText:
    """A configuration, with the fingerprint that identifies it on disk."""

    document: Document = field(repr=False, compare=False)
    fingerprint: str


@dataclass(frozen=True)
class Unknown:
    """No observation tells which text the worker has read."""


@dataclass(frozen=True)
class Runs:
    """The worker does exactly what `text` says."""

    text: ConfigurationText
    # The configuration that the previous worker ran when it was replaced, if that has further changes. Commands have yet to apply these.
    target: Document | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Trying:
    """The worker does what `old` says, or the text with the fingerprint `new`, or something in between."""

    old: ConfigurationText
    new: str


@dataclass(frozen=True)
class Doubtful:
    """The worker ran `text`, but something else may be in effect by now."""

    text: ConfigurationText
    # Why something else may be in effect, and so why the next change needs a reload.
    reason: Reason


Belief = Unknown | Runs | Trying | Doubtful


@dataclass(frozen=True)
class Load:
    """A reload that has begun and has no outcome yet."""

    # What the file contained when the reload began.
    text: ConfigurationText
    # In Unix seconds.
    began: float
    # The version of the file, and the number of edits by other processes, at that time.
    version: int = 0
    edits: int = 0
    # `text` with the changes that the previous worker has accepted since; None if there are none.
    target: Document | None = field(default=None, repr=False, compare=False)

    @property
    def wanted(self) -> Document:
        """The configuration that the new worker has to run."""
        return self.target or self.text.document


@dataclass(frozen=True)
class ProcessState:
    """What is known about the worker, and about reloads."""

    belief: Belief = Unknown()
    # The last worker that has answered, and whether a worker answered the last query.
    worker: Worker | None = None
    answers: bool = True
    # Whether any worker has ever answered, so that HAProxy is known to run on this host.
    has_answered: bool = False
    # The last text that a worker was known to run. A failed reload restores it.
    last_good: ConfigurationText | None = None
    # Fingerprints of texts that need a reload as long as the file contains them.
    pending: tuple[str, ...] = ()
    # The names of what was changed in this worker alone, with the values before the first change.
    drift: Mapping[str, str] = field(default_factory=dict)
    # Oldest first. With `is_loading` the last one was started by this server and is in progress.
    loads: tuple[Load, ...] = ()
    is_loading: bool = False

    @property
    def text(self) -> ConfigurationText | None:
        """The text that the worker runs, or ran before a failure; None if that is unknown."""
        match self.belief:
            case Runs(text) | Trying(text) | Doubtful(text):
                return text
        return None

    @property
    def target(self) -> Document | None:
        """The configuration to which commands have yet to bring the worker; None if there is none."""
        return self.belief.target if isinstance(self.belief, Runs) else None

    @property
    def load(self) -> Load | None:
        """The reload in progress."""
        return self.loads[-1] if self.is_loading else None

    def reasons(self) -> list[Reason]:
        """Return why nothing can be changed at runtime; empty if it can."""
        match self.belief:
            case Unknown():
                return [NOT_KNOWN]
            case Doubtful(_, reason):
                return [reason]
        return []


@dataclass(frozen=True)
class WorkerSeen:
    """A worker has answered. `file`: the text of the file, if the worker certainly started after the file was last written."""

    worker: Worker
    file: ConfigurationText | None = None


@dataclass(frozen=True)
class WorkerSilent:
    """No worker has answered. That proves nothing about what it runs."""


@dataclass(frozen=True)
class ReloadRequired:
    """The text `new` is about to replace `old` in the file, or has replaced it, and needs a reload."""

    old: str
    new: str


@dataclass(frozen=True)
class NoReloadRequired:
    """The text in the file needs no reload: it was restored, or the caller has requested that nothing be reloaded."""


@dataclass(frozen=True)
class CommandsSent:
    """The commands of a change are about to be sent. `new`: the fingerprint of the text that is written before or after the commands."""

    new: str


@dataclass(frozen=True)
class CommandsReverted:
    """A second read confirms that the worker does again what it did before `CommandsSent`."""


@dataclass(frozen=True)
class CommandsProved:
    """The worker does what `text` says: it has accepted the commands, or none were necessary. `is_file`: the file contains this text."""

    text: ConfigurationText
    is_file: bool = False


@dataclass(frozen=True)
class Doubted:
    """A command has failed, or something else may have changed what the worker does."""

    reason: Reason


@dataclass(frozen=True)
class ReloadBegan:
    """HAProxy is about to read the file."""

    load: Load


@dataclass(frozen=True)
class TargetChanged:
    """The previous worker has accepted a change during the reload, so the new worker has to run `document`."""

    document: Document = field(repr=False, compare=False)


@dataclass(frozen=True)
class ReloadSucceeded:
    """The reload in progress has started `worker`. `worker` is None if the worker does not answer.

    `file`: what the file contains now. `reads_file`: the worker certainly started after the file was last written.
    """

    worker: Worker | None
    file: ConfigurationText
    reads_file: bool = False


@dataclass(frozen=True)
class ReloadRejected:
    """HAProxy has rejected the text of the reload in progress. The worker is queried next."""


@dataclass(frozen=True)
class LoadsEnded:
    """Every reload has an outcome."""


@dataclass(frozen=True)
class Drifted:
    """A value was changed in the worker alone, until its next reload. `what` names the value."""

    what: str
    before: str
    after: str


Event = (
    WorkerSeen
    | WorkerSilent
    | ReloadRequired
    | NoReloadRequired
    | CommandsSent
    | CommandsReverted
    | CommandsProved
    | Doubted
    | ReloadBegan
    | TargetChanged
    | ReloadSucceeded
    | ReloadRejected
    | LoadsEnded
    | Drifted
)


def step(state: ProcessState, event: Event) -> ProcessState:
    """Return the state after an event. A state that does not expect the event stays as it is."""
    match event:
        case WorkerSeen(worker) if worker == state.worker:
            return replace(state, answers=True)
        case WorkerSeen(worker, file):
            return _with_new_worker(replace(state, worker=worker, answers=True, has_answered=True, drift={}), worker, file)
        case WorkerSilent():
            return replace(state, answers=False)
        case ReloadRequired(old, new):
            return replace(state, pending=(*(each for each in state.pending if each == old and each != new), new))
        case NoReloadRequired():
            return replace(state, pending=())
        case CommandsSent(new):
            return replace(state, belief=Trying(state.belief.text, new)) if isinstance(state.belief, Runs) else state
        case CommandsReverted():
            return replace(state, belief=Runs(state.belief.old)) if isinstance(state.belief, Trying) else state
        case CommandsProved(text, is_file):
            return _running(state, Runs(text), is_file=is_file and not state.is_loading)
        case Doubted(reason):
            match state.belief:
                case Trying(former, intended):
                    # If this server is killed, the file may contain either text; a reload is needed for both.
                    return replace(state, belief=Doubtful(former, reason), pending=(*state.pending, former.fingerprint, intended))
                case Runs(former) | Doubtful(former):
                    return replace(state, belief=Doubtful(former, reason))
            return state
        case ReloadBegan(load):
            return replace(state, loads=(*state.loads, load), is_loading=True)
        case TargetChanged(document):
            return replace(state, loads=(*state.loads[:-1], replace(state.loads[-1], target=document))) if state.is_loading else state
        case ReloadSucceeded():
            return _with_reloaded_worker(state, event)
        case ReloadRejected():
            return replace(state, is_loading=False, pending=())
        case LoadsEnded():
            return replace(state, loads=(), is_loading=False)
        case Drifted(what, before, after):
            first = state.drift.get(what, before)
            unchanged = {name: value for name, value in state.drift.items() if name != what}
            return replace(state, drift=unchanged if first == after else {**state.drift, what: first})


def _with_new_worker(state: ProcessState, worker: Worker, file: ConfigurationText | None) -> ProcessState:
    """Return the state for a worker that another program started, or a reload of this server that has no recorded outcome."""
    if file:
        return _running(state, Runs(file), is_file=True)
    load = next((load for load in reversed(state.loads) if worker.may_have_started_after(load.began)), None)
    if load:
        return _running(state, Runs(load.text, load.wanted), is_file=False)
    return replace(state, belief=Unknown())


def _running(state: ProcessState, belief: Runs, *, is_file: bool) -> ProcessState:
    return replace(state, belief=belief, last_good=belief.text, pending=() if is_file else state.pending)


def _with_reloaded_worker(state: ProcessState, event: ReloadSucceeded) -> ProcessState:
    load = state.load
    if load is None:
        return state
    belief = Runs(event.file) if event.reads_file else Runs(load.text, load.target)
    seen = replace(state, worker=event.worker, is_loading=False, drift={}, has_answered=state.has_answered or event.worker is not None)
    return replace(_running(seen, belief, is_file=False), pending=() if belief.text == event.file else (event.file.fingerprint,))


def to_row(state: ProcessState) -> dict[str, Any]:
    """Return what must survive a restart of this server as plain data, with texts replaced by their fingerprints.

    A worker with a `target` is stored as unknown, because some of the commands that lead to the target may have been sent.
    """
    match state.belief:
        case Runs(text, None):
            texts = [text.fingerprint]
        case Trying(old, new):
            texts = [old.fingerprint, new]
        case _:
            texts = []
    worker = state.worker and [state.worker.pid, state.worker.started]
    return {"texts": texts, "worker": worker, "answered": state.has_answered, "pending": list(state.pending), "drift": dict(state.drift)}


def from_row(row: Mapping[str, Any], file: ConfigurationText, last_good: ConfigurationText | None, loads: Sequence[Load]) -> ProcessState:
    """Return the state that `to_row` has stored, before HAProxy is queried. `file`: what the file contains now.

    At the first start of this server there is no stored text, so a failed reload would restore the text that the file contains now.
    """
    texts, pending = row.get("texts", ()), tuple(row.get("pending", ()))
    belief: Belief = Unknown()
    if len(texts) > 1 and file.fingerprint in texts:
        # The server was killed while it sent commands. HAProxy accepts either text, and a reload makes it run the one in the file.
        last_good, pending = file, (*pending, file.fingerprint)
    elif len(texts) == 1:
        belief = next((Runs(text) for text in (file, last_good) if text and text.fingerprint == texts[0]), belief)
    worker = Worker(*row["worker"]) if row.get("worker") else None
    answered, drift = bool(row.get("answered")), dict(row.get("drift", {}))
    return ProcessState(belief, worker, True, answered, last_good or file, pending, drift, tuple(loads))
