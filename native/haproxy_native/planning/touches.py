"""Compute which objects a change creates, changes or deletes (its *touches*), for the check of permissions.

Most touches derive from the effects of the change. If a change replaces a text, `all_touches` also covers differences without an effect.
Comments, conditional blocks, repeated sections and the order of lines are reported as the member `lines` of their section. The text above
all sections, the order of sections, and lines that reach from one section into the next are reported as the object RAW.

Some values give access beyond their object: the SNI for a server may be read from any file that HAProxy can open, and the address of a
server may be the socket that administers HAProxy. expressions.toml lists such values. A change that adds such a value, in any member, line
or text, also touches `global/expressions`. A change that keeps or moves existing values does not.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.header import with_header_and_banner_of
from haproxy_native.editing.object_names import kind_of, object_of_section, spelled
from haproxy_native.editing.resources import resources
from haproxy_native.errors import NativeError
from haproxy_native.planning.effects import LINES, Effect, effects, is_expressible, with_effects
from haproxy_native.planning.section_order import Key
from haproxy_native.text.document import Document
from haproxy_native.text.pieces import split_lines
from haproxy_native.text.section import BOUNDARY, Section
from haproxy_native.text.words import unquoted, words_of

Sections = list[tuple[Key, Section]]
CREATE, CHANGE, DELETE = "create", "change", "delete"
# The text above the first section, and the order of sections.
RAW = "raw"
# Stands for all members of an object, if the changed ones are not known.
ANY = "*"
# The start of lines whose first word has quotes, belongs to a conditional block, or has a variable.
_SUSPECT = re.compile(r"^[^\S\n]*(?:[\"'\\.]|[^\s#]*\$)", re.MULTILINE)
_VARIABLE = re.compile(r"\s*(?:[\"'\\].*\$|[^\s#]*\$)")
_QUOTING = frozenset("\"'\\")


@dataclass(frozen=True)
class Touch:
    """One object that a change creates, changes or deletes."""

    object: str
    # CREATE, CHANGE or DELETE.
    verb: str
    # The changed members. If the object is created or deleted: all its members except the name.
    members: frozenset[str] = frozenset()


# The touch of a change that adds a value which gives access beyond its object.
EXPRESSIONS = Touch("global/expressions", CHANGE, frozenset((ANY,)))


def changed(object_: str, members: Iterable[str]) -> Touch:
    """Return the touch for a change of members of an object."""
    return Touch(object_, CHANGE, frozenset(members))


def all_touches(before: Document, new: Document, known: Sequence[Effect] | None = None) -> list[Touch]:
    """Return the touches of a change of the text: those of its effects, and those of differences that have no effect.

    A created or deleted section also touches each of its children. `known`: the effects, if the caller has computed them already.
    """
    new = with_header_and_banner_of(new, before)
    all_effects = effects(before, new) if known is None else known
    found = [touch for effect in _paired(all_effects) for touch in _effect_touches(effect)]
    found += _touches_without_effects(before, new, all_effects)
    old_sections, new_sections = _differing(before, new)
    old_texts = [before.preamble, *(section.text for _, section in old_sections)]
    if has_new_expression(old_texts, [new.preamble, *(section.text for _, section in new_sections)]):
        found.append(EXPRESSIONS)
    return _merged(found)


def _paired(found: Iterable[Effect]) -> Iterator[Effect]:
    """Yield the effects. If a rule replaces another rule at the same index, yield a change of each member that differs instead."""
    effects_ = list(found)
    removed = {effect.object: effect for effect in effects_ if effect.new is None and isinstance(effect.place.key, int)}
    added = {effect.object: effect for effect in effects_ if effect.old is None and effect.object in removed}
    for effect in effects_:
        if effect.object not in added:
            yield effect
        elif effect is added[effect.object]:
            old, new = removed[effect.object].old, effect.new
            for member in dict.fromkeys([*old, *new]):
                if old.get(member) != new.get(member):
                    yield replace(effect, member=member, old=old.get(member), new=new.get(member))


def _merged(found: Iterable[Touch]) -> list[Touch]:
    members: dict[tuple[str, str], set[str]] = {}
    for touch in found:
        members.setdefault((touch.object, touch.verb), set()).update(touch.members)
    return [Touch(object_, verb, frozenset(names)) for (object_, verb), names in members.items()]


def _touches_without_effects(before: Document, new: Document, found: Sequence[Effect]) -> Iterator[Touch]:
    """Yield the touches of the differences between two documents that remain after the effects `found` are applied to `before`."""
    try:
        edited = with_effects(standard_editor(), before, [effect for effect in found if is_expressible(effect)])
    except NativeError:
        edited = before
    old_sections, new_sections = _differing(before, new)
    edited_remaining, new_remaining = _differing(edited, new)
    if _frame(edited, edited_remaining) != _frame(new, new_remaining) or _reaching_lines(old_sections, new_sections) != _reaching_lines(
        new_sections, old_sections
    ):
        yield Touch(RAW, CHANGE)
    # Sections with an effect on `lines`, which covers all their lines.
    covered: set[Key] = set()
    for effect in found:
        is_about_lines = effect.member == LINES if effect.member else LINES in (effect.new or effect.old or ())
        if is_about_lines:
            resource, name = effect.place.parent or (effect.place.resource, str(effect.place.key))
            covered.add((resource.section, name))
    edited_by_key, new_by_key = _by_key(edited_remaining), _by_key(new_remaining)
    for key in dict.fromkeys([*new_by_key, *edited_by_key]):
        if key not in covered and list(map(_words, new_by_key.get(key, ()))) != list(map(_words, edited_by_key.get(key, ()))):
            verb = CREATE if before.find(*key) is None else CHANGE if key in new_by_key else DELETE
            yield Touch(object_of_section(standard_editor(), *key), verb, frozenset((LINES,)))


def _differing(one: Document, other: Document) -> tuple[Sections, Sections]:
    """Return (differing sections of `one`, differing sections of `other`), including boundaries between files."""
    mine, theirs = one.apart_from(other)
    return _with_keys(one, mine), _with_keys(other, theirs)


def _with_keys(document: Document, places: slice) -> Sections:
    return list(zip(document.keys()[places], document.sections[places], strict=True))


def _by_key(sections: Sections) -> dict[Key, list[Section]]:
    sections_: dict[Key, list[Section]] = {}
    for key, section in sections:
        if section.kind != BOUNDARY:
            sections_.setdefault(key, []).append(section)
    return sections_


def _reaching_lines(sections: Sections, others: Sections) -> list[tuple[Key, str | None, list[str]]]:
    """Return (key, file, reaching lines) of each section that both lists contain, or that has such lines.

    The reaching lines may have an effect on other sections: open conditional blocks, and lines whose keyword is a variable.
    """
    other_keys = {key for key, _ in others}
    rows: list[tuple[Key, str | None, list[str]]] = []
    for key, section in sections:
        reaching: list[str] = []
        if _SUSPECT.search(section.text):
            reaching += [line.text.strip() for line in section.open_conditionals()]
            reaching += [line.text.strip() for line in section.lines if _VARIABLE.match(line.text)]
        if key in other_keys or reaching:
            rows.append((key, section.file, reaching))
    return rows


def _frame(document: Document, sections: Sections) -> list[list[str]]:
    return [_written(document.preamble), *(_written(section.text) for _, section in sections if section.kind == BOUNDARY)]


def _words(section: Section) -> list[str]:
    return _written(section.lead + section.text)


def _written(text: str) -> list[str]:
    """Return the lines of a text that are not blank, with one space between words."""
    return [" ".join(line.split()) if _QUOTING.isdisjoint(line) else line.strip() for line in split_lines(text) if line.strip()]


def _effect_touches(effect: Effect) -> Iterator[Touch]:
    resource, verb = effect.place.resource, CREATE if effect.old is None else DELETE if effect.new is None else CHANGE
    if effect.member:
        # A section that the grammar does not know has only `lines`, and is created and deleted with them.
        is_all = effect.place.parent is None and resource.name not in resources().by_name
        yield Touch(effect.object, verb if is_all else CHANGE, frozenset((effect.member,)))
        return
    value = effect.new if effect.old is None else effect.old
    children = dict(resources().children(resource.name)) if effect.place.parent is None else {}
    yield Touch(effect.object, verb, frozenset(value) - {resource.key, *children})
    for member, child in children.items():
        rows = value.get(member) or ()
        named = rows.items() if isinstance(rows, Mapping) else enumerate(rows)
        for key, row in named:
            if not isinstance(rows, Mapping) and child.kind == "named" and child.key in row:
                key = str(row[child.key])
            yield Touch(f"{effect.object}/{spelled(kind_of(child), key)}", verb, frozenset(row) - {child.key})


# Characters of quotes, calls and addresses. A line without them can contain such a value only in the form of certain words.
_SIGNS = r"[\"'\\($/@]"
_WITHOUT_QUOTING = str.maketrans("", "", "\"'\\")
# HAProxy expands variables in double quotes (weak quoting) only.
_EXPANDED = re.compile(r"\$[{A-Za-z_.]")
Value = tuple[str, ...]


def has_new_expression(before: Iterable[str], after: Iterable[str]) -> bool:
    """Return whether the change adds a value that gives access beyond its object. `before`, `after`: the texts before and after."""
    suspect, counts = _table().suspect, (Counter[Value](), Counter[Value]())
    for texts, count in zip((before, after), counts, strict=True):
        for line in (line for text in texts for line in split_lines(text) if suspect.search(line)):
            count.update(_values_of_line(words_of(line)))
    return not counts[1] <= counts[0]


def _values_of_line(written: Sequence[str]) -> Iterator[Value]:
    table, words = _table(), tuple(map(unquoted, written))
    first = words[0] if words else ""
    found = {place for place, word in enumerate(words) if table.is_call(word) or _expands(written[place])}
    found.update(place for place in _places(words, table.addresses.get(first, ())) if not table.is_of_network(words[place]))
    found.update(_places(words, table.files.get(first, ())))
    if first in table.of_options:
        # A value counts together with its option, whichever server or listener has it: permissions on those are checked separately.
        yield from (words[max(0, place - 1) : place + 1] for place in sorted(found))
    elif found or table.patterns in words or any(f"{' '.join(words)} ".startswith(f"{begin} ") for begin in table.lines):
        yield words


def _places(words: Value, of: Iterable[int | str]) -> Iterator[int]:
    for each in of:
        places = [each] if isinstance(each, int) else [place + 1 for place, word in enumerate(words) if word == each]
        yield from (place for place in places if place < len(words))


def _expands(word: str) -> bool:
    """Return whether HAProxy expands a variable in a word."""
    quote, at = "", 0
    while '"' in word and at < len(word):
        if word[at] == "\\" and quote != "'":
            at += 1
        elif word[at] in "\"'" and quote in ("", word[at]):
            quote = "" if quote else word[at]
        elif quote == '"' and _EXPANDED.match(word, at):
            return True
        at += 1
    return False


class _Table:
    def __init__(self, declared: dict[str, Any]) -> None:
        self.lines: list[str] = declared["lines"]
        self.patterns: str = declared["patterns"]
        self.of_options = frozenset(declared["of_options"])
        self.files: dict[str, list[str]] = declared["files"]
        self.addresses: dict[str, list[int | str]] = declared["addresses"]
        self._calls, self._network = re.compile(declared["calls"]), re.compile(declared["network"])
        last = {line.split()[-1] for line in self.lines}.union([self.patterns], *self.files.values())
        self.suspect = re.compile("|".join([_SIGNS, declared["calls"], *map(re.escape, sorted(last))]))

    def is_call(self, word: str) -> bool:
        # Arguments may have quotes of their own.
        return any(self._calls.search(each) for each in {word, word.translate(_WITHOUT_QUOTING)})

    def is_of_network(self, address: str) -> bool:
        return all(map(self._network.fullmatch, address.split(",")))


@cache
def _table() -> _Table:
    return _Table(tomllib.loads(Path(__file__).with_name("expressions.toml").read_text()))
