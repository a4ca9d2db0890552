"""Compare the recorded state of the worker with the real one, after random steps with files, workers, commands, reloads and kills."""

import json
from dataclasses import dataclass, field, replace
from typing import get_args

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from haproxy_native.planning.outcome import Reason
from haproxy_native.process_state import (
    CommandsProved,
    CommandsReverted,
    CommandsSent,
    ConfigurationText,
    Doubted,
    Doubtful,
    Drifted,
    Event,
    Load,
    LoadsEnded,
    NoReloadRequired,
    ProcessState,
    ReloadBegan,
    ReloadRejected,
    ReloadRequired,
    ReloadSucceeded,
    Runs,
    TargetChanged,
    Trying,
    Unknown,
    WorkerSeen,
    WorkerSilent,
    from_row,
    step,
    to_row,
)
from haproxy_native.runtime.client import Worker
from haproxy_native.text.document import Document
from tests.laws.settings import law


def text(number: int) -> ConfigurationText:
    return ConfigurationText(Document.parse(f"global\n# {number}\n"), str(number))


A, B, C = map(text, range(3))
FIRST, SECOND = Worker(1, 10.0), Worker(2, 20.0)
LOAD = Load(B, 15.0)
STATES = [
    ProcessState(worker=FIRST, last_good=A),
    ProcessState(Runs(A), FIRST, last_good=A),
    ProcessState(Runs(A, B.document), FIRST, last_good=A),
    ProcessState(Trying(A, B.fingerprint), FIRST, last_good=A, pending=("x",)),
    ProcessState(Doubtful(A, Reason("why")), FIRST, last_good=A),
    ProcessState(Runs(A), FIRST, last_good=A, pending=(B.fingerprint,), loads=(replace(LOAD, target=B.document),), is_loading=True),
    ProcessState(Runs(A), FIRST, last_good=A, drift={"server b/s": "weight 1"}),
]
EVENTS: list[Event] = [
    WorkerSeen(FIRST),
    WorkerSeen(SECOND),
    WorkerSeen(SECOND, B),
    WorkerSilent(),
    ReloadRequired(A.fingerprint, B.fingerprint),
    NoReloadRequired(),
    CommandsSent(B.fingerprint),
    CommandsReverted(),
    CommandsProved(C),
    CommandsProved(C, is_file=True),
    Doubted(Reason("a command failed")),
    ReloadBegan(LOAD),
    TargetChanged(C.document),
    ReloadSucceeded(SECOND, B),
    ReloadSucceeded(SECOND, C, reads_file=True),
    ReloadSucceeded(None, B),
    ReloadRejected(),
    LoadsEnded(),
    Drifted("server b/s", "weight 1", "weight 2"),
]


def test_every_event_is_tried() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(Event))


@pytest.mark.parametrize("state", STATES, ids=lambda state: type(state.belief).__name__)
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_what_holds_after_any_event_in_any_state(state: ProcessState, event: Event) -> None:
    after = step(state, event)
    assert after.text is None or after.text in (A, B, C)
    assert after.text is None or after.last_good == after.text, "what a failed reload goes back to is what ran last"
    assert after.last_good is not None
    assert bool(after.reasons()) is isinstance(after.belief, Unknown | Doubtful)
    assert after.load is None or after.loads
    if isinstance(event, WorkerSeen | ReloadSucceeded) and after.worker != state.worker:
        assert after.drift == {}
    if not isinstance(event, WorkerSeen | ReloadSucceeded):
        assert after.worker == state.worker
    if isinstance(event, Doubted | WorkerSilent | ReloadRejected | LoadsEnded | Drifted | ReloadRequired | NoReloadRequired):
        assert after.text == state.text, "what proves nothing changes nothing that is believed"
    assert from_row(json.loads(json.dumps(to_row(after))), A, after.last_good, ()).worker == after.worker


@dataclass
class Process:
    """A worker, and the configuration that it really has."""

    worker: Worker
    does: str


@dataclass
class World:
    """The file with the time of its write, the worker in service, and the state that stays after a kill of the server."""

    file: ConfigurationText = A
    written: float = 0.0
    now: float = 1.0
    process: Process = field(default_factory=lambda: Process(Worker(1, 1.0), A.fingerprint))

    def write(self, new: ConfigurationText) -> None:
        self.now += 1
        self.file, self.written = new, self.now

    def begin(self) -> Worker:
        """Start a worker."""
        self.now += 1
        return Worker(self.process.worker.pid + 1, self.now)

    def serve(self, worker: Worker, does: str) -> None:
        self.process = Process(worker, does)


