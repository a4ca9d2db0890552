"""Find the places of new lines and sections: next to others of their kind, and where they do not change the meaning of others.

The order matters to HAProxy in two ways. A proxy without `from` inherits from the last defaults section above it, so no new defaults
section may be inserted between a proxy and that defaults section. And HAProxy reads from top to bottom and refuses a line that uses an ACL
defined below it. If an edit adds an ACL, or a line that uses an ACL, the ACL is therefore moved above that line (`with_acls_above`).
"""

import functools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from haproxy_native.editing.defaults_sections import DEFAULTS, PROXIES, all_implicit_defaults, named_defaults
from haproxy_native.editing.resources import resources
from haproxy_native.grammar.conditions import CONDITIONAL, PREDEFINED, terms
from haproxy_native.grammar.load import grammar
from haproxy_native.grammar.rows import LineEdits
from haproxy_native.grammar.section_shape import apply_edits
from haproxy_native.grammar.synopsis import condition_at
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import BOUNDARY, Section
from haproxy_native.text.words import unquoted

FIRST_KINDS = ("global",)


def insertion_line(section: Section, earlier: Sequence[int]) -> int:
    """Return the index of the line below which to insert a new line: below all lines of `earlier`, and outside conditional blocks."""
    return section.outside_blocks(max(earlier, default=0))


def usual_indent(document: Document, place: int) -> str:
    """Return the indent for a section at the index `place`: that of the nearest section with lines, preferably of a section above.

    If no section has lines, return two spaces.
    """
    near = chain(range(place - 1, -1, -1), range(place, len(document.sections)))
    sections = (document.sections[each] for each in near)
    return next((other.own_indent for other in sections if other.kind != BOUNDARY and other.own_indent is not None), "  ")


def usual_newline(document: Document, place: int) -> str:
    """Return the line end for a section at the index `place`: that of the section above or, at the top of a file, of the section below.

    If there is no section above or below, return a line feed.
    """
    near = (document.sections[each] for each in (place - 1, place) if 0 <= each < len(document.sections))
    return next((other.newline for other in near if other.kind != BOUNDARY), "\n")


def place_for_new(document: Document, kind: str) -> int:
    """Return the index at which to insert a new section into a configuration of one file: after the last section of its kind.

    If the document has no section of this kind, return an index above all proxies or, for a proxy, at the end.
    """
    if places := document.places_of(kind):
        return places[-1] + 1
    if kind in FIRST_KINDS:
        return 0
    first_proxy = (place for place, other in enumerate(document.sections) if kind not in PROXIES and other.kind in PROXIES)
    return next(first_proxy, len(document.sections))


def with_near_indent(document: Document, section: Section) -> Section:
    """Return the section with the indent that new lines get.

    If the section has no lines, use the indent of the nearest section that has lines.
    """
    if section.own_indent is not None:
        return section
    return section.with_usual_indent(usual_indent(document, document.place(section)))


def insert_section(document: Document, section: Section) -> Document:
    """Return the document with `section` inserted after the last section of its kind.

    If the document has no section of this kind, `section` is inserted above all proxies, which may refer to it. A proxy is inserted at the
    end of the main file in this case.
    """
    if section.kind == DEFAULTS:
        return _insert_defaults(document, section)
    if section.kind in FIRST_KINDS:
        return _insert_first(document, section)
    kin = [other for other in document.sections if other.kind == section.kind]
    first_proxy = next((place for place, other in enumerate(document.sections) if other.kind in PROXIES), None)
    if not kin and section.kind not in PROXIES and first_proxy is not None:
        return document.insert(section, document.sections[first_proxy - 1]) if first_proxy else _insert_first(document, section)
    parent = named_defaults(section) if section.kind in PROXIES else None
    place = document.sections.index(kin[-1]) if kin else _end_of_main(document)
    if parent is not None and (source := document.find(DEFAULTS, parent)) and document.sections.index(source) > place:
        place = len(document.sections) - 1
    return document.insert(section, document.sections[place]) if place >= 0 else _insert_first(document, section)


def _end_of_main(document: Document) -> int:
    """Return the index of the last section of the main file, or of the main file's boundary. Return -1 if the main file has neither."""
    return max((place for place, other in enumerate(document.sections) if other.file is None), default=-1)


def _insert_defaults(document: Document, section: Section) -> Document:
    """Return the document with a new defaults section inserted after the last defaults section.

    If a proxy would then implicitly inherit from the new section, insert it above another defaults section, or at the end.
    """
    places = [place for place, other in enumerate(document.sections) if other.kind == DEFAULTS]
    implicit = [
        place for place, bound in enumerate(all_implicit_defaults(document)) if bound and named_defaults(document.sections[place]) is None
    ]
    if places and not any(place > places[-1] for place in implicit):
        return document.insert(section, document.sections[places[-1]])
    parent = document.find(DEFAULTS, named_defaults(section) or "")
    start = document.sections.index(parent) + 1 if parent else 0
    following = [place for place in places if place >= start]
    bound = any(other.kind in PROXIES for other in document.sections)
    if not following and bound:
        return document.insert(section)
    kinds = enumerate(other.kind for other in document.sections)
    after_globals = next((place for place, kind in kinds if kind not in (*FIRST_KINDS, BOUNDARY)), _end_of_main(document) + 1)
    place = following[0] if following else after_globals
    return document.insert(section, document.sections[place - 1]) if place > 0 else _insert_first(document, section)


