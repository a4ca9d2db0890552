"""The limit of a backend that HAProxy computes when it starts from those of the frontends that send to it (HAProxy Configuration Manual,
section 4.2 "fullconn"). Pure.

It decides how many connections a server with a lower bound gets; else nothing but statistics shows it (docs/decisions/0089).
"""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from haproxy_native.grammar.load import grammar
from haproxy_native.planning.section_order import has_conditionals
from haproxy_native.planning.servers import ancestors
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section

SERVED = ("backend", "listen")
# A name that a variable is part of.
UNKNOWN = ""


@functools.cache
def _computed() -> tuple[str, Mapping[str, Any]]:
    """The keyword that is `computed_for` servers, and its note."""
    schemas = grammar().schemas
    notes = {name: schemas.note(schema) for name, schema in schemas.properties(schemas.named(SERVED[0])).items()}
    return next((name, note["computed_for"]) for name, note in notes.items() if "computed_for" in note)


def limited_by(document: Document, frontend: Section) -> str:
    """The name of a backend in which the frontend's limit changes what a server gets; empty where there is none."""
    targets = set(_targets(document, frontend))
    for section in document.sections:
        if section.kind in SERVED and (section is frontend or targets & {section.name, UNKNOWN}) and is_limited(document, section):
            return section.name
    return ""


def _targets(document: Document, frontend: Section) -> Iterator[str]:
    """HAProxy counts names that are written out, no others."""
    for words in _words(document, frontend):
        if words[0] in _computed()[1]["behind"] and len(words) > 1:
            yield UNKNOWN if "$" in words[1] else words[1]


def is_limited(document: Document, section: Section) -> bool:
    """Whether what a server of the section gets follows from a limit that HAProxy computes."""
    keyword, note = _computed()
    words = list(_words(document, section))
    explicit = any(line[0] == keyword and line[1:] != ("0",) for line in words)
    return (not explicit or has_conditionals(section)) and any(note["servers_with"] in line for line in words)


def _words(document: Document, section: Section) -> Iterator[tuple[str, ...]]:
    """Yields the words of all lines with a meaning, without their quotes, inherited ones included."""
    for section_ in (section, *ancestors(document, section)):
        yield from (line.args for line in section_.lines if line.args)
