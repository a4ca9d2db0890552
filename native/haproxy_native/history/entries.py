"""The entries of the history as values, and their conversion from changes and records of reloads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from haproxy_native.commit.change import Change, Content, MemberChange, Outcome
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.object_names import object_of_section
from haproxy_native.reload.records import ReloadRecord
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document
from haproxy_native.text.section import BOUNDARY

# What an entry is about.
CONFIGURATION, FILE, RUNTIME = "configuration", "file", "runtime"


@dataclass(frozen=True)
class Entry:
    """One change in the history."""

    # Unix time.
    time: float
    # The version of the configuration after the change.
    version: int
    # CONFIGURATION, FILE or RUNTIME.
    kind: str
    # How the change took effect: live, scheduled, reloaded, written, runtime, or outside (made by others). Empty while it is in progress.
    outcome: str
    author: Author
    # The owner of a file that others have edited.
    owner: str = ""
    # The reload that the change needed.
    reload_id: str | None = None
    id: int = 0
    # The id of the previous entry.
    parent: int | None = None


@dataclass(frozen=True)
class ReloadOutcome:
    """The outcome of a reload."""

    id: str
    time: float
    # As in the record of the reload (native/haproxy_native/reload/records.py).
    status: str
    # After a failure: KEPT or TAKEN_BACK, by the id of the entry.
    changes: Mapping[int, str] = field(default_factory=dict)
    # After a failure: the id of the reload that loads the kept changes, if they need one.
    rest: str = ""


@dataclass(frozen=True)
class Record:
    """An entry with everything that is stored for it."""

    entry: Entry
    contents: Sequence[Content] = ()
    # The changed members of servers in the process.
    members: Sequence[MemberChange] = ()
    # The names of the objects that the change created, changed or deleted.
    objects: Sequence[str] = ()


@dataclass(frozen=True)
class Refusal:
    """A change that was requested and not made."""

    time: float
    author: Author
    object: str
    reason: str
    id: int = 0


def record(change: Change, outcome: Outcome, path: str, version: int, time: float) -> Record:
    """Return the record of a change. `path` and `version`: those of the current configuration. `time`: a Unix time."""
    kind = FILE if outcome.contents else RUNTIME
    contents = list(outcome.contents)
    objects = [content.object for content in contents] + [member.object for member in outcome.members]
    if outcome.texts:
        before, after = outcome.texts
        kind, version, contents = CONFIGURATION, outcome.version, [Content("", path, before.data, after.data), *contents]
        objects += sections(before, after)
    if change.sole_operation:
        objects.append(change.sole_operation.object)
    entry = Entry(time, version, kind, outcome.kind, change.author, reload_id=outcome.reload_id)
    return Record(entry, contents, outcome.members, sorted(set(objects)))


def outcome_of(record: ReloadRecord) -> ReloadOutcome | None:
    """Return the outcome of a reload; None while it is in progress."""
    if record.ended is None:
        return None
    changes = {int(change["entry"]): change["outcome"] for change in record.changes if change.get("entry")}
    return ReloadOutcome(record.id, record.ended, record.status, changes, record.rest_reload_id)


def sections(before: Document, after: Document) -> list[str]:
    """Return the object names of the sections whose text differs. Comments count as text, blank lines at the end do not."""
    places, texts = before.apart_from(after), list[set[tuple[str, str, str]]]()
    for document, place in zip((before, after), places, strict=True):
        named = zip(document.sections[place], document.names()[place], strict=True)
        texts.append({(section.kind, name, section.text.rstrip()) for section, name in named if section.kind != BOUNDARY})
    old, new = texts
    return sorted({object_of_section(standard_editor(), kind, name) for kind, name, _ in old ^ new})
