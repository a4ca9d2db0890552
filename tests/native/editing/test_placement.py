"""Where new sections go."""

import pytest

from haproxy_native.editing.placement import insert_section
from haproxy_native.text.document import MARK, MARK_END, Document
from haproxy_native.text.section import BOUNDARY, Section


@pytest.mark.parametrize(
    ("text", "new", "order"),
    [
        ("global|defaults d|frontend f|backend b", "crt-store c", "global|defaults d|crt-store c|frontend f|backend b"),
        ("frontend f", "peers p", "peers p|frontend f"),
        ("global|backend b|peers p", "peers q", "global|backend b|peers p|peers q"),
        ("global", "peers p", "global|peers p"),
        ("global|defaults d", "backend b", "global|defaults d|backend b"),
        ("global|backend b|listen l", "frontend f", "global|backend b|listen l|frontend f"),
        ("frontend f|backend b", "global", "global|frontend f|backend b"),
    ],
)
def test_the_order(text: str, new: str, order: str) -> None:
    document = Document.parse(("\n\n".join(text.split("|")) + "\n").encode())
    kind, _, name = new.partition(" ")
    assert insert_section(document, Section(kind, name, new + "\n")).text == "\n\n".join(order.split("|")) + "\n"


@pytest.mark.parametrize(
    ("text", "new", "after"),
    [
        ("|a:backend x|:frontend f", "global", "a:backend x|:global|frontend f"),
        ("|a:defaults d|:", "backend b", "a:defaults d|:backend b"),
        ("|a:backend x|:frontend f", "backend b", "a:backend x|backend b|:frontend f"),
        ("frontend f|a:backend x", "peers p", "peers p|frontend f|a:backend x"),
        ("frontend f|a:backend x|b:ring r", "ring s", "frontend f|a:backend x|b:ring r|ring s"),
        ("|a:backend x", "frontend f", "frontend f|a:backend x"),
        ("global|a:frontend f", "defaults d", "global|a:frontend f|defaults d"),
    ],
)
def test_each_file_keeps_to_itself(text: str, new: str, after: str) -> None:
    """`a:` begins file a, `:` the main one where it is not the first."""
    kind, _, name = new.partition(" ")
    document = insert_section(Document.parse(joined(text)), Section(kind, name, new + "\n"))
    assert summary(document) == after
    assert summary(Document.parse(document.data)) == after
    read = {(section.kind, section.name, section.file) for section in Document.parse(document.data).sections}
    assert {(section.kind, section.name, section.file) for section in document.sections} == read


def joined(text: str) -> str:
    pieces = []
    for piece in filter(None, text.split("|")):
        name, colon, header = piece.rpartition(":")
        pieces.append((f"{MARK}{name}{MARK_END}" if colon else "") + (f"{header}\n" if header else ""))
    return "".join(pieces)


def summary(document: Document) -> str:
    found, mark = [], ""
    for section in document.sections:
        if section.kind == BOUNDARY:
            mark = f"{section.name}:"
        else:
            found.append(mark + section.header.text.strip())
            mark = ""
    return "|".join(found)
