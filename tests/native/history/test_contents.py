import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.errors import Missing
from haproxy_native.history import contents
from tests.databases import connected


@pytest.fixture
def base() -> Iterator[sqlite3.Connection]:
    with connected(Path(":memory:")) as made:
        made.executescript(contents.TABLES)
        yield made


def texts(number: int) -> list[bytes]:
    """Each with one line more or less than the one before it."""
    chance, lines, made = random.Random(7), [b"line %d\n" % place for place in range(300)], []
    for version in range(number):
        place = chance.randrange(len(lines))
        lines[place : place + chance.randrange(2)] = [b"version %d\n" % version]
        made.append(b"".join(lines))
    return made


def test_each_version_comes_back_byte_for_byte(base: sqlite3.Connection) -> None:
    versions = texts(250)
    for number, (before, after) in enumerate(zip([None, *versions], versions, strict=False)):
        contents.add_contents(base, number, "haproxy.cfg", before, after)
    order = list(range(250))
    random.Random(1).shuffle(order)
    for number in order:
        assert contents.read_contents(base, number, "haproxy.cfg") == (versions[number - 1] if number else None, versions[number])
    stored = base.execute("SELECT sum(length(data)), count(*), max(chain) FROM content").fetchone()
    assert stored[0] < 60 * 250 and stored[1] == 250 and stored[2] == contents.LONGEST_CHAIN


def test_the_same_content_is_kept_once(base: sqlite3.Connection) -> None:
    contents.add_contents(base, 1, "a", None, b"one\n" * 99)
    contents.add_contents(base, 2, "a", b"one\n" * 99, b"two\n")
    contents.add_contents(base, 3, "a", b"two\n", b"one\n" * 99)
    assert base.execute("SELECT count(*) FROM content").fetchone() == (2,)


def test_what_later_contents_are_made_of_stays(base: sqlite3.Connection) -> None:
    versions = texts(30)
    for number, (before, after) in enumerate(zip([None, *versions], versions, strict=False)):
        contents.add_contents(base, number, "haproxy.cfg", before, after)
    contents.delete_contents(base, 20)
    for number in range(20, 30):
        assert contents.read_contents(base, number, "haproxy.cfg") == (versions[number - 1], versions[number])
    with pytest.raises(Missing):
        contents.read_contents(base, 19, "haproxy.cfg")
    contents.delete_contents(base, 30)
    assert base.execute("SELECT count(*) FROM content").fetchone() == (0,)


def large(number: int) -> bytes:
    return b"".join(b"    server s%d 192.0.2.1:80 weight %d\n" % (place, number if place == 999 else 1) for place in range(5_000))


def test_large_contents_that_hardly_differ_come_back_and_are_kept_as_differences(base: sqlite3.Connection) -> None:
    for number in range(1, 8):
        contents.add_contents(base, number, "haproxy.cfg", large(number - 1), large(number))
        contents.add_contents(base, number, "hosts.map", b"" if number % 2 else None, b"a\n" * number)
    for number in range(1, 8):
        assert contents.read_contents(base, number, "haproxy.cfg") == (large(number - 1), large(number))
    kept = base.execute("SELECT count(*), count(base) FROM content WHERE size > 99999").fetchone()
    assert kept == (8, 7)


def test_of_a_large_content_no_digest_is_made_where_little_differs(base: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, digest = list[int](), contents._digest
    contents.add_contents(base, 1, "haproxy.cfg", None, large(1))
    monkeypatch.setattr(contents, "_digest", lambda data, *of: [sizes.append(len(data)), digest(data, *of)][1])
    contents.add_contents(base, 2, "haproxy.cfg", large(1), large(2))
    assert len(sizes) == 1 and sizes[0] < 200


def test_what_a_file_held_is_known_after_a_restart(tmp_path: Path) -> None:
    for number in (1, 2):
        with connected(tmp_path / "kept.db") as base:
            if number == 1:
                base.executescript(contents.TABLES)
            contents.add_contents(base, number, "haproxy.cfg", large(number), large(number + 1))
            contents.add_contents(base, number, "other.cfg", None, large(50 + number))
    with connected(tmp_path / "kept.db") as base:
        assert contents.read_contents(base, 2, "haproxy.cfg") == (large(2), large(3))
        assert base.execute("SELECT count(*) FROM content WHERE base IS NULL").fetchone() == (2,)


def test_what_was_rolled_back_is_not_taken_for_what_is_there(base: sqlite3.Connection) -> None:
    contents.add_contents(base, 1, "haproxy.cfg", None, large(1))
    base.execute("BEGIN")
    contents.add_contents(base, 2, "haproxy.cfg", large(1), large(2))
    base.execute("ROLLBACK")
    contents.add_contents(base, 2, "other.cfg", None, b"other\n")
    contents.add_contents(base, 3, "haproxy.cfg", large(1), large(2))
    assert contents.read_contents(base, 2, "other.cfg") == (None, b"other\n")
    assert contents.read_contents(base, 3, "haproxy.cfg") == (large(1), large(2))


def test_a_content_that_is_damaged_keeps_none_from_being_added(base: sqlite3.Connection) -> None:
    contents.add_contents(base, 1, "haproxy.cfg", None, large(1))
    base.execute("UPDATE content SET data = x'00'")
    contents._recent.clear()
    contents.add_contents(base, 2, "haproxy.cfg", large(1), large(2))
    with pytest.raises(sqlite3.DatabaseError):
        contents.read_contents(base, 1, "haproxy.cfg")
    contents.add_contents(base, 3, "haproxy.cfg", None, b"other\n")
    assert contents.read_contents(base, 3, "haproxy.cfg") == (None, b"other\n")
