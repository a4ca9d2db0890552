"""Pair the sections of two documents, and decide whether a new order of sections has an effect.

HAProxy resolves names after it has read all sections, so the order of most sections has no effect. Some lines have an effect on the lines
below them: variables and defaults of TLS in the global section, the implicit `from` of proxies, certificates of a store. Sections with
such lines must keep their order. Sections that openapi/schemas declares as `movable` may move between them.
"""

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from haproxy_native.editing.resources import resources
from haproxy_native.grammar.load import grammar
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import BOUNDARY, CONDITIONALS, Section, depth_after

Key = tuple[str, str]


@functools.cache
def movable() -> frozenset[str]:
    """Return the kinds of sections whose order does not matter to HAProxy."""
    schemas = grammar().schemas
    sections = [resource for resource in resources().by_name.values() if resource.section]
    return frozenset(resource.section for resource in sections if schemas.note(schemas.named(resource.schema)).get("movable"))


def sections_of(document: Document) -> list[Section]:
    """Return the sections in the order in which HAProxy reads them, without the boundaries between files."""
    return [section for section in document.sections if section.kind != BOUNDARY]


def key_of(section: Section) -> Key:
    return section.kind, section.name


def keys_of(document: Document) -> list[Key]:
    return [key_of(section) for section in sections_of(document)]


def pairs(old: Sequence[Section], new: Sequence[Section]) -> list[tuple[Section, Section]] | None:
    """Return (old section, new section) for each section, in the new order.

    Return None if sections were added or removed, or if the new order may have an effect.
    """
    if len(old) != len(new):
        return None
    if all(one is other or key_of(one) == key_of(other) for one, other in zip(old, new, strict=True)):
        return list(zip(old, new, strict=True))
    if any(map(has_conditionals, (*old, *new))) or list(_arrangement(old)) != list(_arrangement(new)):
        return None
    before: dict[Key, list[Section]] = {}
    for section in reversed(old):
        before.setdefault(key_of(section), []).append(section)
    return [(before[key_of(section)].pop(), section) for section in new]


def _arrangement(sections: Sequence[Section]) -> Iterator[Key | list[Key]]:
    """Yield the keys of sections in a form that is equal for two orders with the same effect.

    A section that must keep its order is a key. Sections that may move between two such sections are one sorted list of keys. A section may
    move if its kind is movable and its key is unique.
    """
    names = Counter(map(key_of, sections))
    between: list[Key] = []
    for section in sections:
        key = key_of(section)
        if section.kind in movable() and names[key] == 1:
            between.append(key)
            continue
        yield sorted(between)
        yield key
        between = []
    yield sorted(between)


def has_conditionals(section: Section) -> bool:
    known: bool | None = section.cache.get(has_conditionals)
    if known is None:
        known = section.cache[has_conditionals] = any(line.args and line.args[0] in CONDITIONALS for line in section.lines)
    return known


def is_conditional(document: Document, sections: Iterable[Section]) -> bool:
    """Return whether a section of a document, or a line in the section, is in a conditional block."""
    inside = _conditional_sections(document)
    return any(id(section) in inside or has_conditionals(section) for section in sections)


def _conditional_sections(document: Document) -> frozenset[int]:
    """Return the ids (`id()`) of the sections inside a conditional block that begins above them."""
    cached: frozenset[int] | None = document.cache.get(is_conditional)
    if cached is not None:
        return cached
    ids, depth = set[int](), depth_after(map(Line, document.preamble.splitlines()), 0)
    for section in document.sections:
        if depth > 0:
            ids.add(id(section))
        depth = depth_after(section.lines, depth) if depth or ".if" in section.text else depth
    result = document.cache[is_conditional] = frozenset(ids)
    return result
