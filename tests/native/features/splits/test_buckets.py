"""Shares and buckets, for any weights."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haproxy_native.errors import BadValue
from haproxy_native.features.splits.splits import assigned, shares
from haproxy_native.storage.list_files import BUCKETS

weights = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 1000), min_size=1).filter(lambda each: sum(each.values()) > 0)


def test_rounded_by_the_largest_remainder() -> None:
    assert shares({"v1": 95, "v2": 5}) == {"v1": 95, "v2": 5}
    assert shares({"v1": 1, "v2": 1, "v3": 1}) == {"v1": 34, "v2": 33, "v3": 33}
    assert shares({"v1": 2, "v2": 1}) == {"v1": 67, "v2": 33}
    assert shares({"v1": 0.996, "v2": 0.004}) == {"v1": 100, "v2": 0}


@pytest.mark.parametrize("wrong", [{"v1": 0}, {"v1": 2, "v2": -1}])
def test_no_shares(wrong: dict[str, float]) -> None:
    with pytest.raises(BadValue):
        shares(wrong)


@given(weights)
def test_shares_are_within_one_of_a_hundred(given: dict[str, int]) -> None:
    found, total = shares(given), sum(given.values())
    assert sum(found.values()) == BUCKETS
    assert all(abs(found[name] - BUCKETS * weight / total) < 1 for name, weight in given.items())


@given(st.lists(weights, max_size=4))
def test_who_grows_keeps_all_it_had(steps: list[dict[str, int]]) -> None:
    former: list[str] = []
    for step in steps:
        wanted = shares(step)
        now = assigned(wanted, former)
        assert Counter(now) == Counter({name: share for name, share in wanted.items() if share})
        for name, share in wanted.items():
            had = {bucket for bucket, owner in enumerate(former) if owner == name}
            has = {bucket for bucket, owner in enumerate(now) if owner == name}
            assert had <= has if share >= len(had) else has < had
        former = now


@given(st.lists(st.integers(0, 100), min_size=1, max_size=6))
def test_of_two_each_step_can_be_taken_back(steps: list[int]) -> None:
    first = assigned(shares({"v1": 95, "v2": 5}))
    now = first
    for share in steps:
        now = assigned(shares({"v1": 100 - share, "v2": share}), now)
    assert assigned(shares({"v1": 95, "v2": 5}), now) == first
