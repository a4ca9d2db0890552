"""Decide the outcome of a reload from observations of the sockets. The code has no clock and sends nothing.

A new worker proves that the reload has succeeded, and a failure that the master reports proves that it has failed. The claim of the
strategy (an exit status, or an answer of the master) only determines how long to observe, and the outcome if nothing can be observed.
"""

import re
from dataclasses import dataclass
from enum import Enum

from haproxy_native.reload.strategies import OutcomeSource, ReloadClaim
from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.master import judge
from haproxy_native.runtime.responses import Processes

_ALERT = re.compile(r"^\[ALERT\]\s*(?:\(\d+\))?[\s:]*(.*)$", re.MULTILINE)
_LONGEST_ALERT = 500
MASTER_FAILED = "the master reports a failed reload"
WITHOUT_MASTER = "HAProxy's log may have the reason; with its master socket (setting master_runtime), the server learns it at once"


class ReloadEnding(Enum):
    """The outcome of a reload."""

    # A worker with the text answers.
    LOADED = "loaded"
    # HAProxy continues with the former text, or has ended because of the new text.
    REFUSED = "refused"
    # No worker runs, and nothing has refused the text.
    ABSENT = "absent"
    # There is no socket to observe.
    UNSEEN = "unseen"


@dataclass(frozen=True)
class Observation:
    """One observation of the sockets."""

    # Seconds since the strategy returned.
    at: float
    worker: Worker | None = None
    master: Processes | None = None
    # Whether there are sockets to observe.
    visible: bool = True


@dataclass(frozen=True)
class ReloadVerdict:
    ending: ReloadEnding
    worker: Worker | None = None
    why: str = ""


@dataclass(frozen=True)
class Patience:
    """Time limits in seconds."""

    # How long to wait while only the former worker answers: after a claimed success (`worker`), and after a claimed failure (`denied`).
    worker: float = 10.0
    denied: float = 3.0
    # The limit while the master is busy.
    master: float = 60.0
    # How long to wait while no worker answers: if one answered before the reload (`gone`), and if none did (`glance`).
    gone: float = 2.0
    glance: float = 0.5

    @classmethod
    def from_seconds(cls, seconds: float) -> "Patience":
        """Return time limits of at most `seconds`, but leave the limit of a busy master unchanged."""
        return cls(seconds, min(cls.denied, seconds), cls.master, min(cls.gone, seconds), min(cls.glance, seconds))


@dataclass(frozen=True)
class Trial:
    """One reload to be judged."""

    # The observation before the reload.
    before: Observation
    claim: ReloadClaim
    # Unix time.
    began: float
    # Whether HAProxy is known to run here.
    known: bool
    patience: Patience

    def decide(self, observation: Observation) -> ReloadVerdict | None:
        """Return the verdict after an observation; None if the outcome is still open."""
        if not observation.visible:
            return ReloadVerdict(ReloadEnding.UNSEEN)
        worker = observation.worker
        # A worker that started before this reload results from an earlier reload.
        if worker is not None and worker != self.before.worker and worker.may_have_started_after(self.began):
            return ReloadVerdict(ReloadEnding.LOADED, worker)
        if observation.master and self.before.master and judge(self.before.master, observation.master) is False:
            return ReloadVerdict(ReloadEnding.REFUSED, worker, MASTER_FAILED)
        if self.claim.ok is False and self.claim.source is not OutcomeSource.COMMAND:
            was_stopped = self.claim.source is OutcomeSource.NONE and worker is None and self.known
            return ReloadVerdict(ReloadEnding.ABSENT) if was_stopped else ReloadVerdict(ReloadEnding.REFUSED, worker)
        if observation.at < self._limit(observation):
            return None
        if worker:
            why = f"after {observation.at:.0f} s the former worker (pid {worker.pid}) still answers"
            if not observation.master and not self.before.master:
                why = f"{why}; {WITHOUT_MASTER}"
            return ReloadVerdict(ReloadEnding.REFUSED, worker, why)
        if self.before.worker and self.claim.ok is False:
            return ReloadVerdict(ReloadEnding.REFUSED, None, f"after {observation.at:.0f} s no worker answers")
        return ReloadVerdict(ReloadEnding.ABSENT if self.known else ReloadEnding.UNSEEN)

    def _limit(self, observation: Observation) -> float:
        """Return how many seconds after the strategy returned to stop observing."""
        patience, former = self.patience, self.before.master
        if former and observation.master:
            # The master is starting a new worker.
            is_busy = any(worker.pid not in former.pids for worker in observation.master.workers)
        else:
            # A master that does not answer is re-executing itself.
            is_busy = former is not None and observation.worker is not None
        if is_busy:
            return patience.master
        if observation.worker or former:
            return patience.denied if observation.worker and self.claim.ok is False else patience.worker
        return patience.gone if self.before.worker or self.claim.ok is False else patience.glance


def first_alert(log: str) -> str:
    """Return the text of the first alert in HAProxy's log, on one line; empty if there is none."""
    match = _ALERT.search(log)
    return match[1][:_LONGEST_ALERT] if match else ""
