"""ACLs above the lines that name them: HAProxy looks an ACL up when it reads the line, and refuses one that stands further down."""

import functools
import re
from collections.abc import Iterator, Mapping

from haproxy_native.editing.resources import resources
from haproxy_native.grammar.conditions import terms
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
    """The section with each ACL above the first line that names it, as far as the ACL or such a line is not in the old section.

    A deletion moves nothing: HAProxy refuses it if an ACL that is left stands too low. An ACL that moves takes the comments directly
    above it along. One in a block of conditionals, or in a snippet, stays.
    """
    result = section
    names = _brought(section, old) if acl_word() in section.text else set()
    for _ in section.lines:
        moved = _misplaced(result, names)
        if not moved:
            return result
        # An ACL that moves may name another one.
        names |= {name for place in moved for name in named_acls(result.lines[place])}
        change = Change({}, [])
        for place, first in sorted(moved.items()):
            places = [*result.comments_above(place), place]
            change.replaced |= dict.fromkeys(places)
            change.added += [(result.between(None, first), result.lines[each]) for each in places]
        result = changed(result, change)
    # They name each other.
    return section


def named_acls(line: Line) -> Iterator[str]:
    """The ACLs that a line names, in its condition or in a call of `acl()`."""
    words = [unquoted(word) for word in line.words] if _MAY_NAME.search(line.text) else []
    if words[:1] != [acl_word()]:
        yield from (term[0].lstrip("!") for term in terms(words[condition_at(words, 1) + 1 :]) if len(term) == 1)
    for call in (call for word in words for call in _CALL.finditer(word)):
        yield from (name.strip(" \t\"'").lstrip("!") for name in call[1].split(","))


def made_acl(line: Line) -> str | None:
    """The ACL that a line makes, or adds to."""
    words = line.words if line.text.lstrip().startswith(acl_word()) else ()
    return unquoted(words[1]) if words[:1] == (acl_word(),) and len(words) > 1 else None


def _brought(section: Section, old: Section | None) -> set[str]:
    """The ACLs that lines make or name which the old section does not have."""
    before = {id(line) for line in old.lines[1:]} if old else set()
    lines = [line for line in section.lines[1:] if id(line) not in before]
    return {name for line in lines for name in (made_acl(line), *named_acls(line)) if name}


def _misplaced(section: Section, names: set[str]) -> Mapping[int, int]:
    """The places of the first lines of ACLs, by the places of the lines above that name them first."""
    named: dict[str, int] = {}
    made: dict[str, list[int]] = {}
    for place, line in enumerate(section.lines) if names else ():
        if place and (name := made_acl(line)) in names:
            made.setdefault(str(name), []).append(place)
        for other in named_acls(line) if place else ():
            if other in names:
                named.setdefault(other, place)
    misplaced: dict[int, int] = {}
    for name, places in made.items():
        movable = [place for place in places if not section.is_conditional(place) and place not in section.snippets]
        if named.get(name, places[0]) < places[0] and movable:
            misplaced[movable[0]] = named[name]
    return misplaced
