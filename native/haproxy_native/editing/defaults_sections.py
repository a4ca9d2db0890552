"""Find the defaults section that a proxy inherits from, and refuse edits that would silently make a proxy inherit from another section.

A proxy inherits from the defaults section that its header names (`backend b from d`). Without `from`, it implicitly inherits from the last
defaults section above it (HAProxy Configuration Manual, section 4). If a `from` names a missing section, HAProxy refuses the file. But if a
section from which proxies implicitly inherit is removed, HAProxy accepts the file, and these proxies inherit from another section.
`refuse_rebound` refuses such an edit.
"""

from bisect import bisect_left
from collections.abc import Sequence

from haproxy_native.errors import BadValue, Place, Refused
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from haproxy_native.text.words import normalized

PROXIES = ("frontend", "backend", "listen")
DEFAULTS = "defaults"


def named_defaults(section: Section) -> str | None:
    """Return the name after `from` in the header of a section. Return None if the header has no `from`."""
    words, args = section.header.words, section.header.args
    at = 1 if section.kind == DEFAULTS and not section.name else 2
    return normalized(words[at + 1]) if len(words) > at + 1 and args[at] == "from" else None


def implicit_defaults(document: Document, section: Section) -> str | None:
    """Return the name of the last defaults section above a proxy. Return None if there is none, or if `section` is not a proxy."""
    if section.kind not in PROXIES:
        return None
    # The indices and the names of all defaults sections.
    cached: tuple[Sequence[int], Sequence[str]] | None = document.cache.get(DEFAULTS)
    if cached is None:
        places = document.places_of(DEFAULTS)
        cached = document.cache[DEFAULTS] = places, [document.names()[place] for place in places]
    places, names = cached
    above = bisect_left(places, document.place(section))
    return names[above - 1] if above else None


def all_implicit_defaults(document: Document) -> list[str | None]:
    """Return `implicit_defaults` of every section, in one pass."""
    sources: list[str | None] = []
    last = None
    for name, section in zip(document.names(), document.sections, strict=True):
        sources.append(last if section.kind in PROXIES else None)
        last = name if section.kind == DEFAULTS else last
    return sources


def all_inherited_defaults(document: Document) -> list[str | None]:
    """Return, for each section, the name of the defaults section from which it inherits explicitly or implicitly; None if there is none."""
    return [named_defaults(section) or source for section, source in zip(document.sections, all_implicit_defaults(document), strict=True)]


def check_from(document: Document, kind: str, name: str, source: object) -> None:
    """Check `source`, the value of `from` of the section `name`.

    Raises BadValue if no defaults section has the name `source`, or if a defaults section would inherit from itself.
    """
    seen = {name} if kind == DEFAULTS else set()
    source = normalized(source) if isinstance(source, str) else None
    while source:
        if source in seen:
            raise BadValue(f"circular dependency detected: defaults {source} would inherit from itself", place=Place(member="from"))
        section = document.find(DEFAULTS, source)
        if section is None:
            raise BadValue(f"Object {name} references missing defaults section in from", place=Place(member="from"))
        seen.add(source)
        source = named_defaults(section)


def with_named_source(document: Document, source: object) -> Document:
    """Write the value `source` of a `from` as a name into the header of the defaults section that it refers to. Return the edited document.

    The API generates a name for a section that has none in the file. HAProxy does not know this name until the header contains it.
    """
    section = document.find(DEFAULTS, normalized(source)) if isinstance(source, str) else None
    if section is None or section.name == document.address(section):
        return document
    return with_name(document, section, str(source))[0]


def with_name(document: Document, section: Section, name: str) -> tuple[Document, Section]:
    """Write a name into the header of a section. Return the edited document and the edited section."""
    text, split = section.header.text, section.header.split
    if section.name:
        start = len(split.gaps[0]) + len(split.words[0]) + len(split.gaps[1])
        text = text[:start] + name + text[start + len(split.words[1]) :]
    else:
        text = text.replace(section.kind, f"{section.kind} {name}", 1)
    named = section.with_lines((Line(text), *section.lines[1:]), name=name)
    return document.replace(section, named), named


def rebound(old: Document, new: Document) -> list[tuple[str, str]]:
    """Return (proxy, removed defaults section) for each proxy that implicitly inherited from a defaults section that an edit has removed.

    `old`, `new`: the documents before and after the edit. If both have the same number of defaults sections, a new name at the same
    position is treated as a renaming.
    """
    old_sections, new_sections = old.of_kind(DEFAULTS), new.of_kind(DEFAULTS)
    old_texts, new_texts = ({section.text for _, section in sections} for sections in (old_sections, new_sections))
    # A section with an unchanged text is not removed, even if its number has changed.
    removed = {name for name, section in old_sections if section.text not in new_texts}
    removed -= {name for name, section in new_sections if section.text not in old_texts}
    if not removed:
        return []
    new_names: dict[str, str] = {}
    if len(old_sections) == len(new_sections):
        new_names = {old_name: name for (old_name, _), (name, _) in zip(old_sections, new_sections, strict=True)}
    before, after = _implicit_sources(old), _implicit_sources(new)
    return [(proxy, name) for proxy in after if (name := before.get(proxy, "")) in removed and after[proxy] != new_names.get(name)]


def refuse_rebound(old: Document, new: Document) -> None:
    """Raise Refused if an edit removes a defaults section, but not all proxies that implicitly inherit from it."""
    if lost := rebound(old, new):
        users = "; ".join(f"{proxy} has no `from` and is bound to defaults {name}" for proxy, name in lost[:10])
        raise Refused(f"defaults section '{lost[0][1]}' is still used: {users}", place=Place(section=lost[0][0], member="from"))


def _implicit_sources(document: Document) -> dict[str, str]:
    """Map each proxy that has no `from` to the defaults section from which it implicitly inherits."""
    pairs = zip(document.sections, all_implicit_defaults(document), strict=True)
    return {
        f"{section.kind} {section.name}": bound or ""
        for section, bound in pairs
        if named_defaults(section) is None and section.kind != DEFAULTS
    }
