"""What objects of the running process were made of, as the journal keeps it: among the keys, whatever it is."""

from contextlib import suppress

from haproxy_native.errors import Missing
from haproxy_native.history import contents
from haproxy_native.history.journal import Journal

# Changes of one object that are searched.
MOST = 20


def before(journal: Journal, entry: int, object_: str) -> bytes | None:
    """What the object was made of before an entry; None where that was not known, or is not kept any more."""
    with suppress(Missing):
        return contents.held(journal.keys, entry, object_)[0]
    return None


def newest(journal: Journal, object_: str) -> list[bytes]:
    """What the object was made of after and before its last changes, the newest first."""
    statement = "SELECT entry FROM held WHERE path = ? ORDER BY entry DESC LIMIT ?"
    entries = journal.keys.execute(statement, (object_, MOST)).fetchall()
    return [data for (entry,) in entries for data in reversed(contents.held(journal.keys, entry, object_)) if data is not None]
