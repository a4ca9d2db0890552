import math
import random

import pytest

from haproxy_native.confirmations.guard import BAD, DEVIATIONS, GOOD, INCONCLUSIVE, Count, Guard, Seen, judge, rise

GUARD = Guard(errors=2, ready=True)
READY = {"app": 2}


def verdict(
    before: tuple[int, int], after: tuple[int, int], seconds: float = 60, now: int = 2, looks: int = 3, guard: Guard = GUARD
) -> tuple[str, str]:
    seen = Seen({"backends": Count(*before)}, {"backends": Count(*after)}, READY, [{"app": now}] * looks, seconds)
    found = judge(guard, seen)
    return found.result, "; ".join(found.reasons)


@pytest.mark.parametrize(
    ("before", "after", "result"),
    [
        ((12000, 0), (200, 60), BAD),
        ((12000, 12), (12000, 14), GOOD),
        ((12000, 6000), (12000, 6100), GOOD),
        ((600, 0), (50, 50), BAD),
        ((600, 0), (49, 49), INCONCLUSIVE),
        ((0, 0), (200, 60), BAD),
        ((0, 0), (200, 1), GOOD),
        ((3, 0), (200, 200), BAD),
        ((12000, 0), (0, 0), INCONCLUSIVE),
        ((12000, 240), (100, 4), GOOD),
        ((12000, 0), (100000, 1900), GOOD),
        ((12000, 0), (100000, 3000), BAD),
    ],
)
def test_errors(before: tuple[int, int], after: tuple[int, int], result: str) -> None:
    assert verdict(before, after)[0] == result


def test_ready_servers() -> None:
    assert verdict((1000, 0), (1000, 0), now=1) == (BAD, "backend app has 1 ready servers, 2 before")
    assert verdict((1000, 0), (1000, 0), now=1, looks=2)[0] == INCONCLUSIVE
    assert verdict((1000, 0), (1000, 0), now=3)[0] == GOOD
    assert verdict((1000, 0), (1000, 0), now=1, guard=Guard(errors=2))[0] == GOOD
    assert verdict((0, 0), (0, 0), guard=Guard(ready=True))[0] == GOOD
    gone = Seen({}, {}, READY, [{}] * 3, 60)
    assert judge(Guard(ready=True), gone).result == GOOD


def test_reasons_of_what_is_not_good_yet() -> None:
    assert verdict((1000, 0), (10, 0), seconds=20) == (
        INCONCLUSIVE,
        "40 s are left to be watched; 10 requests since the change, and it takes 50",
    )
    assert "60 of 200 requests to backends have failed, 0 of 1000 requests before: more by at least" in verdict((1000, 0), (200, 60))[1]


def test_the_interval() -> None:
    """Its bounds are the shares from which the one seen is that far away; without requests there is nothing to compare with."""
    low, share, high = Count(100, 10).interval
    assert share == 0.1
    for bound in (low, high):
        assert math.isclose(abs(share - bound), DEVIATIONS * math.sqrt(bound * (1 - bound) / 100))
    assert Count().interval == (0, 0, 0) and rise(Count(), Count()) == (0, 0)
    below, above = rise(Count(1000, 10), Count(1000, 10))
    assert below < 0 < above and math.isclose(below, -above)


def failures(chance: random.Random, requests: int, share: float) -> int:
    """How many of them fail, by the gaps between failures."""
    if not share:
        return 0
    count, place = 0, 0
    while (place := place + 1 + int(math.log(1 - chance.random()) / math.log(1 - share))) <= requests:
        count += 1
    return count


@pytest.mark.parametrize("rate", [0, 1, 50, 500])
def test_no_good_change_is_taken_back(rate: int) -> None:
    """1,000 changes that alter nothing, each looked at for a minute; of a server that fails as often before as after."""
    chance = random.Random(rate)
    for _ in range(1000):
        share = chance.choice([0.0, 0.001, 0.01, 0.05])
        before = Count(60 * rate, failures(chance, 60 * rate, share))
        after = Count()
        for second in range(1, 61):
            after += Count(rate, failures(chance, rate, share))
            found = judge(GUARD, Seen({"backends": before}, {"backends": after}, READY, [READY] * 3, second))
            assert found.result != BAD, (share, before, after)
        assert found.result == (GOOD if rate else INCONCLUSIVE)


@pytest.mark.parametrize(("rate", "share", "seconds"), [(200, 0.3, 1), (50, 0.3, 2), (500, 0.08, 3)])
def test_a_bad_change_is_found(rate: int, share: float, seconds: int) -> None:
    chance = random.Random(rate)
    for _ in range(200):
        before, after = Count(60 * rate, failures(chance, 60 * rate, 0.001)), Count()
        for _ in range(seconds):
            after += Count(rate, failures(chance, rate, share))
        assert judge(GUARD, Seen({"backends": before}, {"backends": after}, READY, [], seconds)).result == BAD
