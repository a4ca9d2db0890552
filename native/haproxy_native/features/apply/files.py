"""Plan stored files: maps entry by entry, all other files as a whole. Pure.

Each entry of a map is an object with the member `value`, and the map itself is an object without members. Any other file is an object with
the member `content`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from haproxy_native.editing.object_names import decoded, encoded
from haproxy_native.features.apply.owners import ITSELF
from haproxy_native.features.apply.rules import DeclaredFile, Rules
from haproxy_native.runtime.lists import MapEntry
from haproxy_native.storage import list_files

MAP, ENTRY = "map", "entry"
VALUE, CONTENT = "value", "content"
Parts = dict[str, dict[str, Any]]
# The collections of files in a declaration, by the kind of file, which is the first segment of an object name such as `map/hosts.map`.
COLLECTIONS = {"map": "maps", "certificate": "certificates", "general": "general", "crt_list": "crt_lists", "acl_file": "acl_files"}


@dataclass(frozen=True)
class FileEffect:
    """A change of a file or of an entry of a map."""

    object: str
    # The member that changes; empty if the object is created or deleted.
    member: str
    # The values of the member, or all members of the object; None if it does not exist. Contents of files are bytes.
    old: Any
    new: Any

    def as_dict(self) -> dict[str, Any]:
        return {"object": self.object, "member": self.member or None, "old": self.old, "new": self.new}


def file_object(object_: str) -> str:
    """Return the object name of a file, given its own name or that of an entry in it; empty for any other object."""
    segments = object_.split("/", 2)
    return "/".join(segments[:2]) if segments[0] in COLLECTIONS else ""


def entry_object(map_: str, key: str) -> str:
    return f"{map_}/{ENTRY}/{encoded(key)}"


def is_entry(object_: str) -> bool:
    return file_object(object_) not in ("", object_)


def is_map(object_: str) -> bool:
    return object_.startswith(f"{MAP}/")


def parts(object_: str, content: bytes | None) -> Parts:
    """Return the members of a file, and of its entries if it is a map, by object. Empty if the file does not exist."""
    if content is None:
        return {}
    if not is_map(object_):
        return {object_: {CONTENT: content}}
    parts_: Parts = {object_: {}}
    for entry in list_files.parse_map(_text(content)):
        # HAProxy uses the first of duplicate keys.
        parts_.setdefault(entry_object(object_, entry.key), {VALUE: entry.value})
    return parts_


def declared_parts(object_: str, declared: DeclaredFile) -> Parts:
    """Return the members of a declared file, and of its entries if it is a map, by object."""
    if declared.entries is None:
        return {object_: {CONTENT: declared.content}}
    return {object_: {}, **{entry_object(object_, key): {VALUE: value} for key, value in declared.entries.items()}}


def new_content(object_: str, former: bytes | None, new: bytes | None, wanted: Parts) -> bytes | None:
    """Return the content of a file with the `wanted` members; None if it is deleted. Raises BadValue.

    The lines of a map that stay are those of its `former` content or, if the map does not exist yet, of the content `new` that was sent.
    """
    if object_ not in wanted:
        return None
    if not is_map(object_):
        content: bytes = wanted[object_][CONTENT]
        return content
    text = _text(former if former is not None else new or b"")
    head = len(entry_object(object_, ""))
    values = {decoded(name[head:]): str(members[VALUE]) for name, members in wanted.items() if name != object_}
    before = entries_of(text.encode("utf-8", "surrogateescape"))
    # HAProxy uses the first of duplicate keys. The others stay as they are until the value of the key changes.
    entries = [
        entry if values[entry.key] == before[entry.key] else MapEntry(entry.key, values[entry.key])
        for entry in list_files.parse_map(text)
        if entry.key in values
    ]
    entries += [MapEntry(key, value) for key, value in values.items() if key not in before]
    return list_files.edit_map(text, entries).encode("utf-8", "surrogateescape")


def entries_of(content: bytes) -> dict[str, str]:
    """Return the values of a map by key. For duplicate keys, return the first value."""
    values: dict[str, str] = {}
    for entry in list_files.parse_map(_text(content)):
        values.setdefault(entry.key, entry.value)
    return values


def lines_of(map_: str, content: bytes) -> dict[str, int]:
    """Return the line numbers of a map's entries, from 1, by object."""
    found: dict[str, int] = {}
    for number, line in enumerate(_text(content).split("\n"), 1):
        if entry := list_files.parse_map_line(line):
            found.setdefault(entry_object(map_, entry.key), number)
    return found


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class PlannedFiles:
    """The new contents of the files that change, and the effects on files and entries of maps."""

    contents: Mapping[str, bytes | None] = field(default_factory=dict, repr=False)
    effects: Sequence[FileEffect] = ()

    @property
    def shown(self) -> list[FileEffect]:
        """Return the effects for display: without the entries of a map that is itself created or deleted."""
        whole = {effect.object for effect in self.effects if not effect.member and file_object(effect.object) == effect.object}
        return [effect for effect in self.effects if effect.object in whole or file_object(effect.object) not in whole]


