"""Entries of the history as values, and what becomes one. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from haproxy_native.commit.change import Change, Content, Member, Outcome
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import object_of_section
from haproxy_native.reload.records import Record as ReloadRecord
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document
from haproxy_native.text.section import BOUNDARY, Section

# What an entry is about.
CONFIGURATION, FILE, RUNTIME = "configuration", "file", "runtime"
# Of a summary: the members that it names, and the characters of a value.
MOST_MEMBERS, LONGEST_VALUE = 3, 40
# In the name of an entry of a map or an ACL.
ENTRY = "/entry/"


@dataclass(frozen=True)
class Entry:
    """`kind` is one of CONFIGURATION, FILE and RUNTIME. `time`: Unix time. `version`: that of the configuration after the change.

    `outcome`: how it was made: live, scheduled, reloaded, written, runtime, or outside by others. `owner`: of a file that others have
    edited. `reload_id` names the reload that it needed. `parent` is the id of the entry before it.
    """

    time: float
    version: int
    kind: str
    outcome: str
    author: Author
    owner: str = ""
    reload_id: str | None = None
    id: int = 0
    parent: int | None = None


@dataclass(frozen=True)
class ReloadOutcome:
    """`status` as in its record (native/haproxy_native/reload/records.py). After a failure: which entries were KEPT and which TAKEN_BACK,
    and the id of the reload that loads those that were kept, where that needs one.
    """

    id: str
    time: float
    status: str
    changes: Mapping[int, str] = field(default_factory=dict)
    rest: str = ""


@dataclass(frozen=True)
class Record:
    """An entry with what is kept for it; `objects` are the names of those that it touched."""

    entry: Entry
    contents: Sequence[Content] = ()
    members: Sequence[Member] = ()
    objects: Sequence[str] = ()


@dataclass(frozen=True)
class Refusal:
    """A change that was asked for and not made."""

    time: float
    author: Author
    object: str
    reason: str
    id: int = 0


def record(editor: Editor, change: Change, outcome: Outcome, path: str, version: int, time: float) -> Record:
    """Returns the record of a change; `path` is that of the configuration, and `version` its version now."""
    kind = FILE if outcome.contents else RUNTIME
    contents = list(outcome.contents)
    objects = [content.object for content in contents] + [member.object for member in outcome.members]
    if outcome.texts:
        before, after = outcome.texts
        kind, version, contents = CONFIGURATION, outcome.version, [Content("", path, before.data, after.data), *contents]
        objects += sections(editor, before, after)
    if change.beside:
        objects.append(change.beside.object)
    entry = Entry(time, version, kind, outcome.kind, change.author, reload_id=outcome.reload_id)
    return Record(entry, contents, outcome.members, sorted(set(objects)))


def summary(effects: Sequence[Mapping[str, Any]], files: Mapping[str, str], process: Sequence[str] = ()) -> str:
    """Return one line about what a change did, as in `weight 10 → 20 on backend/shop/server/web1`; empty if nothing is known of it.

    The effects are as the API shows them, without secrets. `files`: what became of each file, by its object. `process`: what was changed
    in the running process in a way that has no effects.
    """
    texts = [text for text in (_of_effects(effects), *files.values()) if text] or [
        f"change {object_} in the process" for object_ in process
    ]
    more = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
    return f"{texts[0]}{more}" if texts else ""


def _of_effects(effects: Sequence[Mapping[str, Any]]) -> str:
    if not effects:
        return ""
    object_ = effects[0]["object"]
    own = [effect for effect in effects if effect["object"] == object_]
    others = len({effect["object"] for effect in effects}) - 1
    more = f" and {others} more" if others else ""
    if ENTRY in object_ and None in (own[0]["old"], own[0]["new"]):
        # Of an entry all is its value.
        return f"delete {object_}{more}" if own[0]["new"] is None else f"create {object_}: {_value(own[0]['new'])}{more}"
    if any(effect["member"] for effect in own):
        members = [_of_member(effect) for effect in own if effect["member"]]
        rest = f" and {len(members) - MOST_MEMBERS} more" if len(members) > MOST_MEMBERS else ""
        return f"{', '.join(members[:MOST_MEMBERS])}{rest} on {object_}{more}"
    comes, goes = (all(effect[side] is None for effect in own) for side in ("old", "new"))
    verb = "create" if comes else "delete" if goes else "change"
    return f"{verb} {object_}{more}"


def _of_member(effect: Mapping[str, Any]) -> str:
    member, old, new = effect["member"], effect["old"], effect["new"]
    if new is None:
        return f"{member} removed"
    return f"{member} set to {_value(new)}" if old is None else f"{member} {_value(old)} → {_value(new)}"


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def outcome_of(record: ReloadRecord) -> ReloadOutcome | None:
    """Returns a reload's outcome; None while it is in progress."""
    if record.ended is None:
        return None
    changes = {int(change["entry"]): change["outcome"] for change in record.changes if change.get("entry")}
    return ReloadOutcome(record.id, record.ended, record.status, changes, record.rest_reload_id)


def sections(editor: Editor, before: Document, after: Document) -> list[str]:
    """The names of the sections whose text differs, comments included, blank lines at their end aside."""
    head = _shared(before.sections, after.sections)
    tail = _shared(before.sections[: head - 1 if head else None : -1], after.sections[: head - 1 if head else None : -1])
    old, new = (_texts(document, head, len(document.sections) - tail) for document in (before, after))
    return sorted({object_of_section(editor, kind, name) for kind, name, _ in old ^ new})


def _texts(document: Document, start: int, end: int) -> set[tuple[str, str, str]]:
    """Kind, name and text of some of its sections."""
    named = zip(document.sections[start:end], document.names()[start:end], strict=True)
    return {(section.kind, name, section.text.rstrip()) for section, name in named if section.kind != BOUNDARY}


def _shared(one: Sequence[Section], other: Sequence[Section]) -> int:
    """How many sections are the same at the start: documents share them."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(one, other, strict=False)))
