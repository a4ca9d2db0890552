"""Where new lines and new sections go: beside their kind, and never where they would change what others mean."""

from collections.abc import Sequence

from native.config.bindings import DEFAULTS, PROXIES, named_defaults
from native.text.document import Document
from native.text.section import Section

FIRST_KINDS = ("global",)


def line_place(section: Section, earlier: Sequence[int]) -> int:
    """The line behind which a new one goes, given the places of all lines that are to stand before it."""
    return section.outside_blocks(max(earlier, default=0))


def before_comments(section: Section, place: int) -> int:
    """The line behind which to insert so that the comments directly above `place` stay with it."""
    while place > 1 and section.lines[place - 1].is_comment:
        place -= 1
    return place - 1


def insert_section(document: Document, section: Section) -> Document:
    """With a new section beside its kind."""
    if section.kind == DEFAULTS:
        return _insert_defaults(document, section)
    if section.kind in FIRST_KINDS:
        return _insert_first(document, section)
    kin = [other for other in document.sections if other.kind == section.kind]
    parent = named_defaults(section) if section.kind in PROXIES else None
    place = document.sections.index(kin[-1]) if kin else len(document.sections) - 1
    if parent is not None and (source := document.find(DEFAULTS, parent)) and document.sections.index(source) > place:
        place = len(document.sections) - 1
    return document.insert(section, document.sections[place] if document.sections else None)


def _insert_defaults(document: Document, section: Section) -> Document:
    """A defaults section binds what follows without `from`; so ours goes directly before another, or to the end."""
    parent = document.find(DEFAULTS, named_defaults(section) or "")
    start = document.sections.index(parent) + 1 if parent else 0
    following = [place for place in range(start, len(document.sections)) if document.sections[place].kind == DEFAULTS]
    bound = any(other.kind in PROXIES for other in document.sections)
    if not following and bound:
        return document.insert(section)
    place = following[0] if following else sum(other.kind in FIRST_KINDS for other in document.sections)
    return document.insert(section, document.sections[place - 1]) if place > 0 else _insert_first(document, section)


def _insert_first(document: Document, section: Section) -> Document:
    head = Document(document.preamble, ()).insert(section)
    new = head.sections[0]
    if document.sections and not new.text.endswith("\n\n"):
        new = Section(new.kind, new.name, new.text + new.newline, lead=new.lead, file=new.file)
    return Document(head.preamble, (new, *document.sections))
