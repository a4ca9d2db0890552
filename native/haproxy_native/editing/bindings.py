"""The defaults section that a proxy is bound to: the one that its header names, else the last one above it (manual, section 4)."""

from bisect import bisect_left
from collections.abc import Sequence

from haproxy_native.errors import BadValue, Place
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from haproxy_native.text.words import heard

PROXIES = ("frontend", "backend", "listen")
DEFAULTS = "defaults"


def named_defaults(section: Section) -> str | None:
    """The defaults section that the header names."""
    words, args = section.header.words, section.header.args
    at = 1 if section.kind == DEFAULTS and not section.name else 2
    return heard(words[at + 1]) if len(words) > at + 1 and args[at] == "from" else None


def implicit_defaults(document: Document, section: Section) -> str | None:
    """The defaults section that HAProxy binds a proxy without `from` to."""
    if section.kind not in PROXIES:
        return None
    places, names = _all_defaults(document)
    above = bisect_left(places, document.place(section))
    return names[above - 1] if above else None


def _all_defaults(document: Document) -> tuple[Sequence[int], Sequence[str]]:
    """The place and the name of each defaults section."""
    known: tuple[Sequence[int], Sequence[str]] | None = document.cache.get(DEFAULTS)
    if known is None:
        places = document.places_of(DEFAULTS)
        known = document.cache[DEFAULTS] = places, [document.names()[place] for place in places]
    return known


def all_implicit(document: Document) -> list[str | None]:
    """`implicit_defaults` of every section, in one pass."""
    sources: list[str | None] = []
    last = None
    for name, section in zip(document.names(), document.sections, strict=True):
        sources.append(last if section.kind in PROXIES else None)
        last = name if section.kind == DEFAULTS else last
    return sources


def all_sources(document: Document) -> list[str | None]:
    """The defaults section that every section inherits from: the one its header names, else `implicit_defaults`."""
    return [named_defaults(section) or source for section, source in zip(document.sections, all_implicit(document), strict=True)]


def check_from(document: Document, kind: str, name: str, wanted: object) -> None:
    """Raise BadValue when `from` names no defaults section, or when defaults would inherit from themselves."""
    seen = {name} if kind == DEFAULTS else set()
    wanted = heard(wanted) if isinstance(wanted, str) else None
    while wanted:
        if wanted in seen:
            raise BadValue(f"circular dependency detected: defaults {wanted} would inherit from itself", place=Place(member="from"))
        section = document.find(DEFAULTS, wanted)
        if section is None:
            raise BadValue(f"Object {name} references missing defaults section in from", place=Place(member="from"))
        seen.add(wanted)
        wanted = named_defaults(section)


def with_named_source(document: Document, wanted: object) -> Document:
    """Returns the document in which a defaults section that is addressed by a number has it as its name, for a `from` that refers to it:
    HAProxy has no numbers for them.
    """
    source = document.find(DEFAULTS, heard(wanted)) if isinstance(wanted, str) else None
    if source is None or source.name == document.address(source):
        return document
    return with_name(document, source, str(wanted))[0]


def with_name(document: Document, section: Section, name: str) -> tuple[Document, Section]:
    """The document in which a section that is addressed by a number has a name of its own, and that section."""
    text, split = section.header.text, section.header.split
    if section.name:
        start = len(split.gaps[0]) + len(split.words[0]) + len(split.gaps[1])
        text = text[:start] + name + text[start + len(split.words[1]) :]
    else:
        text = text.replace(section.kind, f"{section.kind} {name}", 1)
    named = section.with_lines((Line(text), *section.lines[1:]), name=name)
    return document.replace(section, named), named