def planned_files(rules: Rules, contents: Mapping[str, bytes | None]) -> PlannedFiles:
    """Plan the files that the owner declares or has declared before. `contents` has their present contents by object. Raises BadValue.

    Adds the owner's claims and conflicts to `rules`.
    """
    changed, effects = dict[str, bytes | None](), list[FileEffect]()
    for object_, content in contents.items():
        before = parts(object_, content)
        wanted = _wanted_parts(rules, object_, before)
        if file_effects := _effects(before, wanted):
            sent = rules.declaration.files.get(object_)
            changed[object_] = new_content(object_, content, sent.content if sent else None, wanted)
            effects += file_effects
    return PlannedFiles(changed, effects)


def _wanted_parts(rules: Rules, object_: str, theirs: Parts) -> Parts:
    """Return the members that a file and its entries will have, by object. Members in conflict are unchanged."""
    declared = rules.declaration.files.get(object_)
    mine, wanted = declared_parts(object_, declared) if declared else {}, {name: dict(members) for name, members in theirs.items()}
    for name, members in mine.items():
        rules.claim(name, ITSELF, None)
        there = theirs.get(name, {})
        allowed = {member: value for member, value in members.items() if _claim_and_compare(rules, name, member, there.get(member), value)}
        if name in theirs or allowed or not members:
            wanted.setdefault(name, {}).update(allowed)
    for name in [name for name in theirs if name not in mine and name != object_]:
        if rules.is_abandoned(name) and rules.may_delete([*rules.undeclared(name, theirs[name])]):
            del wanted[name]
    if object_ in theirs and object_ not in mine and _is_deleted(rules, object_, wanted):
        del wanted[object_]
    return wanted


def _claim_and_compare(rules: Rules, object_: str, member: str, there: Any, mine: Any) -> bool:
    """Claim a member, and return whether to change it from `there` to `mine`."""
    rules.claim(object_, member, mine)
    return bool(there != mine and rules.may_set(object_, member, there, mine))


def _is_deleted(rules: Rules, object_: str, wanted: Parts) -> bool:
    """Return whether to delete a file that is no longer declared. A map that keeps entries of others is not deleted."""
    if not rules.is_abandoned(object_) or (is_map(object_) and len(wanted) > 1):
        return False
    return rules.may_delete([*rules.undeclared(object_, wanted[object_])])


def _effects(before: Parts, after: Parts) -> list[FileEffect]:
    effects = list[FileEffect]()
    for object_ in dict.fromkeys([*before, *after]):
        old, new = before.get(object_), after.get(object_)
        if old is None or new is None:
            effects.append(FileEffect(object_, "", old, new))
        else:
            effects += [FileEffect(object_, member, old[member], new[member]) for member in old if old[member] != new[member]]
    return effects
