"""What objects of the process were made of: kept among the keys, in no entry and no file of the history."""

from pathlib import Path

from haproxy_native.commit.change import Content, Outcome
from haproxy_native.history import held
from haproxy_native.history.entries import RUNTIME, Entry, Record
from haproxy_native.history.journal import Journal, Limits
from haproxy_native.request_context import Author

OBJECT = "certificate/a.pem"


def entered(journal: Journal, before: bytes | None, after: bytes | None) -> int:
    entry = Entry(0.0, 1, RUNTIME, Outcome(1, lasting=False).kind, Author("ann"))
    return journal.add(Record(entry, objects=[OBJECT], held=Content(OBJECT, OBJECT, before, after)))


def test_the_newest_first(tmp_path: Path) -> None:
    journal = Journal(tmp_path, Limits())
    first, second = entered(journal, None, b"one"), entered(journal, b"one", b"two")
    assert held.before(journal, first, OBJECT) is None and held.before(journal, second, OBJECT) == b"one"
    assert held.before(journal, 99, OBJECT) is None
    assert held.newest(journal, OBJECT) == [b"two", b"one", b"one"] and held.newest(journal, "certificate/b.pem") == []
    assert journal.paths() == [] and journal.contents(second) == []
    assert b"two" not in (tmp_path / "history.db").read_bytes() and (tmp_path / "keys.db").stat().st_mode & 0o077 == 0
    journal.close()
