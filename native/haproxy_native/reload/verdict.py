"""Decides the outcome of a reload from observations of the sockets. It has no clock and does nothing itself.

What was claimed of a reload (an exit status, an answer of the master's) only says how long to look, and decides where nothing is seen.
"""

import re
from dataclasses import dataclass
from enum import Enum

from haproxy_native.reload.strategies import Outcome, Source
from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.master import judge
from haproxy_native.runtime.responses import Processes

_ALERT = re.compile(r"^\[ALERT\]\s*(?:\(\d+\))?[\s:]*(.*)$", re.MULTILINE)
_LONGEST_ALERT = 500
MASTER_FAILED = "the master reports a failed reload"
WITHOUT_MASTER = "HAProxy's own log may say why; its master socket (setting master_runtime) would have said so at once"


class Ending(Enum):
    """LOADED: a worker with the text answers. REFUSED: HAProxy goes on without it, or ended over it. ABSENT: no worker runs, and nothing
    refused the text. UNSEEN: there is nothing to look through."""

    LOADED = "loaded"
    REFUSED = "refused"
    ABSENT = "absent"
    UNSEEN = "unseen"


@dataclass(frozen=True)
class Look:
    """What the sockets show. `at`: seconds since the strategy returned. `visible`: there are sockets to look through."""

    at: float
    worker: Worker | None = None
    master: Processes | None = None
    visible: bool = True


@dataclass(frozen=True)
class Verdict:
    ending: Ending
    worker: Worker | None = None
    why: str = ""


@dataclass(frozen=True)
class Patience:
    """Seconds. `worker`: how long the former worker may go on answering after a reload that is claimed, `denied` after one that is reported
    to have failed; `master` holds instead while the master is at work. `gone`: how long no worker need answer, `glance` where none did.
    """

    worker: float = 10.0
    denied: float = 3.0
    master: float = 60.0
    gone: float = 2.0
    glance: float = 0.5

    @classmethod
    def of(cls, seconds: float) -> "Patience":
        """Returns the time limits: none longer than `seconds`, except for a working master."""
        return cls(seconds, min(cls.denied, seconds), cls.master, min(cls.gone, seconds), min(cls.glance, seconds))


@dataclass(frozen=True)
class Trial:
    """One reload: what there was before it, what the strategy claimed, when it began (Unix time). `known`: HAProxy is known to run here."""

    before: Look
    claim: Outcome
    began: float
    known: bool
    patience: Patience

    def judged(self, look: Look) -> Verdict | None:
        """Returns the verdict; None while it is undecided and must be judged again."""
        if not look.visible:
            return Verdict(Ending.UNSEEN)
        if self._is_new(look.worker):
            return Verdict(Ending.LOADED, look.worker)
        if look.master and self.before.master and judge(self.before.master, look.master) is False:
            return Verdict(Ending.REFUSED, look.worker, MASTER_FAILED)
        if self.claim.ok is False and self.claim.source is not Source.COMMAND:
            return self._unasked(look) if self.claim.source is Source.NONE else Verdict(Ending.REFUSED, look.worker)
        return None if look.at < self._seconds(look) else self._given_up(look)

    def _is_new(self, worker: Worker | None) -> bool:
        # One that started earlier comes of an earlier reload.
        return worker is not None and worker != self.before.worker and worker.may_have_started_after(self.began)

    def _unasked(self, look: Look) -> Verdict:
        if look.worker or not self.known:
            return Verdict(Ending.REFUSED, look.worker)
        return Verdict(Ending.ABSENT)

    def _seconds(self, look: Look) -> float:
        """How long to look, as long as nothing else is seen."""
        patience = self.patience
        if self._is_at_work(look):
            return patience.master
        if look.worker or self.before.master:
            return patience.denied if look.worker and self.claim.ok is False else patience.worker
        return patience.gone if self.before.worker or self.claim.ok is False else patience.glance

    def _is_at_work(self, look: Look) -> bool:
        """A master with a worker unknown before is starting it; one that does not answer beside a worker that does is executing itself."""
        known = self.before.master
        if known is None or look.master is None:
            return known is not None and look.worker is not None
        return any(worker.pid not in known.pids for worker in look.master.workers)

    def _given_up(self, look: Look) -> Verdict:
        if look.worker:
            text = f"after {look.at:.0f} s the worker of before (pid {look.worker.pid}) still answers"
            return Verdict(Ending.REFUSED, look.worker, text if look.master or self.before.master else f"{text}; {WITHOUT_MASTER}")
        if self.before.worker and self.claim.ok is False:
            return Verdict(Ending.REFUSED, None, f"after {look.at:.0f} s no worker answers")
        return Verdict(Ending.ABSENT if self.known else Ending.UNSEEN)


def first_alert(log: str) -> str:
    """The first reason that HAProxy gives for not starting, on one line; empty where it gives none."""
    match = _ALERT.search(log)
    return match[1][:_LONGEST_ALERT] if match else ""
