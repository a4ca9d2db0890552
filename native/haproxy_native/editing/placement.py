"""Places new lines and sections: beside their kind, and never where they would change the meaning of others."""

from collections.abc import Sequence
from itertools import chain

from haproxy_native.editing.bindings import DEFAULTS, PROXIES, all_implicit, named_defaults
from haproxy_native.text.document import Document
from haproxy_native.text.section import BOUNDARY, Section

FIRST_KINDS = ("global",)


def line_place(section: Section, earlier: Sequence[int]) -> int:
    """The line behind which a new one goes, given the places of all lines that are to stand before it."""
    return section.outside_blocks(max(earlier, default=0))


def usual_indent(document: Document, place: int) -> str:
    """Return the indent of the nearest section before a place that has lines, else of the nearest behind it, else two blanks."""
    near = chain(range(place - 1, -1, -1), range(place, len(document.sections)))
    sections = (document.sections[each] for each in near)
    return next((other.own_indent for other in sections if other.kind != BOUNDARY and other.own_indent is not None), "  ")


def place_behind_kin(document: Document, kind: str) -> int:
    """Return the place behind the last section of a kind; if there is none, where `insert_section` puts the first one in one file."""
    if places := document.places_of(kind):
        return places[-1] + 1
    if kind in FIRST_KINDS:
        return 0
    first_proxy = (place for place, other in enumerate(document.sections) if kind not in PROXIES and other.kind in PROXIES)
    return next(first_proxy, len(document.sections))


def at_home(document: Document, section: Section) -> Section:
    """Return the section itself; one that has no line yet learns the indent of its neighbours."""
    if section.own_indent is not None:
        return section
    return section.with_usual_indent(usual_indent(document, document.place(section)))


def insert_section(document: Document, section: Section) -> Document:
    """Returns the document with a new section beside its kind, else in the main file; the first of a kind that proxies may refer to goes
    before them.
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
    """The place of the main file's last section, or of its beginning; -1 where it begins the document."""
    return max((place for place, other in enumerate(document.sections) if other.file is None), default=-1)


def _insert_defaults(document: Document, section: Section) -> Document:
    """Behind the last defaults section, or, where proxies below would be bound to ours, directly before the next one or at the end."""
    places = [place for place, other in enumerate(document.sections) if other.kind == DEFAULTS]
    implicit = [place for place, bound in enumerate(all_implicit(document)) if bound and named_defaults(document.sections[place]) is None]
    if places and not any(place > places[-1] for place in implicit):
        return document.insert(section, document.sections[places[-1]])
    parent = document.find(DEFAULTS, named_defaults(section) or "")
    start = document.sections.index(parent) + 1 if parent else 0
    following = [place for place in places if place >= start]
    bound = any(other.kind in PROXIES for other in document.sections)
    if not following and bound:
        return document.insert(section)
    place = following[0] if following else _behind_globals(document)
    return document.insert(section, document.sections[place - 1]) if place > 0 else _insert_first(document, section)


def behind_its_defaults(document: Document, section: Section) -> Document:
    """The section moved where the defaults section that it names stands above it, unless that would bind others anew."""
    source = document.find(DEFAULTS, named_defaults(section) or "")
    if source is None or document.sections.index(source) < document.sections.index(section):
        return document
    name = document.names()[document.sections.index(section)]
    if section.kind == DEFAULTS and name in _implicitly_used(document):
        return document
    return insert_section(document.remove(section), section)


def _implicitly_used(document: Document) -> set[str]:
    pairs = zip(document.sections, all_implicit(document), strict=True)
    return {bound for section, bound in pairs if bound and named_defaults(section) is None}


def _behind_globals(document: Document) -> int:
    first = (place for place, other in enumerate(document.sections) if other.kind not in (*FIRST_KINDS, BOUNDARY))
    return next(first, _end_of_main(document) + 1)


def _insert_first(document: Document, section: Section) -> Document:
    """Returns the document with the section at the beginning of the main file."""
    start = next((other for other in document.sections if other.kind == BOUNDARY and other.file is None), None)
    if start is not None:
        return document.insert(section, start)
    head = Document(document.preamble, (), document.leads).insert(section)
    new = head.sections[0]
    if document.sections and document.sections[0].kind != BOUNDARY and not new.text.endswith("\n\n"):
        new = new.with_text(new.text + new.newline)
    return Document(head.preamble, (new, *document.sections), head.leads)
