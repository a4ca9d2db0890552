"""One change of an object among later ones, and what it comes to."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.commit.change import Member
from haproxy_native.commit.shown import Shown
from haproxy_native.errors import Conflict
from haproxy_native.process_objects.object_kind import ObjectKind
from tests.native.engines import run
from tests.native.history.test_history import entries, recorded

OBJECT = "certificate/a"


class Kind(ObjectKind):
    shown: Sequence[Shown] = ()

    async def look(self, object_: str, given: bytes | None = None) -> Shown:
        first, *self.shown = self.shown
        return first

    async def make(self, object_: str, now: Shown, wanted: Shown) -> None:
        raise NotImplementedError

    def stays(self, member: str) -> bool:
        return member != "passing"


def without(now: dict[str, Any] | None, *changed: tuple[str, Any, Any]) -> Any:
    left = Kind(None).without(OBJECT, now, [Member(OBJECT, *each) for each in changed])  # type: ignore[arg-type]
    return left and left.members


def test_what_is_left() -> None:
    assert without({"a": 2, "b": 9}, ("a", 1, 2)) == {"a": 1, "b": 9}
    assert without({"a": 1}, ("a", 1, 2)) is None
    assert without({"a": 2, "passing": 5}, ("a", 1, 2), ("passing", 3, 4)) == {"a": 1, "passing": 3}
    assert without(None, ("", {"a": 1}, None)) == {"a": 1}
    assert without({"a": 1}, ("", {"a": 1}, None)) is None and without(None, ("", None, {"a": 1})) is None


@pytest.mark.parametrize(
    ("now", "change", "words"),
    [
        ({"a": 3}, ("a", 1, 2), "a of certificate/a is 3 by now, not 2; to come back: 1"),
        ({"a": 3}, ("", None, {"a": 1}), "a of certificate/a is 3 by now, not 1; it would go"),
        (None, ("a", 1, 2), "certificate/a is gone by now"),
        ({"a": 3}, ("", {"a": 1}, None), "certificate/a is there again by now"),
    ],
)
def test_collisions(now: dict[str, Any] | None, change: tuple[str, Any, Any], words: str) -> None:
    with pytest.raises(Conflict, match=words):
        without(now, change)


def test_what_another_call_takes_back_meanwhile_is_no_change(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            kind = Kind(engine.context)
            kind.shown = [Shown({"a": 2}), Shown({"a": 1})]
            assert await kind.take_back([Member(OBJECT, "a", 1, 2)], None) is None
            assert await entries(history) == []

    run(work())
