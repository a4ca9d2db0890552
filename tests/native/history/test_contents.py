import random
import sqlite3

import pytest

from haproxy_native.errors import Missing
from haproxy_native.history import contents


def database() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None)
    made.executescript(contents.TABLES)
    return made


def texts(number: int) -> list[bytes]:
    """Each with one line more or less than the one before it."""
    chance, lines, made = random.Random(7), [b"line %d\n" % place for place in range(300)], []
    for version in range(number):
        place = chance.randrange(len(lines))
        lines[place : place + chance.randrange(2)] = [b"version %d\n" % version]
        made.append(b"".join(lines))
    return made


def test_each_version_comes_back_byte_for_byte() -> None:
    base, versions = database(), texts(250)
    for number, (before, after) in enumerate(zip([None, *versions], versions, strict=False)):
        contents.hold(base, number, "haproxy.cfg", before, after)
    order = list(range(250))
    random.Random(1).shuffle(order)
    for number in order:
        assert contents.held(base, number, "haproxy.cfg") == (versions[number - 1] if number else None, versions[number])
    stored = base.execute("SELECT sum(length(data)), count(*), max(chain) FROM content").fetchone()
    assert stored[0] < 60 * 250 and stored[1] == 250 and stored[2] == contents.LONGEST_CHAIN


def test_the_same_content_is_kept_once() -> None:
    base = database()
    contents.hold(base, 1, "a", None, b"one\n" * 99)
    contents.hold(base, 2, "a", b"one\n" * 99, b"two\n")
    contents.hold(base, 3, "a", b"two\n", b"one\n" * 99)
    assert base.execute("SELECT count(*) FROM content").fetchone() == (2,)


def test_what_later_contents_are_made_of_stays() -> None:
    base, versions = database(), texts(30)
    for number, (before, after) in enumerate(zip([None, *versions], versions, strict=False)):
        contents.hold(base, number, "haproxy.cfg", before, after)
    contents.forget(base, 20)
    for number in range(20, 30):
        assert contents.held(base, number, "haproxy.cfg") == (versions[number - 1], versions[number])
    with pytest.raises(Missing):
        contents.held(base, 19, "haproxy.cfg")
    contents.forget(base, 30)
    assert base.execute("SELECT count(*) FROM content").fetchone() == (0,)
