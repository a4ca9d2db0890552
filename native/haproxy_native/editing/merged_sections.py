"""Sections that HAProxy reads as one, such as two of `global`: read as one section, and edits of it split up again.

What was added or changed stays in the section of the line before it, and so in its file.
"""

from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section

UNITED, PARTS = "united", "parts"


def united(document: Document, kind: str) -> Section | None:
    """The nameless sections of a kind as one, in which the header lines of the later ones stand as marks."""
    first = document.find(kind, "")
    if first is None:
        return None
    sections = [section for section in document.sections if section.kind == kind]
    if len(sections) == 1:
        return first
    cached: tuple[list[Section], Section] | None = first.cache.get(UNITED)
    if cached is None or cached[0] != sections:
        whole = first.with_lines(line for section in sections for line in section.lines)
        whole.cache[PARTS] = sections
        cached = first.cache[UNITED] = sections, whole
    return cached[1]


def with_edited(document: Document, old: Section, new: Section) -> Document:
    """The document with a section, or one of several united ones, edited."""
    if PARTS not in old.cache:
        return document.replace(old, new)
    for section, lines in zip(old.cache[PARTS], _apart(new), strict=True):
        if lines != list(section.lines):
            document = document.replace(section, section.with_lines(lines))
    return document


def without(document: Document, old: Section) -> Document:
    """The document without a section, or all that are united in it."""
    for section in old.cache.get(PARTS, [old]):
        document = document.remove(section)
    return document


def is_mark(section: Section, line: Line) -> bool:
    return line.args[:1] == (section.kind,)


def _apart(section: Section) -> list[list[Line]]:
    groups: list[list[Line]] = []
    for line in section.lines:
        if is_mark(section, line):
            groups.append([])
        groups[-1].append(line)
    return groups
