"""Entries of the configuration by its versions."""

from itertools import islice, takewhile

from haproxy_native.commit.context import MOST_UNLOADED
from haproxy_native.history.entries import CONFIGURATION, Entry
from haproxy_native.history.journal import Journal


def newest(journal: Journal, version: int) -> int | None:
    """The id of the newest entry of a version."""
    return next((entry.id for entry in journal.find() if entry.kind == CONFIGURATION and entry.version == version), None)


def text(journal: Journal, version: int) -> bytes | None:
    """What the newest entry of this version has made, or what the entry after it has found."""
    later: Entry | None = None
    for entry in journal.find():
        if entry.kind == CONFIGURATION and entry.version == version:
            return journal.configuration(entry.id).after
        if entry.kind == CONFIGURATION and entry.version < version:
            break
        later = entry if entry.kind == CONFIGURATION else later
    return journal.configuration(later.id).before if later and later.version == version + 1 else None


def since(journal: Journal, version: int) -> list[Entry]:
    """The newest entries of the configuration after a version, the newest first."""
    entries = (entry for entry in journal.find() if entry.kind == CONFIGURATION)
    return list(islice(takewhile(lambda entry: entry.version > version, entries), MOST_UNLOADED))
