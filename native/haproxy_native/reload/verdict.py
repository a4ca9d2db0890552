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
        """Return time limits of at most `seconds`, except for a busy master."""
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
        """Return the verdict after an observation; None while the outcome is still open."""
        if not observation.visible:
            return ReloadVerdict(ReloadEnding.UNSEEN)
        if self._is_new(observation.worker):
            return ReloadVerdict(ReloadEnding.LOADED, observation.worker)
        if observation.master and self.before.master and judge(self.before.master, observation.master) is False:
            return ReloadVerdict(ReloadEnding.REFUSED, observation.worker, MASTER_FAILED)
        if self.claim.ok is False and self.claim.source is not OutcomeSource.COMMAND:
            return (
                self._decide_unreached(observation)
                if self.claim.source is OutcomeSource.NONE
                else ReloadVerdict(ReloadEnding.REFUSED, observation.worker)
            )
        return None if observation.at < self._limit(observation) else self._decide_at_limit(observation)

    def _is_new(self, worker: Worker | None) -> bool:
        # A worker that started earlier results from an earlier reload.
        return worker is not None and worker != self.before.worker and worker.may_have_started_after(self.began)

    def _decide_unreached(self, observation: Observation) -> ReloadVerdict:
        if observation.worker or not self.known:
            return ReloadVerdict(ReloadEnding.REFUSED, observation.worker)
        return ReloadVerdict(ReloadEnding.ABSENT)

    def _limit(self, observation: Observation) -> float:
        """Return after how many seconds without a change to stop observing."""
        patience = self.patience
        if self._is_at_work(observation):
            return patience.master
        if observation.worker or self.before.master:
            return patience.denied if observation.worker and self.claim.ok is False else patience.worker
        return patience.gone if self.before.worker or self.claim.ok is False else patience.glance

    def _is_at_work(self, observation: Observation) -> bool:
        """Return whether the master is busy: it is starting a new worker, or does not answer while it re-executes itself."""
        known = self.before.master
        if known is None or observation.master is None:
            return known is not None and observation.worker is not None
        return any(worker.pid not in known.pids for worker in observation.master.workers)

    def _decide_at_limit(self, observation: Observation) -> ReloadVerdict:
        if observation.worker:
            text = f"after {observation.at:.0f} s the former worker (pid {observation.worker.pid}) still answers"
            return ReloadVerdict(
                ReloadEnding.REFUSED, observation.worker, text if observation.master or self.before.master else f"{text}; {WITHOUT_MASTER}"
            )
        if self.before.worker and self.claim.ok is False:
            return ReloadVerdict(ReloadEnding.REFUSED, None, f"after {observation.at:.0f} s no worker answers")
        return ReloadVerdict(ReloadEnding.ABSENT if self.known else ReloadEnding.UNSEEN)


def first_alert(log: str) -> str:
    """Return the text of the first alert in HAProxy's log, on one line; empty if there is none."""
    match = _ALERT.search(log)
    return match[1][:_LONGEST_ALERT] if match else ""
