"""Compute and store claims of owners."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.disk.database import Database
from haproxy_native.errors import Unusable
from haproxy_native.features.apply.owners import IN_COMMIT, AwaitedOutcome, Owners, OwnerTable, digest, is_claimed
from tests.databases import damage

OWNERS = Owners({"a": {"backend/x": {"": digest(None), "balance": digest("source")}}, "b": {"backend/x/server/s": {"": digest(None)}}})


def test_others() -> None:
    assert OWNERS.other_owners("b", "backend/x", "balance") == ["a"] and OWNERS.other_owners("a", "backend/x", "balance") == []
    assert list(OWNERS.other_owners_within("a", "backend/x")) == [("b", "backend/x/server/s")] and list(
        OWNERS.other_owners_within("b", "backend/x")
    ) == [("a", "backend/x")]


def test_in_the_place_of_former_ones() -> None:
    now = OWNERS.with_claims("b", {"backend/y": {"": "1"}}, {"a": {("backend/x", "balance")}})
    assert now.claims == {"a": {"backend/x": {"": digest(None)}}, "b": {"backend/y": {"": "1"}}}
    assert now.with_claims("b", {}, {}).claims.keys() == {"a"}


def test_of_an_object_with_another_name() -> None:
    moved = OWNERS.renamed("backend/x", "backend/y")
    assert {owner: list(claims) for owner, claims in moved.claims.items()} == {"a": ["backend/y"], "b": ["backend/y/server/s"]}
    assert OWNERS.renamed("backend/x/server/s", "backend/x/server/t").claims_of("b") == {"backend/x/server/t": {"": digest(None)}}
    both = moved.with_former_claims(OWNERS, IN_COMMIT)
    assert both.claims_of("a").keys() == {"backend/x", "backend/y"} and both.claims == moved.claims


def made_of(*weights: int | None) -> Owners:
    """Return the owners after declarations of these weights in turn, each waiting for its own reload. None declares no weight."""
    owners = Owners()
    for number, weight in enumerate(weights):
        claims = {} if weight is None else {"server/s": {"": "0", "weight": digest(weight)}}
        owners = owners.with_claims("a", claims, {}).with_former_claims(owners, AwaitedOutcome(str(number), version=number))
    return owners


@pytest.mark.parametrize(
    ("outcomes", "left"),
    [
        ({}, [1, 2, 3]),
        ({"0": True}, [1, 2, 3]),
        ({"0": True, "1": True}, [2, 3]),
        ({"0": True, "1": True, "2": True}, [3]),
        ({"0": True, "1": False}, [1, 3]),
        ({"0": True, "1": True, "2": False}, [2]),
        ({"0": True, "1": False, "2": False}, [1]),
        ({"0": False, "1": False, "2": False}, []),
    ],
)
def test_what_waits_for_reloads(outcomes: dict[str, bool], left: list[int]) -> None:
    owners = made_of(1, 2, 3)
    settled = owners.with_known_outcomes(lambda wait: outcomes.get(wait.reload))
    own = settled.claims_of("a").get("server/s", {}).get("weight")
    assert [weight for weight in (1, 2, 3) if is_claimed(own, weight)] == left
    assert (settled is owners) == (not outcomes) and (not settled.former) == (len(outcomes) == 3)


def test_what_is_abandoned_by_a_reload() -> None:
    owners = made_of(1, None)
    assert owners.other_owners("b", "server/s", "weight") == [] and owners.claims_of("a")["server/s"], (
        "it is there still, and nobody declares it"
    )
    assert owners.with_known_outcomes(lambda wait: True) == Owners()
    assert owners.with_known_outcomes(lambda wait: wait.reload == "0").claims["a"]["server/s"]["weight"] == digest(1)
    assert made_of(*range(20)).former["a"][0].claims == {} and len(made_of(*range(20)).former["a"]) == 4


def test_a_commit_that_was_cut_off(tmp_path: Path) -> None:
    database, now = Database(tmp_path), OWNERS.with_claims("a", {"backend/x": {"balance": digest("first")}}, {})
    asyncio.run(OwnerTable(database).write(now.with_former_claims(OWNERS, IN_COMMIT)))
    own = OwnerTable(database).owners
    database.close()
    assert own.former == {} and own.claims["b"] == OWNERS.claims["b"]
    assert all(is_claimed(own.claims["a"]["backend/x"]["balance"], value) for value in ("source", "first"))


def test_two_values_while_a_change_is_made() -> None:
    both = f"{digest(1)},{digest(2)}"
    assert is_claimed(both, 1) and is_claimed(both, 2) and not is_claimed(both, 3) and not is_claimed(None, None)


def test_the_table(tmp_path: Path) -> None:
    database = Database(tmp_path / "state")
    table = OwnerTable(database)
    assert table.owners == Owners()
    waiting = Owners().with_former_claims(OWNERS, AwaitedOutcome("1", "2", 3))
    for owners in (OWNERS, waiting, OWNERS):
        asyncio.run(table.write(owners))
        assert OwnerTable(database).owners == owners == table.owners
    asyncio.run(damage(database))
    later = OwnerTable(database)
    with pytest.raises(Unusable, match=r"state\.db"):
        _ = later.owners
    with pytest.raises(Unusable, match=r"state\.db"):
        asyncio.run(table.write(Owners()))
    assert table.owners == OWNERS
    (tmp_path / "state").rename(tmp_path / "damaged")
    assert later.owners == Owners()
    database.close()
