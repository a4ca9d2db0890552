"""Summarize each entry in one line: the changed objects, and for stored files and SPOE files the numbers of changes."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from haproxy_native.commit.change import Content
from haproxy_native.editing.object_names import parsed
from haproxy_native.history.contents import differing_lines
from haproxy_native.spoe.editor import outline
from haproxy_native.storage import crt_list, list_files, secret_files
from haproxy_native.text.document import SCOPE, Document
from haproxy_native.text.pieces import decoded

# Sections of a SPOE file that a summary names.
MOST_SECTIONS = 3
Rows = list[tuple[str, str]]
# For each kind of file: the words for one row and for several, and the function that parses a text to rows (key, value).
_ROWS: Mapping[str, tuple[str, str, Callable[[str], Rows]]] = {
    "map": ("entry", "entries", lambda text: [(entry.key, entry.value) for entry in list_files.parse_map(text)]),
    "acl_file": ("pattern", "patterns", lambda text: [(pattern, "") for pattern in list_files.parse_patterns(text)]),
    "crt_list": ("entry", "entries", lambda text: [(row.file, " ".join([row.options, *row.filters])) for row in crt_list.entries(text)]),
    "general": ("line", "lines", lambda text: [(line, "") for line in text.splitlines()]),
}
# How many members of an object a summary names, and how many characters of a value it shows.
MOST_MEMBERS, LONGEST_VALUE = 3, 40
# Part of the object names of entries in maps and ACLs.
ENTRY = "/entry/"


def summary(effects: Sequence[Mapping[str, Any]], files: Mapping[str, str], process: Sequence[str] = ()) -> str:
    """Return one line about a change, as in `weight 10 → 20 on backend/shop/server/web1`; empty if nothing is known.

    `effects`: with secrets masked. `files`: the summary of each file, by its object. `process`: objects that were changed in the process
    without effects on the configuration.
    """
    texts = [text for text in (_summarize_effects(effects), *files.values()) if text]
    texts = texts or [f"change {object_} in the process" for object_ in process]
    more = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
    return f"{texts[0]}{more}" if texts else ""


def _summarize_effects(effects: Sequence[Mapping[str, Any]]) -> str:
    if not effects:
        return ""
    objects = {effect["object"] for effect in effects}
    if renaming := _find_renaming(effects):
        old, new = renaming
        more = f" and {len(objects) - 2} more" if len(objects) > 2 else ""
        return f"rename {old} → {new.rpartition('/')[2]}{more}"
    object_ = effects[0]["object"]
    own = _split_by_member([effect for effect in effects if effect["object"] == object_])
    more = f" and {len(objects) - 1} more" if len(objects) > 1 else ""
    if ENTRY in object_ and None in (own[0]["old"], own[0]["new"]):
        # The only member of such an entry is its value.
        return f"delete {object_}{more}" if own[0]["new"] is None else f"create {object_}: {_value(own[0]['new'])}{more}"
    if any(effect["member"] for effect in own):
        members = []
        for member, old, new in [(effect["member"], effect["old"], effect["new"]) for effect in own if effect["member"]]:
            if new is None:
                members.append(f"{member} removed")
            else:
                members.append(f"{member} set to {_value(new)}" if old is None else f"{member} {_value(old)} → {_value(new)}")
        rest = f" and {len(members) - MOST_MEMBERS} more" if len(members) > MOST_MEMBERS else ""
        return f"{', '.join(members[:MOST_MEMBERS])}{rest} on {object_}{more}"
    is_new, is_removed = (all(effect[side] is None for effect in own) for side in ("old", "new"))
    verb = "create" if is_new else "delete" if is_removed else "change"
    return f"{verb} {object_}{more}"


def _find_renaming(effects: Sequence[Mapping[str, Any]]) -> tuple[str, str] | None:
    """Return (old name, new name) if one object was removed, one was added, and only their names differ. Otherwise, return None."""
    whole = [effect for effect in effects if not effect["member"]]
    before = {effect["object"]: effect["old"] for effect in whole if isinstance(effect["old"], Mapping)}
    after = {effect["object"]: effect["new"] for effect in whole if isinstance(effect["new"], Mapping)}
    if len(removed := before.keys() - after.keys()) != 1 or len(added := after.keys() - before.keys()) != 1:
        return None
    (old,), (new,) = removed, added
    parent, _, name = old.rpartition("/")
    new_parent, _, new_name = new.rpartition("/")
    members = before[old].keys() | after[new].keys()
    pairs = {member: (before[old].get(member), after[new].get(member)) for member in members}
    are_alike = all(one == other or (one, other) == (name, new_name) for one, other in pairs.values())
    return (old, new) if parent == new_parent and are_alike else None


def _split_by_member(own: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the effects on one object. If the object was removed and added again, return one effect for each differing member instead."""
    if len(own) != 2 or any(effect["member"] for effect in own):
        return own
    old, new = (next((effect[side] for effect in own if effect[side]), None) for side in ("old", "new"))
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return own
    members = [member for member in {**old, **new} if old.get(member) != new.get(member)]
    return [{**own[0], "member": member, "old": old.get(member), "new": new.get(member)} for member in members] or own


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def file_summaries(contents: Sequence[Content]) -> dict[str, str]:
    """Return the summary of each changed file except the configuration, by its object."""
    return {content.object: text for content in contents if content.object and (text := file_summary(content))}


def file_summary(content: Content) -> str:
    """Return one line about a file, as in `map/hosts.map: 2 entries added, 1 removed`; empty if the file is unchanged."""
    if not content.is_kept:
        return f"change {content.object}"
    if content.before == content.after:
        return ""
    if content.after is None:
        return f"delete {content.object}"
    if content.before is None:
        return f"create {content.object}"
    kind, contents = parsed(content.object)[0], (content.before, content.after)
    if kind == "spoe":
        return f"{content.object}: {_list_changed_sections(*contents)}"
    if kind not in _ROWS or b"\0" in content.after or (kind == "general" and any(map(secret_files.is_secret, contents))):
        # A certificate, a key or a binary file.
        return f"replace {content.object}"
    one, several, parse = _ROWS[kind]
    count = _count_changes(one, several, *(parse(decoded(data)) for data in differing_lines(*contents)))
    return f"{content.object}: {count or 'order or comments changed'}"


def _count_changes(one: str, several: str, old: Rows, new: Rows) -> str:
    """Return a text with the numbers of rows that were added, changed (another value of the same key), and removed."""
    removed, added = _keys(Counter(old) - Counter(new)), _keys(Counter(new) - Counter(old))
    changed = (removed & added).total()
    numbers = [("added", added.total() - changed), ("changed", changed), ("removed", removed.total() - changed)]
    parts = [(number, verb) for verb, number in numbers if number]
    words = [f"{number} {verb}" for number, verb in parts[1:]]
    return ", ".join([f"{parts[0][0]} {one if parts[0][0] == 1 else several} {parts[0][1]}", *words]) if parts else ""


def _keys(rows: "Counter[tuple[str, str]]") -> "Counter[str]":
    keys = Counter[str]()
    for (key, _), number in rows.items():
        keys[key] += number
    return keys


def _list_changed_sections(before: bytes, after: bytes) -> str:
    """Return a text that names the sections of a SPOE file that were added, removed and changed."""
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
