"""How often credentials may be wrong."""

import tracemalloc

import pytest

from dataplaneapi.auth import guessing
from dataplaneapi.auth.guessing import PER_ADDRESS, PER_NAME, SECONDS, Guessing, pair

ANN = ("192.0.2.1", "ann")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def failed(limit: Guessing, *pairs: tuple[str, str], times: int = 1) -> Guessing:
    for each in pairs:
        for _ in range(times):
            limit.fail(each)
    return limit


def test_five_of_a_name_at_an_address_within_a_minute() -> None:
    clock = Clock()
    limit = Guessing(clock)
    for _ in range(PER_NAME):
        assert limit.wait(ANN) == 0
        limit.fail(ANN)
        clock.now += 10
    assert limit.wait(ANN) == 10
    assert not limit.wait(("192.0.2.1", "bob")) and not limit.wait(("192.0.2.2", "ann"))
    clock.now += 10
    assert limit.wait(ANN) == 0
    limit.fail(ANN)
    assert limit.wait(ANN) == 10, "the window slides: four of the first five still count"


def test_ten_times_that_of_an_address() -> None:
    limit = Guessing(Clock())
    failed(limit, *(("192.0.2.1", str(number)) for number in range(PER_ADDRESS)))
    assert limit.wait(("192.0.2.1", "never tried")) == SECONDS
    assert not limit.wait(("192.0.2.2", "0"))


def test_a_success_clears_its_pair_alone() -> None:
    limit = failed(Guessing(Clock()), ANN, ("192.0.2.1", "bob"), ("192.0.2.2", "ann"), times=PER_NAME)
    limit.succeed(ANN)
    assert limit.wait(ANN) == 0 and limit.has_succeeded(ANN)
    assert limit.wait(("192.0.2.1", "bob")) and limit.wait(("192.0.2.2", "ann")) and not limit.has_succeeded(("192.0.2.1", "bob"))
    assert len(limit) == 2 * PER_NAME


def test_one_address_with_many_names_forgets_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is over its own limit, and what it has failed is no more than that."""
    monkeypatch.setattr(guessing, "MOST_FAILURES", 2 * PER_ADDRESS)
    limit = failed(Guessing(Clock()), ANN, times=PER_NAME)
    for number in range(1000):
        attacker = "192.0.2.66", str(number)
        if not limit.wait(attacker):
            limit.fail(attacker)
    assert limit.wait(ANN) and len(limit) == PER_NAME + PER_ADDRESS


def test_of_many_addresses_the_one_that_failed_the_longest_ago_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guessing, "MOST_FAILURES", 100)
    limit = failed(Guessing(Clock()), ANN, times=PER_NAME)
    for number in range(1000):
        failed(limit, (f"address {number}", "x"))
        if number == 50:
            assert limit.wait(ANN)
        assert len(limit) <= 100
    assert not limit.wait(ANN)


def test_successes_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guessing, "MOST_SUCCESSES", 2)
    limit = Guessing(Clock())
    for name in ("a", "b", "a", "c"):
        limit.succeed(("192.0.2.1", name))
    assert [limit.has_succeeded(("192.0.2.1", name)) for name in "abc"] == [True, False, True]


def test_what_counts_no_more_is_forgotten() -> None:
    clock = Clock()
    limit = Guessing(clock)
    for number in range(10_000):
        clock.now += SECONDS / 20
        failed(limit, ("192.0.2.1", "slow"), (f"address {number}", "x"))
        assert len(limit) <= 42
    limit.succeed(("192.0.2.1", "slow"))
    assert len(limit) <= 21


def test_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a tenth of the failures that are remembered, the longest names and each from an address of its own."""
    tenth = guessing.MOST_FAILURES // 10
    monkeypatch.setattr(guessing, "MOST_FAILURES", tenth)
    pairs = [pair(f"2001:db8:{number:x}::", f"{number:070}\U0001f600") for number in range(tenth + 500)]
    tracemalloc.start()
    try:
        limit = Guessing(Clock())
        for each in pairs:
            limit.fail((each[0] + "", each[1] + ""))
        assert len(limit) == tenth
        assert tracemalloc.get_traced_memory()[0] < 3 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("unix", "unix"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
    ],
)
def test_pairs(address: str, counted: str) -> None:
    assert pair(address, "x" * 100) == (counted, "x" * 64)
