"""One line about what a change did to a stored file or a SPOE file: what came and went, counted, without any content. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from haproxy_native.commit.change import Content
from haproxy_native.editing.object_names import parsed
from haproxy_native.history.deltas import differing
from haproxy_native.spoe.editor import outline
from haproxy_native.storage import crt_list, key_material, map_file, pattern_file
from haproxy_native.text.document import Document
from haproxy_native.text.outline import SCOPE
from haproxy_native.text.pieces import decoded

# Of a SPOE file: the sections that a summary names.
MOST_SECTIONS = 3
Rows = list[tuple[str, str]]
# By the kind of a file: what one and several of its rows are called, and the rows of a text, each with its key.
_ROWS: Mapping[str, tuple[str, str, Callable[[str], Rows]]] = {
    "map": ("entry", "entries", lambda text: [(entry.key, entry.value) for entry in map_file.read(text)]),
    "acl_file": ("pattern", "patterns", lambda text: [(pattern, "") for pattern in pattern_file.read(text)]),
    "crt_list": ("entry", "entries", lambda text: [(row.file, " ".join([row.options, *row.filters])) for row in crt_list.entries(text)]),
    "general": ("line", "lines", lambda text: [(line, "") for line in text.splitlines()]),
}


def of_files(contents: Sequence[Content]) -> dict[str, str]:
    """Return what became of each file, by its object; the configuration is none of them."""
    return {content.object: text for content in contents if content.object and (text := of_file(content))}


def of_file(content: Content) -> str:
    """Return what became of a file, as in `map/hosts.map: 2 entries added, 1 removed`; empty if it is as it was."""
    if not content.is_kept:
        return f"change {content.object}"
    if content.before == content.after:
        return ""
    if content.after is None:
        return f"delete {content.object}"
    if content.before is None:
        return f"create {content.object}"
    count = _counted(content.object, content.before, content.after)
    return f"{content.object}: {count}" if count else f"replace {content.object}"


def _counted(object_: str, before: bytes, after: bytes) -> str:
    """Return what came, went and changed; empty for a certificate, a key, and what is no text."""
    kind = parsed(object_)[0]
    if kind == "spoe":
        return _sections(before, after)
    if kind not in _ROWS or b"\0" in after or (kind == "general" and any(map(key_material.is_secret, (before, after)))):
        return ""
    one, several, read = _ROWS[kind]
    return _changes(one, several, *(read(decoded(data)) for data in differing(before, after))) or "order or comments changed"


def _changes(one: str, several: str, old: Rows, new: Rows) -> str:
    """Return the numbers of rows that were added, changed, which have a key that stays, and removed."""
    gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
    left, there = _keys(gone), _keys(come)
    changed = (left & there).total()
    numbers = [("added", there.total() - changed), ("changed", changed), ("removed", left.total() - changed)]
    parts = [(number, verb) for verb, number in numbers if number]
    words = [f"{number} {verb}" for number, verb in parts[1:]]
    return ", ".join([f"{parts[0][0]} {one if parts[0][0] == 1 else several} {parts[0][1]}", *words]) if parts else ""


def _keys(rows: "Counter[tuple[str, str]]") -> "Counter[str]":
    keys = Counter[str]()
    for (key, _), number in rows.items():
        keys[key] += number
    return keys


def _sections(before: bytes, after: bytes) -> str:
    """Return which sections of a SPOE file came, went and changed."""
    old, new = _texts(before), _texts(after)
    rows = [
        f"{name} {'added' if name not in old else 'removed' if name not in new else 'changed'}"
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]
    more = [f"{len(rows) - MOST_SECTIONS} more"] if len(rows) > MOST_SECTIONS else []
    return ", ".join([*rows[:MOST_SECTIONS], *more]) or "comments changed"


def _texts(data: bytes) -> dict[str, str]:
    """Return the text of each section by its name, as in `spoe-agent a of [s]`."""
    scope, texts = "", dict[str, str]()
    for section in Document.parse(data, outline()).sections:
        if section.kind == SCOPE:
            scope = section.name
            texts[f"scope {scope}"] = section.header.text.strip()
        elif section.name:
            name = f"{section.kind.removeprefix('spoe-')} {section.name} of {scope or 'no scope'}"
            texts[name] = texts.get(name, "") + section.text.strip()
    return texts
