"""Read and edit the scopes of a SPOE file and the agents, groups and messages in them.

A scope starts at a line with its name in brackets and ends before the next such line. If a file opens a scope twice, both parts are one
scope. The methods of `ScopeEditor` take a document and return an edited document, or plain data. They raise Missing, Exists and BadValue.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from haproxy_native.editing.placement import place_for_new, usual_indent, with_near_indent
from haproxy_native.editing.resources import Resource, Resources, absent_section, resources, taken_section
from haproxy_native.errors import BadValue, Exists, Missing, Place
from haproxy_native.grammar.load import Grammar, grammar
from haproxy_native.grammar.section_shape import SectionShape
from haproxy_native.grammar.values import refuse_line_breaks
from haproxy_native.text.document import SCOPE, Document, Outline
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from haproxy_native.text.words import unquoted

FILE = "spoe"
# What HAProxy accepts as the name of a scope.
_NAME = re.compile(r"\[[A-Za-z0-9_.:-]+\]")
# What HAProxy accepts as the name of an object in a scope, and the prefix of the names of resources.
_OWN_NAME, PREFIX = re.compile(r"[A-Za-z0-9_.:-]{1,200}"), "spoe_"
Object = dict[str, Any]


def outline(table: Resources | None = None) -> Outline:
    """Return the outline of SPOE files, which has the keywords that begin a section."""
    rows = (table or resources()).by_name.values()
    return Outline((row.section for row in rows if row.file == FILE), scopes=True)


def scopes(document: Document) -> list[str]:
    """Return the names of the scopes, each in its brackets, sorted."""
    return sorted({section.name for section in document.sections if section.kind == SCOPE})


class ScopeEditor:
    """Reads and edits the scopes of SPOE files, and the objects in these scopes."""

    def __init__(self, language: Grammar | None = None, table: Resources | None = None) -> None:
        self.grammar, self.resources = language or grammar(), table or resources()

    def shape(self, resource: Resource) -> SectionShape:
        return self.grammar.section(resource.schema)

    # -- scopes

    def create_scope(self, document: Document, name: str) -> Document:
        """Return the document with a new, empty scope. `name` includes the brackets."""
        if not _NAME.fullmatch(name):
            raise BadValue(f"'{name}' is not the name of a scope: letters, digits, '-', '_', '.' and ':' in square brackets, [like-this]")
        if name in scopes(document):
            raise Exists(f"scope {name} already exists")
        newline = document.sections[0].newline if document.sections else "\n"
        new = Section(SCOPE, name, name + newline)
        return _insert(document, new, [section for section in document.sections if section.kind == SCOPE], document.sections, closed=False)

    def delete_scope(self, document: Document, name: str) -> Document:
        """Return the document without the scope and its contents."""
        check_scope(document, name)
        for section in list(_sections_in(document, name)):
            document = document.remove(section)
        return document

    # -- objects

    def list_objects(self, document: Document, scope: str, resource: Resource) -> list[Object]:
        """Return the objects of one kind in a scope, sorted by name."""
        check_scope(document, scope)
        sections = (section for section in _sections_in(document, scope) if section.kind == resource.section)
        return [self._object(section, resource) for section in sorted(sections, key=lambda section_: section_.name)]

    def get_object(self, document: Document, scope: str, resource: Resource, name: str) -> Object:
        if (section := _find(document, scope, resource, name)) is None:
            raise absent_section(resource, name)
        return self._object(section, resource)

    def create(self, document: Document, scope: str, resource: Resource, body: Mapping[str, Any]) -> Document:
        """Return the document with a new object. The objects of one kind stay in the order of their names.

        The first object of a kind is inserted among all sections of the scope, in the order of kinds and names.
        """
        refuse_line_breaks(body)
        check_scope(document, scope)
        if _find(document, scope, resource, str(body["name"])):
            raise taken_section(resource, str(body["name"]))
        inside = list(_sections_in(document, scope))
        kin = [section for section in inside if section.kind == resource.section]
        indent = usual_indent(document, place_for_new(document, resource.section))
        new = self.shape(resource).new(body, indent, inside[-1].newline)
        return _insert(document, new, kin or inside, kin or inside)

    def replace(self, document: Document, scope: str, resource: Resource, name: str, body: Mapping[str, Any]) -> Document:
        """Return the document with the values of one object replaced. If its name changes, references in the scope get the new name."""
        refuse_line_breaks(body)
        old = _find(document, scope, resource, name)
        if old is None:
            raise absent_section(resource, name, "absent_replace")
        to = str(body.get("name") or name)
        if to != name:
            document = _rename_object(document, scope, resource, old, to)
            old = _find(document, scope, resource, to)
            assert old
        new = self.shape(resource).onto(with_near_indent(document, old), {**body, "name": old.name}, whole=False)
        return document.replace(old, new)

    def delete(self, document: Document, scope: str, resource: Resource, name: str) -> Document:
        old = _find(document, scope, resource, name)
        if old is None:
            raise absent_section(resource, name, "absent_delete")
        return document.remove(old)

    def _object(self, section: Section, resource: Resource) -> Object:
        shape = self.shape(resource)
        members = {**shape.read(section), "name": section.name}
        return {member: members[member] for member in shape.order if member in members}


def _rename_object(document: Document, scope: str, resource: Resource, old: Section, name: str) -> Document:
    """Return the document with an object renamed to `name`, in its header and in all lines of the scope that refer to the object.

    Raises BadValue and Exists.
    """
    if not _OWN_NAME.fullmatch(name):
        text = f"name in body: {name[:100]!r} is not a name that HAProxy accepts; use only letters, digits and . _ : -"
        raise BadValue(text, place=Place(member="name"))
    if _find(document, scope, resource, name):
        raise taken_section(resource, name)
    # The keyword of the lines in which agents list messages and groups, and groups list messages.
    listing = resource.name.removeprefix(PREFIX)
    for section in list(_sections_in(document, scope)):
        lines = [
            _replace_argument(line, old.name, name) if line.args[:1] == (listing,) or (section is old and line is section.header) else line
            for line in section.lines
        ]
        if any(line is not former for line, former in zip(lines, section.lines, strict=True)):
            document = document.replace(section, section.with_lines(lines, name=name if section is old else None))
    return document


def _replace_argument(line: Line, old: str, new: str) -> Line:
    """Return the line with each argument `old` replaced by `new`. Return the same object if no argument matches."""
    words = [new if number and unquoted(word) == old else word for number, word in enumerate(line.split.words)]
    if tuple(words) == tuple(line.split.words):
        return line
    end = sum(map(len, (*line.split.gaps, *line.split.words)))
    return Line("".join(gap + word for gap, word in zip(line.split.gaps, words, strict=True)) + line.text[end:])


def _insert(document: Document, new: Section, kin: Sequence[Section], around: Sequence[Section], *, closed: bool = True) -> Document:
    """Insert a section before the first section of `kin` with a greater name. Without one, insert it after the last section of `around`."""
    following = next((section for section in kin if (section.kind, section.name) > (new.kind, new.name)), None)
    index = document.sections.index(following) if following else document.sections.index(around[-1]) + 1 if around else 0
    return document.insert_at(new, index, apart=index > 0 and document.sections[index - 1].kind != SCOPE, closed=closed)


def check_scope(document: Document, name: str) -> None:
    if name not in scopes(document):
        raise Missing(f"scope {name} does not exist")


def _sections_in(document: Document, scope: str) -> Iterator[Section]:
    """Yield the sections of a scope: the section of kind SCOPE with the name of the scope, and then the sections of its objects."""
    within = False
    for section in document.sections:
        if section.kind == SCOPE:
            within = section.name == scope
        if within:
            yield section


def _find(document: Document, scope: str, resource: Resource, name: str) -> Section | None:
    matching = (section for section in _sections_in(document, scope) if section.kind == resource.section and section.name == name)
    return next(matching, None)


@dataclass(frozen=True)
class ScopeEdit:
    """The operation that edits a SPOE file by a method of `ScopeEditor`. Commits apply it, and transactions store it."""

    edit: Callable[[Document], Document]
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        return self.edit(document)
