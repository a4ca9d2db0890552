"""Where new sections go."""

from typing import Any

import pytest

from haproxy_native.editing.editor import standard_editor
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


# A file with sections of several indents.
PEERS, USERS, DEFAULTS, BACKEND = (
    "peers p\n\tdisabled\n",
    "userlist u\n  group g\n",
    "defaults d\n    mode http\n",
    "backend b\n   retries 3\n",
)
MAXCONN = {"performance_options": {"maxconn": 10}}


@pytest.mark.parametrize(
    ("before", "kind", "name", "body", "behind", "line"),
    [
        ("global\n", "global", "", MAXCONN, DEFAULTS + BACKEND + USERS, "    maxconn 10"),
        (DEFAULTS + "global\n", "global", "", MAXCONN, BACKEND, "    maxconn 10"),
        (PEERS + "defaults e\n" + "global\n", "global", "", MAXCONN, BACKEND, "\tmaxconn 10"),
        (PEERS + "global\nmaxconn 1\n" + "backend c\n", "backends", "c", {"name": "c", "retries": 1}, BACKEND, "retries 1"),
        (USERS + DEFAULTS + "backend c\n", "backends", "c", {"name": "c", "retries": 1}, BACKEND, "    retries 1"),
        ("global\n  # none\n", "global", "", MAXCONN, "", "  maxconn 10"),
        ("global\n\0file:a.cfg\0.notice x\n" + DEFAULTS, "global", "", MAXCONN, "", "    maxconn 10"),
    ],
)
def test_a_section_without_lines_has_the_indent_of_its_neighbour(
    before: str, kind: str, name: str, body: dict[str, Any], behind: str, line: str
) -> None:
    editor = standard_editor()
    document = Document.parse((before + behind).encode())
    assert line in editor.replace(document, editor.resources[kind], None, name, body).text.split("\n")


@pytest.mark.parametrize(
    ("text", "kind", "body", "line"),
    [
        (USERS + DEFAULTS + BACKEND, "frontends", {"name": "f", "maxconn": 10}, "   maxconn 10"),
        (USERS + DEFAULTS + BACKEND + "backend c\n" + PEERS, "backends", {"name": "d", "retries": 1}, "   retries 1"),
        (USERS + DEFAULTS + BACKEND, "caches", {"name": "c", "max_age": 10}, "    max-age 10"),
        (DEFAULTS + BACKEND, "global", MAXCONN, "    maxconn 10"),
        ("", "global", MAXCONN, "  maxconn 10"),
    ],
)
def test_so_has_a_new_one(text: str, kind: str, body: dict[str, Any], line: str) -> None:
    editor = standard_editor()
    resource = editor.resources[kind]
    assert line in editor.create(Document.parse(text.encode()), resource, None, body).text.split("\n")


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
