"""The effects of a change are the same, in the same order, as after comparing everything, although only differing lines are compared."""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as some

from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import NativeError
from haproxy_native.planning.effects import effects
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.pieces import split_lines
from haproxy_native.text.section import Section
from tests.laws.settings import law
from tests.samples import directive_samples, line_samples

EDITOR = standard_editor()
KINDS = [each for each in EDITOR.resources.by_name.values() if each.kind in ("section", "singleton") and each.section and not each.file]
CORPUS = sorted((Path(__file__).parents[1] / "corpus" / "valid").glob("*.cfg"))
# Lines that are no objects, conditionals that hide or repeat lines, and comments.
OTHERS = (
    "zork 1",
    "zork 2 # theirs",
    "# a person's",
    "",
    ".if feature(OPENSSL)",
    ".else",
    ".endif",
    "###_config-snippet_### BEGIN",
    "###_config-snippet_### END",
    "no option httpclose",
    "default option httplog",
    "server",
    "server n1 127.0.0.1:1 zork",
    'server "n1" 127.0.0.1:2',
)
HEADERS = ("defaults", "defaults n0", "defaults n1", "backend n0", "backend n1", "backend n1 from n0", "frontend n0", "global", "program p")
Edit = Callable[[Document, random.Random], Document]


@law(150)
@given(some.integers(0, 1 << 32))
def test_the_lines_that_differ_tell_all_effects(seed: int) -> None:
    chance = random.Random(seed)
    documents = [_document(chance)]
    for _ in range(chance.randint(1, 4)):
        with suppress(NativeError):
            documents.append(chance.choice(EDITS)(documents[-1], chance))
    for old, new in [*pairwise(documents), (documents[0], documents[-1]), (documents[-1], documents[0])]:
        _check(old, new)


# Lines of a backend before and after, among the others of one that they share: what its other lines are is what matters.
ONE, TWO, AGAIN = "server n1 127.0.0.1:1", "server n2 127.0.0.1:2", "server n1 127.0.0.1:9"
BEGIN, END = "###_config-snippet_### BEGIN", "###_config-snippet_### END"
ROWS: list[tuple[list[str], list[str]]] = [
    ([ONE, TWO, AGAIN], [ONE, TWO, f"{AGAIN} weight 2"]),
    ([ONE, TWO, AGAIN], [f"{ONE} weight 2", TWO, AGAIN]),
    ([ONE, TWO, AGAIN], [TWO, AGAIN]),
    ([ONE, TWO], [ONE, TWO, AGAIN]),
    ([ONE, TWO], [AGAIN, ONE, TWO]),
    ([TWO], [TWO, ONE, AGAIN]),
    ([TWO, ONE], [TWO, ONE, "server n3 127.0.0.1:3"]),
    ([".if feature(OPENSSL)", ONE, ".else", AGAIN, ".endif"], [".if feature(OPENSSL)", ONE, ".else", f"{AGAIN} weight 2", ".endif"]),
    ([ONE, TWO], [ONE, "zork", TWO]),
    ([ONE, TWO], [ONE, "balance first", TWO]),
    (["balance source", ONE, TWO], ["balance source", ONE, "balance first", TWO]),
    ([ONE, "zork", TWO], [ONE, BEGIN, "zork", TWO]),
    ([BEGIN, ONE, END, TWO], [BEGIN, f"{ONE} weight 2", END, TWO]),
    ([BEGIN, ONE, END, TWO], [BEGIN, ONE, TWO]),
    ([BEGIN, ONE, END, TWO], [ONE, END, TWO]),
    (["http-request deny", TWO, "http-request deny"], ["http-request deny", TWO, "http-request deny", "http-request deny"]),
    (["http-request deny", "http-request allow", TWO], ["http-request allow", TWO, "http-request deny"]),
]


@pytest.mark.parametrize(("old", "new"), ROWS)
def test_what_other_lines_say(old: list[str], new: list[str]) -> None:
    lines = {text: Line(f"  {text}\n") for text in (*old, *new)}
    document = Document.parse("defaults\nbackend b\n")
    section = document.sections[1]
    sections = [section.with_lines([section.header, *(lines[text] for text in own)]) for own in (old, new)]
    one, other = (document.replace(section, each) for each in sections)
    _check(one, other)
    _check(other, one)


def _check(old: Document, new: Document) -> None:
    found = effects(old, new)
    with patch("haproxy_native.planning.effects.differing", _whole):
        assert found == effects(old, new), f"{old.text}\n-----\n{new.text}"
        # Values that sections cache in one comparison must not be used in another.
        assert found == effects(Document.parse(old.data), Document.parse(new.data)), f"{old.text}\n-----\n{new.text}"


def _whole(old: Section, new: Section) -> tuple[Section, Section]:
    return old, new


# -- documents


def _document(chance: random.Random) -> Document:
    texts = [chance.choice(CORPUS).read_text(errors="surrogateescape")] if chance.random() < 0.5 else []
    texts += [_section(chance.choice(KINDS), chance) for _ in range(chance.randint(0 if texts else 1, 3))]
    return Document.parse("\n".join(texts).encode("utf-8", "surrogateescape"))


def _section(resource: Resource, chance: random.Random) -> str:
    """Return a section with lines of any kind in any order, some with the same names."""
    header = f"{resource.section} n{chance.randrange(2)}" if resource.kind == "section" else resource.section
    lines = [_line(resource, chance) for _ in range(chance.randint(0, 8))]
    return f"{header}\n" + "".join(f"  {line}\n" for line in lines)


