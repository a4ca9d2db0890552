"""The outcome of a change, as a value."""

import pytest

from haproxy_native.commit.change import Outcome


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
