"""Store plans: each can be applied once, for an hour, and their number is limited."""

import asyncio
from itertools import count
from pathlib import Path

import pytest

from haproxy_native.disk.database import Database
from haproxy_native.errors import NoPlan
from haproxy_native.features.apply import plans
from haproxy_native.features.apply.plans import Plans
from haproxy_native.request_context import Author, Request

ANN = Author("ann", group="users", request=Request())


@pytest.fixture
def kept(tmp_path: Path) -> Plans:
    return Plans(Database(tmp_path))


def keep(kept: Plans, body: bytes = b"", author: Author = ANN) -> str:
    return asyncio.run(kept.store(author, "text/plain", body, {}, {}, {}))


def left(kept: Plans) -> set[str]:
    return {token for (token,) in kept._database.read(lambda state: state.execute("SELECT token FROM plan").fetchall())}


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each call of the clock return a later time than the call before."""
    looks = count(1_000_000)
    monkeypatch.setattr(plans.time, "time", lambda: float(next(looks)))


def test_once(kept: Plans) -> None:
    token = asyncio.run(kept.store(ANN, "text/plain", b"\xff secret", {"owner": "a"}, {"backend/a": "1"}, None))
    for plan in (asyncio.run(kept.get(token)), asyncio.run(Plans(kept._database).pop(token))):
        assert (plan.kind, plan.body, plan.options, plan.moves, plan.values) == (
            "text/plain",
            b"\xff secret",
            {"owner": "a"},
            {"backend/a": "1"},
            None,
        )
    for wrong in (token, "", "../owners", "x" * 32, "x" * 10_000):
        with pytest.raises(NoPlan, match="does not exist"):
            asyncio.run(kept.pop(wrong))


def test_for_an_hour(kept: Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "SECONDS", -1.0)
    token = keep(kept)
    with pytest.raises(NoPlan, match="has expired after an hour"):
        asyncio.run(kept.pop(token))
    assert left(kept) == {token}
    assert left(kept) == {token} != {keep(kept)} == left(kept)


def test_the_oldest_go(kept: Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST", 3)
    tokens = [keep(kept) for _ in range(5)]
    assert left(kept) == set(tokens[2:])


def test_another_caller_makes_no_plan_go(kept: Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST", 3)

    token = keep(kept)
    others = [keep(kept, author=Author("ben", group="users", request=Request())) for _ in range(5)]
    assert left(kept) == {token, *others[-2:]}


def test_the_oldest_go_where_they_are_too_large(kept: Plans, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST_BYTES", 2900)
    tokens = [keep(kept, b"x" * 900) for _ in range(4)]
    assert left(kept) == {*tokens[1:]}
