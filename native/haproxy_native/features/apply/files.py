"""Declared files: maps entry by entry, all others whole. Pure.

An entry of a map is owned by its key, as the member `value` of an object of its own; a file that is owned whole has the member `content`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from haproxy_native.editing.object_names import decoded, encoded
from haproxy_native.features.apply.owners import ITSELF
from haproxy_native.features.apply.rules import DeclaredFile, Rules
from haproxy_native.runtime.lists import MapEntry
from haproxy_native.storage import map_file

MAP, ENTRY = "map", "entry"
VALUE, CONTENT = "value", "content"
Parts = dict[str, dict[str, Any]]
# Collections of a declaration, by the kind of their files.
COLLECTIONS = {"map": "maps", "certificate": "certificates", "general": "general", "crt_list": "crt_lists", "acl_file": "acl_files"}


@dataclass(frozen=True)
class FileEffect:
    """A file or an entry that comes or goes, without a member, or the member that differs. Contents are bytes."""

    object: str
    member: str
    old: Any
    new: Any

    def as_dict(self) -> dict[str, Any]:
        return {"object": self.object, "member": self.member or None, "old": self.old, "new": self.new}


def file_object(object_: str) -> str:
    """The file that an object is, or is an entry of; empty for an object of another kind."""
    segments = object_.split("/", 2)
    return "/".join(segments[:2]) if segments[0] in COLLECTIONS else ""


def entry_object(map_: str, key: str) -> str:
    return f"{map_}/{ENTRY}/{encoded(key)}"


def is_entry(object_: str) -> bool:
    return file_object(object_) not in ("", object_)


def is_map(object_: str) -> bool:
    return object_.startswith(f"{MAP}/")


def parts(object_: str, content: bytes | None) -> Parts:
    """The members of a file and of what stands in it, by their objects; empty where there is no file."""
    if content is None:
        return {}
    if not is_map(object_):
        return {object_: {CONTENT: content}}
    parts_: Parts = {object_: {}}
    for entry in map_file.read(_text(content)):
        # HAProxy takes the first of equal keys.
        parts_.setdefault(entry_object(object_, entry.key), {VALUE: entry.value})
    return parts_


def declared_parts(object_: str, declared: DeclaredFile) -> Parts:
    """The same of what is declared."""
    if declared.entries is None:
        return {object_: {CONTENT: declared.content}}
    return {object_: {}, **{entry_object(object_, key): {VALUE: value} for key, value in declared.entries.items()}}


def made(object_: str, former: bytes | None, new: bytes | None, wanted: Parts) -> bytes | None:
    """What a file holds that has these parts. `new`: how a map was sent, used where there is none. Raises BadValue."""
    if object_ not in wanted:
        return None
    if not is_map(object_):
        content: bytes = wanted[object_][CONTENT]
        return content
    text = _text(former if former is not None else new or b"")
    head = len(entry_object(object_, ""))
    values = {decoded(name[head:]): str(members[VALUE]) for name, members in wanted.items() if name != object_}
    before = entries_of(text.encode("utf-8", "surrogateescape"))
    # Of equal keys HAProxy takes the first: the others stay as they are until that has another value.
    entries = [
        entry if values[entry.key] == before[entry.key] else MapEntry(entry.key, values[entry.key])
        for entry in map_file.read(text)
        if entry.key in values
    ]
    entries += [MapEntry(key, value) for key, value in values.items() if key not in before]
    return map_file.with_entries(text, entries).encode("utf-8", "surrogateescape")


def entries_of(content: bytes) -> dict[str, str]:
    """Returns the entries by key; of equal keys the first."""
    values: dict[str, str] = {}
    for entry in map_file.read(_text(content)):
        values.setdefault(entry.key, entry.value)
    return values


def lines_of(map_: str, content: bytes) -> dict[str, int]:
    """Returns the line numbers, from 1, of a map's entries, by object."""
    found: dict[str, int] = {}
    for number, line in enumerate(_text(content).split("\n"), 1):
        if entry := map_file.entry_of(line):
            found.setdefault(entry_object(map_, entry.key), number)
    return found


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class PlannedFiles:
    """`contents`: what files are to hold that are to hold something else; `effects` are on files and entries of maps."""

    contents: Mapping[str, bytes | None] = field(default_factory=dict, repr=False)
    effects: Sequence[FileEffect] = ()

    @property
    def shown(self) -> list[FileEffect]:
        """Returns the effects, without the entries of maps that are created or deleted as a whole."""
        whole = {effect.object for effect in self.effects if not effect.member and file_object(effect.object) == effect.object}
        return [effect for effect in self.effects if effect.object in whole or file_object(effect.object) not in whole]


def planned_files(rules: Rules, contents: Mapping[str, bytes | None]) -> PlannedFiles:
    """`contents`: what the files hold that are declared or were declared before, by their objects. Raises BadValue."""
    changed, effects = dict[str, bytes | None](), list[FileEffect]()
    for object_, content in contents.items():
        before = parts(object_, content)
        wanted = _wanted(rules, object_, before)
        if file_effects := _effects(before, wanted):
            sent = rules.asked.files.get(object_)
            changed[object_] = made(object_, content, sent.content if sent else None, wanted)
            effects += file_effects
    return PlannedFiles(changed, effects)


def _wanted(rules: Rules, object_: str, theirs: Parts) -> Parts:
    declared = rules.asked.files.get(object_)
    mine, wanted = declared_parts(object_, declared) if declared else {}, {name: dict(members) for name, members in theirs.items()}
    for name, members in mine.items():
        rules.claim(name, ITSELF, None)
        there = theirs.get(name, {})
        allowed = {member: value for member, value in members.items() if _is_set(rules, name, member, there.get(member), value)}
        if name in theirs or allowed or not members:
            wanted.setdefault(name, {}).update(allowed)
    for name in [name for name in theirs if name not in mine and name != object_]:
        if rules.is_given_up(name) and rules.all_go([*rules.strange(name, theirs[name])]):
            del wanted[name]
    if object_ in theirs and object_ not in mine and _goes(rules, object_, wanted):
        del wanted[object_]
    return wanted


def _is_set(rules: Rules, object_: str, member: str, there: Any, mine: Any) -> bool:
    rules.claim(object_, member, mine)
    return bool(there != mine and rules.may(object_, member, there, mine))


def _goes(rules: Rules, object_: str, wanted: Parts) -> bool:
    """A map goes with its last entry; those that others have written keep it."""
    if not rules.is_given_up(object_) or (is_map(object_) and len(wanted) > 1):
        return False
    return rules.all_go([*rules.strange(object_, wanted[object_])])


def _effects(before: Parts, after: Parts) -> list[FileEffect]:
    effects = list[FileEffect]()
    for object_ in dict.fromkeys([*before, *after]):
        old, new = before.get(object_), after.get(object_)
        if old is None or new is None:
            effects.append(FileEffect(object_, "", old, new))
        else:
            effects += [FileEffect(object_, member, old[member], new[member]) for member in old if old[member] != new[member]]
    return effects
