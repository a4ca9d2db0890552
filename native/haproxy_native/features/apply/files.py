"""Plan stored files: maps entry by entry, all other files as a whole.

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
# The members of files and of entries of maps, by object.
Parts = dict[str, dict[str, Any]]
# The collections of files in a declaration, by the kind of file, which is the first segment of an object name such as `map/hosts.map`.
COLLECTIONS = {"map": "maps", "certificate": "certificates", "general": "general", "crt_list": "crt_lists", "acl_file": "acl_files"}


@dataclass(frozen=True)
class FileEffect:
    """A change of a file, or of an entry of a map."""

    object: str
    # The member that changes; empty if the object is created or deleted.
    member: str
    # The values of the member, or all members of the object; None if it does not exist. Contents of files are bytes.
    old: Any
    new: Any

    def as_dict(self) -> dict[str, Any]:
        return {"object": self.object, "member": self.member or None, "old": self.old, "new": self.new}


def file_object(object_: str) -> str:
    """Return the object name of a file: `object_` itself if it names a file, or the map that contains the entry `object_`.

    Return an empty string for any other object.
    """
    segments = object_.split("/", 2)
    return "/".join(segments[:2]) if segments[0] in COLLECTIONS else ""


def entry_object(map_: str, key: str) -> str:
    return f"{map_}/{ENTRY}/{encoded(key)}"


def is_entry(object_: str) -> bool:
    return file_object(object_) not in ("", object_)


def is_map(object_: str) -> bool:
    return object_.startswith(f"{MAP}/")


def parts(object_: str, content: bytes | None) -> Parts:
    """Return the objects of a file with their members: the file itself and, if it is a map, its entries. Empty if `content` is None."""
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
    """Return the objects of a declared file with their members: the file itself and, if it is a map, its declared entries."""
    if declared.entries is None:
        return {object_: {CONTENT: declared.content}}
    return {object_: {}, **{entry_object(object_, key): {VALUE: value} for key, value in declared.entries.items()}}


def new_content(object_: str, former: bytes | None, sent: bytes | None, new: Parts) -> bytes | None:
    """Return the content of the file `object_` whose objects have the members `new`. Return None if `new` does not have the file.

    A map keeps the lines of `former`, its former content, whose entries do not change. If the map does not exist yet, it keeps those of
    `sent`, the content that the client sent. Raises BadValue.
    """
    if object_ not in new:
        return None
    if not is_map(object_):
        content: bytes = new[object_][CONTENT]
        return content
    text = _text(former if former is not None else sent or b"")
    head = len(entry_object(object_, ""))
    values = {decoded(name[head:]): str(members[VALUE]) for name, members in new.items() if name != object_}
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
    """Return the line number of each entry of the map `map_`, counted from 1, by object name of the entry."""
    numbers: dict[str, int] = {}
    for number, line in enumerate(_text(content).split("\n"), 1):
        if entry := list_files.parse_map_line(line):
            numbers.setdefault(entry_object(map_, entry.key), number)
    return numbers


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class PlannedFiles:
    """The new contents of the files that change, by object name, and the effects on the files and on the entries of maps."""

    contents: Mapping[str, bytes | None] = field(default_factory=dict, repr=False)
    effects: Sequence[FileEffect] = ()

    @property
    def shown(self) -> list[FileEffect]:
        """Return the effects to display. They omit the entries of a map if the map itself is created or deleted."""
        whole = {effect.object for effect in self.effects if not effect.member and file_object(effect.object) == effect.object}
        return [effect for effect in self.effects if effect.object in whole or file_object(effect.object) not in whole]


def plan_files(rules: Rules, contents: Mapping[str, bytes | None]) -> PlannedFiles:
    """Plan the files that the owner declares or has declared before. `contents`: their present contents, by object name.

    Adds the owner's claims and the conflicts to `rules`. Raises BadValue.
    """
    new_contents, effects = dict[str, bytes | None](), list[FileEffect]()
    for file, content in contents.items():
        before = parts(file, content)
        after = _parts_after(rules, file, before)
        file_effects = list[FileEffect]()
        for object_ in dict.fromkeys([*before, *after]):
            old, new = before.get(object_), after.get(object_)
            if old is None or new is None:
                file_effects.append(FileEffect(object_, "", old, new))
            else:
                file_effects += [FileEffect(object_, member, old[member], new[member]) for member in old if old[member] != new[member]]
        if file_effects:
            declared = rules.declaration.files.get(file)
            new_contents[file] = new_content(file, content, declared.content if declared else None, after)
            effects += file_effects
    return PlannedFiles(new_contents, effects)


def _parts_after(rules: Rules, file: str, before: Parts) -> Parts:
    """Return the objects of a file with the members that they have after the declaration. Members in conflict are unchanged."""
    declared_file = rules.declaration.files.get(file)
    declared = declared_parts(file, declared_file) if declared_file else {}
    after = {object_: dict(members) for object_, members in before.items()}
    for object_, members in declared.items():
        rules.claim(object_, ITSELF, None)
        allowed = {}
        for member, value in members.items():
            rules.claim(object_, member, value)
            present = before.get(object_, {}).get(member)
            if present != value and rules.may_set(object_, member, present, value):
                allowed[member] = value
        if object_ in before or allowed or not members:
            after.setdefault(object_, {}).update(allowed)
    # The file comes last: a map is not deleted while it has entries.
    for object_ in sorted(before, key=lambda name: name == file):
        if object_ in declared or not rules.is_pruned(object_) or (object_ == file and is_map(file) and len(after) > 1):
            continue
        if rules.may_delete([*rules.deletion_conflicts(object_, before[object_])]):
            del after[object_]
    return after
