"""Find out from records of reloads and from confirmations whether a change is permanent."""

from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.disk.database import Database
from haproxy_native.features.apply.owners import IN_COMMIT, AwaitedOutcome, Outcomes
from haproxy_native.reload.records import KEPT, TAKEN_BACK, Records


@pytest.fixture
def outcomes(tmp_path: Path) -> Outcomes:
    return Outcomes(Records(Database(tmp_path)), {"yes": True, "no": False}.get)


def test_by_a_reload(outcomes: Outcomes) -> None:
    first, rest = outcomes.records.issue(), outcomes.records.issue()
    assert outcomes.is_permanent(IN_COMMIT) is outcomes.is_permanent(AwaitedOutcome(first.id)) is None and outcomes.is_permanent(
        AwaitedOutcome("2026-01-01-99")
    )
    changes = ({"version": 5, "outcome": KEPT}, {"version": 6, "outcome": TAKEN_BACK})
    outcomes.records.finish(replace(first.failed("refused"), changes=changes, rest_reload_id=rest.id))
    assert (
        outcomes.is_permanent(AwaitedOutcome(first.id, version=5)) is None
        and outcomes.is_permanent(AwaitedOutcome(first.id, version=6)) is False
    )
    outcomes.records.finish(rest.succeeded(1))
    assert outcomes.is_permanent(AwaitedOutcome(first.id, version=5)) is outcomes.is_permanent(AwaitedOutcome(rest.id)) is True


def test_by_a_confirmation(outcomes: Outcomes) -> None:
    loaded = outcomes.records.finish(outcomes.records.issue().succeeded(1)).id
    waits = (
        AwaitedOutcome(confirmation="yes"),
        AwaitedOutcome(loaded, "yes"),
        AwaitedOutcome(confirmation="no"),
        AwaitedOutcome(loaded, "no"),
        AwaitedOutcome(loaded, "later"),
    )
    assert [outcomes.is_permanent(each) for each in waits] == [True, True, False, False, None]
