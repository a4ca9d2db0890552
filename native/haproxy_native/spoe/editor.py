"""CRUD on the scopes of a SPOE file and the sections in them; a document goes in, a document or plain data comes out.

A scope reaches from its line in brackets to the next; one that is opened twice is one scope. Raises Missing, Exists and BadValue.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from haproxy_native.editing.lookup_errors import absent_section, taken_section
from haproxy_native.editing.placement import at_home, usual_indent
from haproxy_native.editing.resources import Resource, Resources, resources
from haproxy_native.errors import BadValue, Exists, Missing
from haproxy_native.grammar.load import Grammar, grammar
from haproxy_native.grammar.section_shape import SectionShape
from haproxy_native.grammar.values import refuse_line_breaks
from haproxy_native.text.document import Document
from haproxy_native.text.outline import SCOPE, Outline
from haproxy_native.text.section import Section

FILE = "spoe"
# What HAProxy takes for the name of a scope.
_NAME = re.compile(r"\[[A-Za-z0-9_.:-]+\]")
Object = dict[str, Any]


def outline(table: Resources | None = None) -> Outline:
    """Returns where the sections of a SPOE file begin."""
    rows = (table or resources()).by_name.values()
    return Outline((row.section for row in rows if row.file == FILE), scopes=True)


def scopes(document: Document) -> list[str]:
    """Their names with brackets, sorted."""
    return sorted({section.name for section in document.sections if section.kind == SCOPE})


class ScopeEditor:
    """Reads and edits SPOE files in one grammar."""

    def __init__(self, language: Grammar | None = None, table: Resources | None = None) -> None:
        self.grammar, self.resources = language or grammar(), table or resources()

    def shape(self, resource: Resource) -> SectionShape:
        return self.grammar.section(resource.schema)

    # -- scopes

    def create_scope(self, document: Document, name: str) -> Document:
        if not _NAME.fullmatch(name):
            raise BadValue(f"'{name}' is not the name of a scope: letters, digits, '-', '_', '.' and ':' in square brackets, [like-this]")
        if name in scopes(document):
            raise Exists(f"scope {name} already exists")
        newline = document.sections[0].newline if document.sections else "\n"
        new = Section(SCOPE, name, name + newline)
        return _insert(document, new, [section for section in document.sections if section.kind == SCOPE], document.sections, closed=False)

    def delete_scope(self, document: Document, name: str) -> Document:
        """Returns the document without the scope and its contents."""
        check_scope(document, name)
        for section in list(_of(document, name)):
            document = document.remove(section)
        return document

    # -- what is in them

    def list_objects(self, document: Document, scope: str, resource: Resource) -> list[Object]:
        """Sorted by name."""
        check_scope(document, scope)
        sections = (section for section in _of(document, scope) if section.kind == resource.section)
        return [self._object(section, resource) for section in sorted(sections, key=lambda section_: section_.name)]

    def get_object(self, document: Document, scope: str, resource: Resource, name: str) -> Object:
        if (section := _find(document, scope, resource, name)) is None:
            raise absent_section(resource, name)
        return self._object(section, resource)

    def create(self, document: Document, scope: str, resource: Resource, body: Mapping[str, Any]) -> Document:
        """Among its kind, or the kinds of the scope, as their names are sorted."""
        refuse_line_breaks(body)
        check_scope(document, scope)
        if _find(document, scope, resource, str(body["name"])):
            raise taken_section(resource, str(body["name"]))
        inside = list(_of(document, scope))
        kin = [section for section in inside if section.kind == resource.section]
        new = self.shape(resource).new(body, usual_indent(document, resource.section), inside[-1].newline)
        return _insert(document, new, kin or inside, kin or inside)

    def replace(self, document: Document, scope: str, resource: Resource, name: str, body: Mapping[str, Any]) -> Document:
        """Returns the document with one object's values replaced; its name stays."""
        refuse_line_breaks(body)
        old = _find(document, scope, resource, name)
        if old is None:
            raise absent_section(resource, name, "absent_replace")
        new = self.shape(resource).onto(at_home(document, old), {**body, "name": old.name}, whole=False)
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


def _insert(document: Document, new: Section, kin: Sequence[Section], others: Sequence[Section], *, closed: bool = True) -> Document:
    """Inserts before the first of its kind that sorts after it, else after the last of the others."""
    behind = next((section for section in kin if (section.kind, section.name) > (new.kind, new.name)), None)
    place = document.sections.index(behind) if behind else document.sections.index(others[-1]) + 1 if others else 0
    return document.insert_at(new, place, apart=place > 0 and document.sections[place - 1].kind != SCOPE, closed=closed)


def check_scope(document: Document, name: str) -> None:
    if name not in scopes(document):
        raise Missing(f"scope {name} does not exist")


def _of(document: Document, scope: str) -> Iterator[Section]:
    """The scope's own lines and the sections in it."""
    within = False
    for section in document.sections:
        if section.kind == SCOPE:
            within = section.name == scope
        if within:
            yield section


def _find(document: Document, scope: str, resource: Resource, name: str) -> Section | None:
    matching = (section for section in _of(document, scope) if section.kind == resource.section and section.name == name)
    return next(matching, None)