def _line(resource: Resource, chance: random.Random) -> str:
    children = [child for _, child in EDITOR.resources.children(resource.name)]
    kind = chance.random()
    if kind < 0.6 and children:
        child = chance.choice(children)
        return EDITOR.lines.shape(child).new(_row(child, chance)).text.strip()
    if kind < 0.8 and (directives := EDITOR.shape(resource).directives):
        shape = chance.choice(directives).shape
        samples = line_samples(shape)
        return shape.new(chance.choice(samples)).text.strip() if samples else ""
    return chance.choice(OTHERS)


def _row(child: Resource, chance: random.Random) -> Mapping[str, Any]:
    samples = line_samples(EDITOR.lines.shape(child))
    row = chance.choice(samples[:1] if chance.random() < 0.5 else samples)
    return {**row, child.key: f"n{chance.randrange(5)}"} if child.kind == "named" and child.key in row else row


# -- edits of texts


def _edited_lines(lines: list[str], resource: Resource | None, chance: random.Random) -> None:
    place, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.choice(["delete", "delete", "repeat", "move", "insert", "insert", "comment", "digit", "quote"]):
        case "delete":
            del lines[place : place + chance.randint(1, 3)]
        case "repeat":
            lines.insert(other, lines[place])
        case "move":
            lines.insert(chance.randrange(len(lines)), lines.pop(place))
        case "insert":
            lines.insert(place, f"  {_line(resource or chance.choice(KINDS), chance)}\n")
        case "comment":
            lines[place] = f"{lines[place].rstrip()} # {chance.randrange(3)}\n"
        case "digit":
            lines[place] = "".join(str(chance.randrange(3)) if letter.isdigit() else letter for letter in lines[place])
        case _:
            lines[place] = lines[place].replace("n1", '"n1"')


def _text(document: Document, chance: random.Random) -> Document:
    """Return a document from a new text, which shares no objects with the former document."""
    lines = split_lines(document.text) or ["\n"]
    for _ in range(chance.randint(1, 3)):
        _edited_lines(lines, None, chance)
        if chance.random() < 0.2:
            lines.insert(chance.randrange(len(lines) + 1), f"{chance.choice(HEADERS)}\n")
        lines = lines or ["\n"]
    return Document.parse("".join(lines).encode("utf-8", "surrogateescape"))


def _lines(document: Document, chance: random.Random) -> Document:
    """Return a document in which one section has other lines in addition to lines of the former one."""
    sections = [section for section in document.sections if len(section.lines) > 1 and section.kind in EDITOR.resources.by_section]
    if not sections:
        return document
    section = chance.choice(sections)
    texts = [line.text for line in section.lines[1:]]
    _edited_lines(texts, EDITOR.resources.by_section[section.kind], chance)
    known = {line.text: line for line in section.lines[1:]}
    return document.replace(section, section.with_lines([section.header, *(known.get(text) or Line(text) for text in texts)]))


# -- edits of objects


def _places(document: Document) -> Iterator[tuple[Resource, str]]:
    for kind, name in document.keys():  # noqa: SIM118 - a document is no mapping
        if resource := EDITOR.resources.by_section.get(kind):
            yield resource, name if resource.kind == "section" else ""


def _child(document: Document, chance: random.Random) -> Document:
    families = [(place, child) for place in _places(document) for _, child in EDITOR.resources.children(place[0].name)]
    if not families:
        return document
    filled = [(place, child) for place, child in families if EDITOR.list_objects(document, child, place)]
    parent, child = chance.choice(filled if filled and chance.random() < 0.8 else families)
    rows = EDITOR.list_objects(document, child, parent)
    place = chance.randrange(len(rows)) if rows else 0
    key = str(rows[place][child.key]) if child.kind == "named" and rows else place
    match chance.choice(["create", "delete", "replace", "member", "all"] if rows else ["create", "all"]):
        case "create":
            return EDITOR.create(document, child, parent, _row(child, chance), index=chance.randint(-1, len(rows)))
        case "delete":
            return EDITOR.delete(document, child, parent, key)
        case "replace":
            body = dict(_row(child, chance))
            return EDITOR.replace(document, child, parent, key, {**body, child.key: key} if child.kind == "named" else body)
        case "member":
            body = {name: value + 1 if type(value) is int and value < 50 else value for name, value in rows[place].items()}
            return EDITOR.replace(document, child, parent, key, body)
        case _:
            chance.shuffle(rows)
            return EDITOR.replace_all(document, child, parent, [*rows[:3], _row(child, chance)])


def _section_object(document: Document, chance: random.Random) -> Document:
    places = list(_places(document))
    resource, name = chance.choice(places) if places else (EDITOR.resources["backends"], "n0")
    match chance.choice(["create", "delete", "replace", "replace", "children"]):
        case "create":
            other = chance.choice([each for each in KINDS if each.kind == "section"])
            return EDITOR.create(document, other, None, {other.key: f"n{chance.randrange(3)}"})
        case "delete":
            return EDITOR.delete(document, resource, None, name)
        case "replace":
            samples = [sample for directive in EDITOR.shape(resource).directives for sample in directive_samples(directive)]
            body = {**EDITOR.get_object(document, resource, None, name), **chance.choice(samples or [{}])}
            return EDITOR.replace(document, resource, None, name, body)
        case _:
            body = EDITOR.get_object(document, resource, None, name, full=True)
            own = [member for member in body if member != resource.key]
            body = {member: value for member, value in body.items() if not own or member != chance.choice(own)}
            return EDITOR.replace(document, resource, None, name, body, full=True)


EDITS: tuple[Edit, ...] = (_text, _lines, _lines, _child, _child, _child, _section_object)
