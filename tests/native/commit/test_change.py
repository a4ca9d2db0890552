"""The outcome of a change, as a value."""

import pytest

from haproxy_native.changes.operations import Delete, Replace
from haproxy_native.commit.change import Change, Outcome
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.object_names import ObjectPlace
from haproxy_native.planning.observed import Claim
from haproxy_native.request_context import NOBODY


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


def test_a_put_claims_its_server_also_among_other_operations() -> None:
    """As in a batch; one that renames does not."""
    resources = standard_editor().resources
    one, two, other = (ObjectPlace(resources["servers"], (resources["backends"], "app"), name) for name in ("one", "two", "other"))
    change = Change([Delete(other), Replace(one, {}), Replace(two, {}, claims=False)], author=NOBODY)
    assert change.claimed == {Claim("app", "one")}