def move_below_defaults(document: Document, section: Section) -> Document:
    """Return the document with a section moved below the defaults section that its `from` names.

    A defaults section from which proxies inherit implicitly does not move.
    """
    source = document.find(DEFAULTS, named_defaults(section) or "")
    if source is None or document.sections.index(source) < document.sections.index(section):
        return document
    name = document.names()[document.sections.index(section)]
    sources = zip(document.sections, all_implicit_defaults(document), strict=True)
    if section.kind == DEFAULTS and any(bound == name and named_defaults(proxy) is None for proxy, bound in sources):
        return document
    return insert_section(document.remove(section), section)


def _insert_first(document: Document, section: Section) -> Document:
    """Return the document with a section at the beginning of the main file."""
    start = next((other for other in document.sections if other.kind == BOUNDARY and other.file is None), None)
    if start is not None:
        return document.insert(section, start)
    head = Document(document.preamble, (), document.leads).insert(section)
    new = head.sections[0]
    if document.sections and document.sections[0].kind != BOUNDARY and not new.text.endswith("\n\n"):
        new = new.with_text(new.text + new.newline)
    return Document(head.preamble, (new, *document.sections), head.leads)


# A call of the sample fetch acl() with the names of ACLs, and a quick test for lines that may name an ACL.
_CALL = re.compile(r"(?<![\w.-])acl\(([^()]*)\)")
_MAY_NAME = re.compile(r"\b(?:if|unless)\b|\bacl\(")


@functools.cache
def acl_word() -> str:
    """Return the keyword of an ACL line."""
    (word,) = grammar().line(resources()["acls"].schema).first_words
    return word


def with_acls_above(section: Section, old: Section | None) -> Section:
    """Return the section with each ACL moved above the lines that use it, if the edit has added the ACL or such a line.

    `old`: the section before the edit. An ACL moves together with the comments directly above it. Lines that were above the ACL before the
    edit stay above it, and a deletion moves no ACL. An ACL with a name that HAProxy predefines does not move, because the lines above it
    mean HAProxy's own ACL. ACLs in conditional blocks and in snippets do not move either.
    """
    if acl_word() not in section.text:
        return section
    before = _PositionsBefore(old)
    names = before.affected_acls(section) - PREDEFINED
    result = section
    for _ in section.lines:
        moved = _misplaced_acls(result, names, before)
        if not moved:
            return result
        # An ACL that moves may use another ACL, which then has to move as well.
        names |= {name for place in moved for name in acls_used_by(result.lines[place])} - PREDEFINED
        change = LineEdits({}, [])
        for place, first in sorted(moved.items()):
            places = [*result.comments_above(place), place]
            change.replaced |= dict.fromkeys(places)
            change.added += [(result.between(None, first), result.lines[each]) for each in places]
        result = apply_edits(result, change)
    # The ACLs use each other, so no order is correct.
    return section


def acls_used_by(line: Line) -> Iterator[str]:
    """Yield the name of each ACL that a line uses, in its condition or in a call of `acl()`."""
    words = [unquoted(word) for word in line.words] if _MAY_NAME.search(line.text) else []
    if words and (words[0] in CONDITIONAL or " ".join(words[:2]) in CONDITIONAL):
        yield from (term[0].lstrip("!") for term in terms(words[condition_at(words, 1) + 1 :]) if len(term) == 1)
    for call in (call for word in words for call in _CALL.finditer(word)):
        yield from (name.strip(" \t\"'").lstrip("!") for name in call[1].split(","))


def acl_of_line(line: Line) -> str | None:
    """Return the name of the ACL that a line defines or adds to; None for any other line."""
    words = line.words if line.text.lstrip().startswith(acl_word()) else ()
    return unquoted(words[1]) if words[:1] == (acl_word(),) and len(words) > 1 else None


class _PositionsBefore:
    """The positions of all lines, and of the first line of each ACL, in a section before an edit."""

    def __init__(self, old: Section | None) -> None:
        self._lines = {id(line): place for place, line in enumerate(old.lines)} if old else {}
        self._acls: dict[str, int] = {}
        for place, line in enumerate(old.lines) if old else ():
            if name := acl_of_line(line):
                self._acls.setdefault(name, place)

    def affected_acls(self, section: Section) -> set[str]:
        """Return the names of the ACLs that an edit affects: new lines define or use them, or the edit has moved their lines."""
        names: set[str | None] = set()
        lowest = 0
        for line in section.lines[1:]:
            place = self._lines.get(id(line))
            if place is None:
                names |= {acl_of_line(line), *acls_used_by(line)}
            elif place < lowest:
                names.add(acl_of_line(line))
            else:
                lowest = place
        return {name for name in names if name}

    def has_above(self, line: Line, name: str) -> bool:
        """Return whether, before the edit, a line was above the first line of the ACL `name`."""
        return self._lines.get(id(line), math.inf) < self._acls.get(name, -1)


def _misplaced_acls(section: Section, names: set[str], before: _PositionsBefore) -> Mapping[int, int]:
    """Map the first line of each misplaced ACL to the line above that uses the ACL. Both lines are given by their index in the section."""
    named: dict[str, int] = {}
    made: dict[str, list[int]] = {}
    for place, line in enumerate(section.lines) if names else ():
        if place and (name := acl_of_line(line)) in names:
            made.setdefault(str(name), []).append(place)
        for other in acls_used_by(line) if place else ():
            if other in names and other not in made and not before.has_above(line, other):
                named.setdefault(other, place)
    misplaced: dict[int, int] = {}
    for name in named.keys() & made.keys():
        movable = [place for place in made[name] if not section.is_conditional(place) and place not in section.snippets]
        if movable:
            misplaced[movable[0]] = named[name]
    return misplaced
