import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.webhooks.queue import Limits, Queue


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    made = Queue(tmp_path / "webhooks", Limits(number=5, size=1000, seconds=60))
    yield made
    made.close()


def bodies(queue: Queue, name: str = "a", now: float = 0.0) -> list[tuple[int, bytes]]:
    found, after = [], 0
    while waiting := queue.next(name, after, now):
        found.append((waiting.sequence, waiting.body))
        after = waiting.sequence
    return found


def test_each_webhook_has_its_own_in_order(queue: Queue) -> None:
    queue.add({"a": [b"1", b"2"], "b": [b"3"]}, 0)
    queue.add({"a": [b"4"]}, 1)
    assert bodies(queue) == [(1, b"1"), (2, b"2"), (3, b"4")] and bodies(queue, "b") == [(1, b"3")]
    queue.remove("a", 2)
    assert bodies(queue) == [(3, b"4")] and (queue.count("a"), queue.oldest("a")) == (1, 1.0)
    queue.remove("a", 3)
    assert bodies(queue) == [] and queue.oldest("a") is None


def test_the_oldest_go_beyond_a_limit(queue: Queue) -> None:
    queue.add({"a": [b"%d" % number for number in range(8)]}, 0)
    assert [body for _, body in bodies(queue)] == [b"3", b"4", b"5", b"6", b"7"] and queue.dropped == {"a": 3}
    queue.add({"a": [b"x" * 998, b"y"]}, 30)
    assert [body for _, body in bodies(queue)] == [b"7", b"x" * 998, b"y"]
    queue.add({"a": [b"z" * 2000]}, 59)
    assert [body for _, body in bodies(queue)] == [b"z" * 2000], "the newest stays however long it is"
    assert bodies(queue, now=120) == [] and queue.dropped == {"a": 11} and queue.count("a") == 0


def test_it_is_kept_over_a_restart(tmp_path: Path) -> None:
    first = Queue(tmp_path, Limits())
    first.add({"a": [b"1", b"2"]}, 0)
    first.remove("a", 1)
    first.close()
    second = Queue(tmp_path, Limits())
    assert bodies(second) == [(2, b"2")] and second.count("a") == 1
    second.add({"a": [b"3"]}, 0)
    assert bodies(second)[-1] == (3, b"3")
    second.close()
    assert (tmp_path / "queue.db").stat().st_mode & 0o777 == 0o600


def test_a_number_is_left_out_after_a_kill(tmp_path: Path) -> None:
    killed = Queue(tmp_path, Limits())
    killed.add({"a": [b"1"]}, 0)
    second = Queue(tmp_path, Limits())
    second.add({"a": [b"2"]}, 0)
    second.skip(["a"])
    second.add({"a": [b"3"]}, 0)
    assert [number for number, _ in bodies(second)] == [1, 3, 5]
    second.close()


def test_what_waits_for_others_is_deleted(queue: Queue) -> None:
    queue.add({"a": [b"1"], "b": [b"2"]}, 0)
    assert queue.keep_only(["b"]) == {"a": 1}
    assert bodies(queue) == [] and bodies(queue, "b") and queue.keep_only(["b"]) == {}
    queue.add({"a": [b"3"]}, 0)
    assert bodies(queue) == [(1, b"3")]


def test_a_full_disk_takes_all_or_nothing(queue: Queue) -> None:
    queue.add({"a": [b"1"]}, 0)
    pages = queue._database.execute("PRAGMA page_count").fetchone()[0]
    queue._database.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(sqlite3.OperationalError, match="full"):
        queue.add({"b": [b"2"], "a": [b"x" * 100_000]}, 0)
    assert bodies(queue) == [(1, b"1")] and bodies(queue, "b") == [] and queue.count("a") == 1
    queue._database.execute("PRAGMA max_page_count=1000000")
    queue.add({"a": [b"3"]}, 0)
    assert bodies(queue) == [(1, b"1"), (2, b"3")]
