"""Decide which owner may set and delete which members."""

from haproxy_native.features.apply.owners import ITSELF, Owners, digest
from haproxy_native.features.apply.rules import Declaration, OwnershipConflict, Rules
from haproxy_native.request_context import NOBODY

OWNERS = Owners({"a": {"backend/x": {ITSELF: digest(None), "balance": digest("source")}}, "b": {"backend/x": {"mode": digest("http")}}})


def rules(owner: str, **how: bool) -> Rules:
    return Rules(OWNERS, Declaration(owner, {}, **how, author=NOBODY))


def test_what_may_be_set() -> None:
    mine = rules("a")
    assert mine.may_set("backend/x", "balance", "source", "first") and mine.may_set("backend/x", "new", None, 1)
    assert not mine.may_set("backend/x", "mode", "http", "tcp") and not mine.may_set("backend/x", "balance", "by hand", "first")
    assert mine.conflicts == [
        OwnershipConflict("backend/x", "mode", ["b"], "http", "tcp"),
        OwnershipConflict("backend/x", "balance", ["outside"], "by hand", "first"),
    ]


def test_what_is_taken_changes_hands() -> None:
    taking = rules("a", force=True)
    taking.claim("backend/x", "mode", "tcp")
    assert taking.may_set("backend/x", "mode", "http", "tcp")
    assert taking.owners_after.claims == {"a": {"backend/x": {"mode": digest("tcp")}}}


def test_what_goes() -> None:
    assert not rules("a").is_pruned("backend/x"), "b has something in it"
    mine = rules("a")
    assert not mine.may_delete([*mine.deletion_conflicts("backend/x", {"balance": "source", "other": 1})])
    assert [each.member for each in mine.conflicts] == ["other"]
    assert not rules("a", prune=False).may_unset("backend/x", "balance", digest("source"), "source")
    assert rules("a").may_unset("backend/x", "balance", digest("source"), "source")
