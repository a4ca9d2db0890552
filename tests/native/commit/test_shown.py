"""What changes of the process alone did, by what HAProxy shows before and after."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.commit import shown
from haproxy_native.commit.change import Content, Member
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.shown import Shown, content_changed, looked, members_changed
from haproxy_native.errors import RuntimeAbsent
from haproxy_native.planning.touches import changed
from tests.native.engines import run, running_engine

OBJECT = "certificate/a"


class Kind:
    """Shows one after the other."""

    def __init__(self, *states: Shown | Exception) -> None:
        self.states, self.given = list(states), list[bytes | None]()

    async def look(self, object_: str, given: bytes | None = None) -> Shown:
        self.given.append(given)
        state = self.states.pop(0)
        if isinstance(state, Exception):
            raise state
        return state


def test_members() -> None:
    one, other, none = Shown({"a": 1, "b": 2}), Shown({"a": 1, "b": 3, "c": 4}), Shown(None)
    assert members_changed(OBJECT, one, other) == [Member(OBJECT, "b", 2, 3), Member(OBJECT, "c", None, 4)]
    assert members_changed(OBJECT, none, one) == [Member(OBJECT, "", None, one.members)]
    assert members_changed(OBJECT, one, none) == [Member(OBJECT, "", one.members, None)]
    assert members_changed(OBJECT, one, one) == members_changed(OBJECT, None, one) == members_changed(OBJECT, one, None) == []
    assert content_changed(OBJECT, Shown({}, b"x"), none) == Content(OBJECT, OBJECT, b"x", None)
    assert content_changed(OBJECT, one, other) is None and content_changed(OBJECT, None, None) is None


def test_what_takes_long_or_fails_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Kind):
        async def look(self, object_: str, given: bytes | None = None) -> Shown:
            await asyncio.sleep(60)
            return Shown(None)

    monkeypatch.setattr(shown, "LOOK_SECONDS", 0.01)
    assert run(looked(Slow(), OBJECT)) is None
    assert run(looked(Kind(RuntimeAbsent("gone")), OBJECT)) is None
    assert run(looked(None, OBJECT)) is None


def test_the_one_place_that_looks(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("")
        async with running_engine(tmp_path) as engine:
            kind = Kind(Shown(None), Shown({"a": 1}, b"x"))
            engine.context.process_kinds = {"certificate": kind}

            async def apply() -> None: ...

            outcome = await change_process(engine.context, OBJECT, apply, given=b"x")
            assert outcome.members == [Member(OBJECT, "", None, {"a": 1})] and outcome.held == Content(OBJECT, OBJECT, None, b"x")
            assert kind.given == [None, b"x"]
            await change_process(engine.context, OBJECT, apply, [changed(OBJECT, ["a"])])
            await change_process(engine.context, "map/x", apply)
            assert len(kind.given) == 2

    run(work())
