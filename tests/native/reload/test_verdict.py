"""What is concluded from what is seen."""

import pytest

from haproxy_native.reload.strategies import OutcomeSource, ReloadClaim
from haproxy_native.reload.verdict import WITHOUT_MASTER, Observation, Patience, ReloadEnding, Trial, first_alert
from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.responses import ListedProcess, Processes

OLD, NEW, BEGAN = Worker(10, 100.25), Worker(20, 1000.5), 1000.0
DONE, FAILED = ReloadClaim(True), ReloadClaim(False, error="exit status 1")
REFUSED, UNASKED = ReloadClaim(False, source=OutcomeSource.HAPROXY), ReloadClaim(False, source=OutcomeSource.NONE)
PATIENCE = Patience()


def master(reloads: int = 0, failed: int = 0, workers: tuple[int, ...] = (10,)) -> Processes:
    return Processes(
        ListedProcess(1, "master", reloads, failed, "3.2"), tuple(ListedProcess(pid, "worker", 0, 0, "3.2") for pid in workers), ()
    )


def ending(claim: ReloadClaim, look: Observation, before: Observation, *, known: bool = True) -> ReloadEnding | None:
    verdict = Trial(before, claim, BEGAN, known, PATIENCE).decide(look)
    return verdict.ending if verdict else None


HERE, NOT_HERE = Observation(0.0, OLD), Observation(0.0)
SEEN = [
    # a new worker counts, whatever was claimed
    (DONE, Observation(0.1, NEW), HERE, ReloadEnding.LOADED),
    (FAILED, Observation(0.1, NEW), HERE, ReloadEnding.LOADED),
    (REFUSED, Observation(0.1, NEW), HERE, ReloadEnding.LOADED),
    (FAILED, Observation(0.1, NEW), NOT_HERE, ReloadEnding.LOADED),
    # the former one is looked at for a while
    (DONE, Observation(9.9, OLD), HERE, None),
    (DONE, Observation(10.0, OLD), HERE, ReloadEnding.REFUSED),
    (FAILED, Observation(2.9, OLD), HERE, None),
    (FAILED, Observation(3.0, OLD), HERE, ReloadEnding.REFUSED),
    # what HAProxy says itself is final, and so is a reload that nobody was asked for
    (REFUSED, Observation(0.0, OLD), HERE, ReloadEnding.REFUSED),
    (REFUSED, Observation(0.0), NOT_HERE, ReloadEnding.REFUSED),
    (UNASKED, Observation(0.0, OLD), HERE, ReloadEnding.REFUSED),
    (UNASKED, Observation(0.0), NOT_HERE, ReloadEnding.ABSENT),
    # none before, none after
    (DONE, Observation(0.4), NOT_HERE, None),
    (DONE, Observation(0.5), NOT_HERE, ReloadEnding.ABSENT),
    (FAILED, Observation(1.9), NOT_HERE, None),
    (FAILED, Observation(2.0), NOT_HERE, ReloadEnding.ABSENT),
    # one that began before, and did not answer then
    (DONE, Observation(9.9, OLD), NOT_HERE, None),
    (DONE, Observation(10.0, OLD), NOT_HERE, ReloadEnding.REFUSED),
    # gone meanwhile: by the command where it says that it failed
    (DONE, Observation(2.0), HERE, ReloadEnding.ABSENT),
    (FAILED, Observation(2.0), HERE, ReloadEnding.REFUSED),
    (UNASKED, Observation(0.0), HERE, ReloadEnding.ABSENT),
]


@pytest.mark.parametrize(("claim", "look", "before", "expected"), SEEN)
def test_what_is_seen(claim: ReloadClaim, look: Observation, before: Observation, expected: ReloadEnding | None) -> None:
    assert ending(claim, look, before) == expected


@pytest.mark.parametrize("claim", [DONE, FAILED, ReloadClaim(None)])
def test_the_claim_decides_where_no_haproxy_was_ever_seen(claim: ReloadClaim) -> None:
    assert ending(claim, Observation(2.0), NOT_HERE, known=False) == ReloadEnding.UNSEEN
    assert ending(claim, Observation(0.0, visible=False), HERE) == ReloadEnding.UNSEEN, "the text has no socket any more"


def test_where_the_reason_can_be_read_without_a_master_socket() -> None:
    for before, named in ((HERE, True), (Observation(0.0, OLD, master()), False)):
        verdict = Trial(before, DONE, BEGAN, True, PATIENCE).decide(Observation(60.0, OLD, before.master))
        assert verdict and (WITHOUT_MASTER in verdict.why) is named


def test_what_a_master_shows() -> None:
    before = Observation(0.0, OLD, master())
    assert ending(DONE, Observation(0.0, OLD, master(1, 1, ())), before) == ReloadEnding.REFUSED
    assert ending(FAILED, Observation(30.0, OLD, master(1, 0, (20,))), before) is None, "it is starting a worker"
    assert ending(FAILED, Observation(60.0, OLD, master(1, 0, (20,))), before) == ReloadEnding.REFUSED
    assert ending(DONE, Observation(30.0, OLD, None), before) is None, "it is executing itself"
    assert ending(DONE, Observation(9.0, None, None), before) is None
    assert ending(DONE, Observation(10.0, None, None), before) == ReloadEnding.ABSENT


def test_patience_is_no_longer_than_asked() -> None:
    assert Patience.from_seconds(0.1) == Patience(0.1, 0.1, 60.0, 0.1, 0.1)
    assert Patience.from_seconds(10.0) == Patience()


@pytest.mark.parametrize(
    ("log", "alert"),
    [
        (
            "[NOTICE] (1) : starts\n[ALERT]    (5323) : log directive uses unknown ring\n[ALERT] (1) : more",
            "log directive uses unknown ring",
        ),
        ("[ALERT]    (785) : config : unknown keyword", "config : unknown keyword"),
        ("all is well", ""),
        ("", ""),
    ],
)
def test_the_first_alert(log: str, alert: str) -> None:
    assert first_alert(log) == alert
