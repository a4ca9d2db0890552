"""Places ACLs above the lines that use them: HAProxy reads from top to bottom and refuses a line that uses an ACL defined below."""

import functools
import math
import re
from collections.abc import Iterator, Mapping

from haproxy_native.editing.resources import resources
from haproxy_native.grammar.conditions import CONDITIONAL, PREDEFINED, terms
from haproxy_native.grammar.load import grammar
from haproxy_native.grammar.rows import Change
from haproxy_native.grammar.section_shape import changed
from haproxy_native.grammar.synopsis import condition_at
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from haproxy_native.text.words import unquoted

# The sample fetch with the names that it evaluates, and what a line has that names an ACL.
_CALL = re.compile(r"(?<![\w.-])acl\(([^()]*)\)")
_MAY_NAME = re.compile(r"\b(?:if|unless)\b|\bacl\(")


@functools.cache
def acl_word() -> str:
    """The word that begins the line of an ACL."""
    (word,) = grammar().line(resources()["acls"].schema).first_words
    return word


def with_acls_above(section: Section, old: Section | None) -> Section:
    """Return the section with each ACL above the lines that name it, as far as the edit has brought the ACL or such a line there.

    A line that stood above the ACL before the edit moves nothing, and neither does a deletion. A name that HAProxy predefines moves
    nothing either: above the section's own ACL of that name it means HAProxy's. An ACL that moves takes the comments directly above it
    along. One in a block of conditionals, or in a snippet, stays.
    """
    if acl_word() not in section.text:
        return section
    before = _Before(old)
    names = before.brought(section) - PREDEFINED
    result = section
    for _ in section.lines:
        moved = _misplaced(result, names, before)
        if not moved:
            return result
        # An ACL that moves may name another one.
        names |= {name for place in moved for name in named_acls(result.lines[place])} - PREDEFINED
        change = Change({}, [])
        for place, first in sorted(moved.items()):
            places = [*result.comments_above(place), place]
            change.replaced |= dict.fromkeys(places)
            change.added += [(result.between(None, first), result.lines[each]) for each in places]
        result = changed(result, change)
    # They name each other.
    return section


def named_acls(line: Line) -> Iterator[str]:
    """Return the ACLs that a line uses, in its condition or in a call of `acl()`."""
    words = [unquoted(word) for word in line.words] if _MAY_NAME.search(line.text) else []
    if words and (words[0] in CONDITIONAL or " ".join(words[:2]) in CONDITIONAL):
        yield from (term[0].lstrip("!") for term in terms(words[condition_at(words, 1) + 1 :]) if len(term) == 1)
    for call in (call for word in words for call in _CALL.finditer(word)):
        yield from (name.strip(" \t\"'").lstrip("!") for name in call[1].split(","))


def made_acl(line: Line) -> str | None:
    """The ACL that a line makes, or adds to."""
    words = line.words if line.text.lstrip().startswith(acl_word()) else ()
    return unquoted(words[1]) if words[:1] == (acl_word(),) and len(words) > 1 else None


class _Before:
    """Where lines stood before an edit, and the first line of each ACL."""

    def __init__(self, old: Section | None) -> None:
        self._lines = {id(line): place for place, line in enumerate(old.lines)} if old else {}
        self._acls: dict[str, int] = {}
        for place, line in enumerate(old.lines) if old else ():
            if name := made_acl(line):
                self._acls.setdefault(name, place)

    def brought(self, section: Section) -> set[str]:
        """The ACLs that new lines make or name, and those whose lines stand further down among the others than before."""
        names: set[str | None] = set()
        lowest = 0
        for line in section.lines[1:]:
            place = self._lines.get(id(line))
            if place is None:
                names |= {made_acl(line), *named_acls(line)}
            elif place < lowest:
                names.add(made_acl(line))
            else:
                lowest = place
        return {name for name in names if name}

    def has_above(self, line: Line, name: str) -> bool:
        """Whether the line stood above the ACL of that name."""
        return self._lines.get(id(line), math.inf) < self._acls.get(name, -1)


def _misplaced(section: Section, names: set[str], before: _Before) -> Mapping[int, int]:
    """The places of the first lines of ACLs, by the places of the lines above that name them first."""
    named: dict[str, int] = {}
    made: dict[str, list[int]] = {}
    for place, line in enumerate(section.lines) if names else ():
        if place and (name := made_acl(line)) in names:
            made.setdefault(str(name), []).append(place)
        for other in named_acls(line) if place else ():
            if other in names and other not in made and not before.has_above(line, other):
                named.setdefault(other, place)
    misplaced: dict[int, int] = {}
    for name in named.keys() & made.keys():
        movable = [place for place in made[name] if not section.is_conditional(place) and place not in section.snippets]
        if movable:
            misplaced[movable[0]] = named[name]
    return misplaced
