"""Claims, and the file that keeps them."""

import os
from pathlib import Path

import pytest

from haproxy_native.apply.owners import OwnerFile, Owners, digest, is_of
from haproxy_native.errors import Unusable

OWNERS = Owners({"a": {"backend/x": {"": digest(None), "balance": digest("source")}}, "b": {"backend/x/server/s": {"": digest(None)}}})


def test_others() -> None:
    assert OWNERS.others("b", "backend/x", "balance") == ["a"] and OWNERS.others("a", "backend/x", "balance") == []
    assert list(OWNERS.within("a", "backend/x")) == [("b", "backend/x/server/s")] and list(OWNERS.within("b", "backend/x")) == [
        ("a", "backend/x")
    ]


def test_in_the_place_of_former_ones() -> None:
    now = OWNERS.with_claims("b", {"backend/y": {"": "1"}}, {"a": {("backend/x", "balance")}})
    assert now.claims == {"a": {"backend/x": {"": digest(None)}}, "b": {"backend/y": {"": "1"}}}
    assert now.with_claims("b", {}, {}).claims.keys() == {"a"}


def test_of_an_object_with_another_name() -> None:
    moved = OWNERS.renamed("backend/x", "backend/y")
    assert {owner: list(claims) for owner, claims in moved.claims.items()} == {"a": ["backend/y"], "b": ["backend/y/server/s"]}
    assert OWNERS.renamed("backend/x/server/s", "backend/x/server/t").of("b") == {"backend/x/server/t": {"": digest(None)}}
    both = OWNERS.joined(moved)
    assert both.of("a").keys() == {"backend/x", "backend/y"} and both.renamed("backend/x", "backend/y") == moved


def test_two_values_while_a_change_is_made() -> None:
    both = f"{digest(1)},{digest(2)}"
    assert is_of(both, 1) and is_of(both, 2) and not is_of(both, 3) and not is_of(None, None)


def test_the_file(tmp_path: Path) -> None:
    path = tmp_path / "owners.json"
    assert OwnerFile(path).owners == Owners()
    OwnerFile(path).write(OWNERS)
    assert OwnerFile(path).owners == OWNERS
    path.write_text('{"owners')
    with pytest.raises(Unusable, match="owners.json"):
        _ = OwnerFile(path).owners
    if os.geteuid():
        tmp_path.chmod(0o500)
        with pytest.raises(Unusable, match="cannot write the owners"):
            OwnerFile(path).write(OWNERS)
