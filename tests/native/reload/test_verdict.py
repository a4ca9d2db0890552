"""What is concluded from what is seen."""

import pytest

from haproxy_native.reload.strategies import ReloadClaim, Source
from haproxy_native.reload.verdict import WITHOUT_MASTER, Ending, Look, Patience, Trial, first_alert
from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.responses import Process, Processes

OLD, NEW, BEGAN = Worker(10, 100.25), Worker(20, 1000.5), 1000.0
DONE, FAILED = ReloadClaim(True), ReloadClaim(False, error="exit status 1")
REFUSED, UNASKED = ReloadClaim(False, source=Source.HAPROXY), ReloadClaim(False, source=Source.NONE)
PATIENCE = Patience()


def master(reloads: int = 0, failed: int = 0, workers: tuple[int, ...] = (10,)) -> Processes:
    return Processes(Process(1, "master", reloads, failed, "3.2"), tuple(Process(pid, "worker", 0, 0, "3.2") for pid in workers), ())


def ending(claim: ReloadClaim, look: Look, before: Look, *, known: bool = True) -> Ending | None:
    verdict = Trial(before, claim, BEGAN, known, PATIENCE).judged(look)
    return verdict.ending if verdict else None


HERE, NOT_HERE = Look(0.0, OLD), Look(0.0)
SEEN = [
    # a new worker counts, whatever was claimed
    (DONE, Look(0.1, NEW), HERE, Ending.LOADED),
    (FAILED, Look(0.1, NEW), HERE, Ending.LOADED),
    (REFUSED, Look(0.1, NEW), HERE, Ending.LOADED),
    (FAILED, Look(0.1, NEW), NOT_HERE, Ending.LOADED),
    # the former one is looked at for a while
    (DONE, Look(9.9, OLD), HERE, None),
    (DONE, Look(10.0, OLD), HERE, Ending.REFUSED),
    (FAILED, Look(2.9, OLD), HERE, None),
    (FAILED, Look(3.0, OLD), HERE, Ending.REFUSED),
    # what HAProxy says itself is final, and so is a reload that nobody was asked for
    (REFUSED, Look(0.0, OLD), HERE, Ending.REFUSED),
    (REFUSED, Look(0.0), NOT_HERE, Ending.REFUSED),
    (UNASKED, Look(0.0, OLD), HERE, Ending.REFUSED),
    (UNASKED, Look(0.0), NOT_HERE, Ending.ABSENT),
    # none before, none after
    (DONE, Look(0.4), NOT_HERE, None),
    (DONE, Look(0.5), NOT_HERE, Ending.ABSENT),
    (FAILED, Look(1.9), NOT_HERE, None),
    (FAILED, Look(2.0), NOT_HERE, Ending.ABSENT),
    # one that began before, and did not answer then
    (DONE, Look(9.9, OLD), NOT_HERE, None),
    (DONE, Look(10.0, OLD), NOT_HERE, Ending.REFUSED),
    # gone meanwhile: by the command where it says that it failed
    (DONE, Look(2.0), HERE, Ending.ABSENT),
    (FAILED, Look(2.0), HERE, Ending.REFUSED),
    (UNASKED, Look(0.0), HERE, Ending.ABSENT),
]


@pytest.mark.parametrize(("claim", "look", "before", "expected"), SEEN)
def test_what_is_seen(claim: ReloadClaim, look: Look, before: Look, expected: Ending | None) -> None:
    assert ending(claim, look, before) == expected


@pytest.mark.parametrize("claim", [DONE, FAILED, ReloadClaim(None)])
def test_the_claim_decides_where_no_haproxy_was_ever_seen(claim: ReloadClaim) -> None:
    assert ending(claim, Look(2.0), NOT_HERE, known=False) == Ending.UNSEEN
    assert ending(claim, Look(0.0, visible=False), HERE) == Ending.UNSEEN, "the text has no socket any more"


def test_where_the_reason_can_be_read_without_a_master_socket() -> None:
    for before, named in ((HERE, True), (Look(0.0, OLD, master()), False)):
        verdict = Trial(before, DONE, BEGAN, True, PATIENCE).judged(Look(60.0, OLD, before.master))
        assert verdict and (WITHOUT_MASTER in verdict.why) is named


def test_what_a_master_shows() -> None:
    before = Look(0.0, OLD, master())
    assert ending(DONE, Look(0.0, OLD, master(1, 1, ())), before) == Ending.REFUSED
    assert ending(FAILED, Look(30.0, OLD, master(1, 0, (20,))), before) is None, "it is starting a worker"
    assert ending(FAILED, Look(60.0, OLD, master(1, 0, (20,))), before) == Ending.REFUSED
    assert ending(DONE, Look(30.0, OLD, None), before) is None, "it is executing itself"
    assert ending(DONE, Look(9.0, None, None), before) is None
    assert ending(DONE, Look(10.0, None, None), before) == Ending.ABSENT


def test_patience_is_no_longer_than_asked() -> None:
    assert Patience.of(0.1) == Patience(0.1, 0.1, 60.0, 0.1, 0.1)
    assert Patience.of(10.0) == Patience()


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
