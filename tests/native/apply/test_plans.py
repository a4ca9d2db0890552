"""Plans that are kept: once, for an hour, a limited number, for nobody else's eyes."""

import os
from contextvars import copy_context
from pathlib import Path

import pytest

from haproxy_native.apply import plans
from haproxy_native.apply.plans import Plans
from haproxy_native.errors import NoPlan
from haproxy_native.request_context import Author, Request, author


def test_once(tmp_path: Path) -> None:
    kept = Plans(tmp_path / "plans")
    token = kept.keep("text/plain", b"\xff secret", {"owner": "a"}, {"backend/a": "1"}, None)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "plans").iterdir()} == {0o600}
    plan = Plans(tmp_path / "plans").take(token)
    assert (plan.kind, plan.body, plan.options, plan.moves, plan.values) == (
        "text/plain",
        b"\xff secret",
        {"owner": "a"},
        {"backend/a": "1"},
        None,
    )
    for wrong in (token, "", "../owners", "x" * 32, "x" * 10_000):
        with pytest.raises(NoPlan, match="there is no plan"):
            kept.take(wrong)


def test_for_an_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Plans(tmp_path)
    monkeypatch.setattr(plans, "SECONDS", -1.0)
    token = kept.keep("text/plain", b"", {}, {}, {})
    with pytest.raises(NoPlan, match="older than an hour"):
        kept.take(token)


def test_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST", 3)
    kept = Plans(tmp_path)
    tokens = []
    for number in range(5):
        tokens.append(kept.keep("text/plain", b"", {}, {}, {}))
        os.utime(tmp_path / f"{tokens[-1]}.json", (0, plans.time.time() - 100 + number))
    assert {path.stem for path in tmp_path.iterdir()} == set(tokens[2:])


def test_another_caller_makes_no_plan_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST", 3)
    kept = Plans(tmp_path)

    def keep(name: str) -> str:
        author.set(Author(name, group="users", request=Request()))
        return kept.keep("text/plain", b"", {}, {}, {})

    token = copy_context().run(keep, "ann")
    os.utime(tmp_path / f"{token}.json", (0, plans.time.time() - 1000))
    for number in range(5):
        other = copy_context().run(keep, "ben")
        os.utime(tmp_path / f"{other}.json", (0, plans.time.time() - 100 + number))
    assert kept.take(token) and kept.take(other) and len(list(tmp_path.iterdir())) == 1


def test_the_oldest_go_where_they_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST_BYTES", 3000)
    kept = Plans(tmp_path)
    tokens = []
    for number in range(4):
        tokens.append(kept.keep("text/plain", b"x" * 900, {}, {}, {}))
        os.utime(tmp_path / f"{tokens[-1]}.json", (0, plans.time.time() - 100 + number))
    assert {path.stem for path in tmp_path.glob("*.json")} == {*tokens[1:]}
