"""A change and its outcome, as values."""

import pytest

from haproxy_native.commit.change import Change, Outcome
from haproxy_native.errors import Conflict


@pytest.mark.parametrize(
    ("stated", "transaction", "message"),
    [
        (2, None, "version in configuration file is 3, given version is 2"),
        (2, "t", "version mismatch, transaction version: 2, configured version: 3"),
    ],
)
def test_another_version_is_a_conflict(stated: int, transaction: str | None, message: str) -> None:
    with pytest.raises(Conflict, match=message):
        Change(lambda document: document, stated, transaction).compare(3)


@pytest.mark.parametrize("stated", [3, None])
def test_the_current_version_and_none_are_in_order(stated: int | None) -> None:
    Change(lambda document: document, stated).compare(3)


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (Outcome(2, live=True), "live"),
        (Outcome(2, "2026-11-22-0"), "scheduled"),
        (Outcome(2, "2026-11-22-0", live=True, forced=True), "reloaded"),
        (Outcome(2), "written"),
    ],
)
def test_an_outcome_has_a_kind(outcome: Outcome, kind: str) -> None:
    assert outcome.kind == kind
