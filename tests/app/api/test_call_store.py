"""Calls that are kept for a day, on disk and for the process's user alone."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dataplaneapi.api import call_store
from dataplaneapi.api.call_store import LARGEST, CallStore, KeptCall
from haproxy_native.errors import Unusable

NAME, OTHER = "0123-abc", "0123-def"


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def ended(began: KeptCall) -> KeptCall:
    return replace(began, request="12ab", status=201, headers=(("Content-Type", "x"),), ignored=(("X-I", "y"),), body=b"\xff\0 body")


def test_a_call_is_known_while_it_is_made_and_with_its_answer(tmp_path: Path) -> None:
    store = CallStore(tmp_path / "calls")
    assert store.find(NAME) is None
    began = store.begin(NAME)
    assert CallStore(tmp_path / "calls").find(NAME) == began
    store.end(NAME, ended(began), is_secret=False)
    assert CallStore(tmp_path / "calls").find(NAME) == ended(began)
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "calls", tmp_path / "calls" / f"{NAME}.json")] == [0o700, 0o600]
    store.forget(NAME)
    assert store.find(NAME) is None


def test_a_secret_is_in_memory_alone(tmp_path: Path) -> None:
    store = CallStore(tmp_path)
    call = replace(ended(store.begin(NAME)), body=b"the-secret")
    store.end(NAME, call, is_secret=True)
    assert store.find(NAME) == call
    assert CallStore(tmp_path).find(NAME) == replace(call, body=None)


def test_a_long_answer_is_not_kept(tmp_path: Path) -> None:
    store = CallStore(tmp_path)
    call = replace(ended(store.begin(NAME)), body=b"x" * (LARGEST + 1))
    store.end(NAME, call, is_secret=True)
    assert store.find(NAME) == replace(call, body=None)


def test_it_is_kept_for_a_day(tmp_path: Path) -> None:
    store = CallStore(tmp_path, clock := Clock())
    store.end(NAME, ended(store.begin(NAME)), is_secret=True)
    clock.now += 86399
    assert store.find(NAME) is not None
    clock.now += 2
    assert store.find(NAME) is None
    store.begin(OTHER)
    assert [path.stem for path in tmp_path.iterdir()] == [OTHER]


def test_the_oldest_of_a_caller_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_store, "MOST_OF_ONE", 3)
    store, now = CallStore(tmp_path), time.time()
    for number, name in enumerate(["one-a", "two-a", "two-b", "two-c", "two-d"]):
        store.begin(name)
        os.utime(tmp_path / f"{name}.json", (now - 9 + number, now - 9 + number))
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["one-a", "two-b", "two-c", "two-d"]


@pytest.mark.parametrize(("name", "most"), [("MOST", 3), ("MOST_BYTES", 800)])
def test_the_oldest_of_all_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int) -> None:
    monkeypatch.setattr(call_store, name, most)
    monkeypatch.setattr(call_store, "TIDY_SECONDS", 0.0)
    store, now = CallStore(tmp_path), time.time()
    for number, each in enumerate(["a-1", "a-2", "a-3", "a-4", "a-5", "a-6"]):
        store.end(each, replace(store.begin(each), status=201, body=b"x" * 100), is_secret=False)
        os.utime(tmp_path / f"{each}.json", (now - 9 + number, now - 9 + number))
    left = sorted(path.stem for path in tmp_path.iterdir())
    assert left == ["a-1", "a-2", "a-3", "a-4", "a-5", "a-6"][-len(left) :]
    assert 2 <= len(left) <= 4


def test_what_cannot_be_noted_is_not_begun(tmp_path: Path) -> None:
    (tmp_path / "calls").write_text("a file")
    with pytest.raises(Unusable, match="nothing was done"):
        CallStore(tmp_path / "calls").begin(NAME)
    (tmp_path / f"{NAME}.json").write_text("{")
    with pytest.raises(Unusable, match="nothing was done"):
        CallStore(tmp_path).find(NAME)


def test_an_answer_that_the_disk_does_not_take_is_in_memory(tmp_path: Path) -> None:
    store = CallStore(tmp_path / "calls")
    call = ended(store.begin(NAME))
    (tmp_path / "calls" / f"{NAME}.json").unlink()
    (tmp_path / "calls").rmdir()
    store.end(NAME, call, is_secret=False)
    assert store.find(NAME) == call