class Beliefs(RuleBasedStateMachine):
    """Handles events as native/haproxy_native/commit does, while the world changes at random between them."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.texts = {"0": A}
        self.state = from_row({}, A, None, ())
        self.look()

    def made(self) -> ConfigurationText:
        new = text(len(self.texts))
        self.texts[new.fingerprint] = new
        return new

    def take(self, event: Event) -> None:
        self.state = step(self.state, event)

    @rule()
    def look(self) -> None:
        worker = self.world.process.worker
        has_read = worker.started > self.world.written
        self.take(WorkerSeen(worker, self.world.file if has_read and worker != self.state.worker else None))

    @rule()
    def others_restart_haproxy(self) -> None:
        self.world.serve(self.world.begin(), self.world.file.fingerprint)

    @rule()
    def others_edit_the_file(self) -> None:
        self.world.write(self.made())

    @rule()
    def haproxy_does_not_answer(self) -> None:
        self.take(WorkerSilent())

    @precondition(lambda self: isinstance(self.state.belief, Runs) and not self.state.loads)
    @rule(ends=st.sampled_from(["taken", "back", "half", "restart", "kill"]), is_written=st.booleans())
    def change_live(self, ends: str, is_written: bool) -> None:
        self.look()
        if not isinstance(self.state.belief, Runs) or self.state.text != self.world.file:
            return
        new = self.made()
        self.take(CommandsSent(new.fingerprint))
        if ends == "back":
            self.take(CommandsReverted())
        elif ends == "restart":
            self.others_restart_haproxy()
            self.look()
            assert not isinstance(self.state.belief, Trying)
        elif ends == "half":
            self.world.process.does = "half"
            self.take(Doubted(Reason("a command failed")))
        else:
            self.world.process.does = new.fingerprint
            if ends == "taken" or is_written:
                self.world.write(new)
            if ends == "taken":
                self.take(CommandsProved(new, is_file=True))
            else:
                self.kill()

    @precondition(lambda self: isinstance(self.state.belief, Runs) and not self.state.loads)
    @rule(ends=st.sampled_from(["taken", "half", "killed before", "killed amid", "killed after"]))
    def change_live_after_the_file(self, ends: str) -> None:
        self.look()
        if not isinstance(self.state.belief, Runs):
            return
        new = self.made()
        self.take(ReloadRequired(self.world.file.fingerprint, new.fingerprint))
        self.world.write(new)
        if ends == "killed before":
            self.kill()
            return
        self.take(CommandsSent(new.fingerprint))
        self.world.process.does = "half" if ends in ("half", "killed amid") else new.fingerprint
        if ends == "taken":
            self.take(CommandsProved(new, is_file=True))
        elif ends == "half":
            self.take(Doubted(Reason("a command failed")))
        else:
            self.kill()

    @precondition(lambda self: not self.state.loads)
    @rule(
        ends=st.sampled_from(["loaded", "refused", "killed before", "killed after"]),
        meanwhile=st.sampled_from(["nothing", "live", "edit"]),
        reads=st.sampled_from(["before", "after", "amid"]),
    )
    def reload(self, ends: str, meanwhile: str, reads: str) -> None:
        """A text that needs a reload gets into the file and is loaded; `meanwhile` something else happens to the file.

        `reads`: the worker starts and reads before that, after it, or it starts before it and reads after it.
        """
        old, new = self.world.file, self.made()
        self.take(ReloadRequired(old.fingerprint, new.fingerprint))
        self.world.write(new)
        self.world.now += 1
        self.take(ReloadBegan(Load(new, self.world.now)))
        worker = self.world.begin()
        if meanwhile == "live":
            self.change_beside()
        elif meanwhile == "edit":
            self.others_edit_the_file()
        if reads == "after":
            worker = self.world.begin()
        if ends == "refused":
            self.take(ReloadRejected())
            self.look()
            self.take(LoadsEnded())
            return
        if ends == "killed before":
            self.kill()
        self.world.serve(worker, new.fingerprint if reads == "before" else self.world.file.fingerprint)
        if ends == "killed after":
            self.kill()
        if ends == "loaded":
            self.take(ReloadSucceeded(worker, self.world.file, worker.started > self.world.written))
            assert isinstance(self.state.belief, Runs)
        self.look()
        if meanwhile == "edit" and reads == "amid":
            # This cannot be known. The server counts the edits until it ends.
            self.take(Doubted(Reason("the file was edited")))
        self.take(LoadsEnded())

    def change_beside(self) -> None:
        """Make a change at runtime while HAProxy loads a text: in the running worker, and in the new one."""
        self.look()
        if isinstance(self.state.belief, Runs):
            running, target = self.made(), self.made()
            self.world.process.does = running.fingerprint
            self.take(CommandsProved(running))
            self.world.write(target)
            self.take(TargetChanged(target.document))

    @precondition(lambda self: isinstance(self.state.belief, Runs) and self.state.target is not None)
    @rule()
    def do_what_is_missing(self) -> None:
        self.look()
        if self.state.target is not None:
            done = next(each for each in self.texts.values() if each.document is self.state.target)
            self.world.process.does = done.fingerprint
            self.take(CommandsProved(done, is_file=done == self.world.file))

    @rule()
    def kill(self) -> None:
        """Kill the server, and start another."""
        known = json.loads(json.dumps(to_row(self.state)))
        self.state = from_row(known, self.world.file, self.state.last_good, self.state.loads)
        self.look()

    @invariant()
    def nothing_false_is_believed(self) -> None:
        process, target = self.world.process, self.state.target
        if isinstance(self.state.belief, Runs) and self.state.worker == process.worker:
            # The worker may already have read the changes that it seems to lack.
            fingerprints = {self.state.belief.text.fingerprint} | {
                fingerprint for fingerprint, each in self.texts.items() if target and each.document is target
            }
            assert process.does in fingerprints

    @invariant()
    def commands_are_under_way_within_a_change_alone(self) -> None:
        assert not isinstance(self.state.belief, Trying)


class TestBeliefs(Beliefs.TestCase):
    settings = settings(law(320), stateful_step_count=40)


@pytest.mark.soak
class TestMoreBeliefs(Beliefs.TestCase):
    settings = settings(law(8000), stateful_step_count=40)


@pytest.mark.parametrize("in_file", [A, B])
def test_commands_cut_off_by_a_kill_are_settled_by_a_reload_of_the_file(in_file: ConfigurationText) -> None:
    trying = step(ProcessState(Runs(A), FIRST, last_good=A), CommandsSent(B.fingerprint))
    state = from_row(to_row(trying), in_file, A, ())
    assert (state.belief, state.last_good, state.pending) == (Unknown(), in_file, (in_file.fingerprint,))
    doubted = from_row(to_row(step(trying, Doubted(Reason("it is not known")))), in_file, A, ())
    assert isinstance(doubted.belief, Unknown) and in_file.fingerprint in doubted.pending


def test_a_reload_that_was_promised_is_owed_while_the_file_may_hold_either_text() -> None:
    state = step(
        step(ProcessState(Runs(A), FIRST), ReloadRequired(A.fingerprint, B.fingerprint)), ReloadRequired(B.fingerprint, C.fingerprint)
    )
    assert state.pending == (B.fingerprint, C.fingerprint)
    assert step(state, CommandsProved(B)).pending == (B.fingerprint, C.fingerprint)
    assert step(state, CommandsProved(C, is_file=True)).pending == ()
    loading = step(state, ReloadBegan(Load(C, 15.0)))
    assert step(loading, CommandsProved(text(7), is_file=True)).pending, "what is being loaded is pending until that is over"
    assert step(loading, ReloadSucceeded(SECOND, C)).pending == ()
    assert step(loading, ReloadSucceeded(SECOND, A)).pending == (A.fingerprint,)
    assert step(loading, ReloadRejected()).pending == ()


def test_a_worker_of_a_reload_lacks_what_its_predecessor_did() -> None:
    state = step(step(ProcessState(Runs(A), FIRST), ReloadBegan(Load(B, 15.0))), TargetChanged(C.document))
    assert step(state, WorkerSeen(SECOND)).belief == Runs(B) and step(state, WorkerSeen(SECOND)).target is C.document
    assert step(state, ReloadSucceeded(SECOND, C)).target is C.document
    assert step(state, ReloadSucceeded(SECOND, C, reads_file=True)).target is None
    assert step(state, WorkerSeen(Worker(3, 12.0))).belief == Unknown(), "it started before HAProxy was made to load"
