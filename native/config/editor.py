"""CRUD on a document by resource: a document goes in, a document or plain data comes out; nothing is ever changed in place.

`parent` is (parent resource, parent name) for children and None for sections. Raises NotThere, AlreadyThere, NoParent,
IndexOutOfRange, BadValue and UnknownWords.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from native.config.bindings import all_implicit, check_from, implicit_defaults
from native.config.children import ChildEditor
from native.config.placement import at_home, behind_its_defaults, insert_section, usual_indent
from native.config.resources import Resource, Resources, resources
from native.errors import AlreadyThere, IndexOutOfRange, NoParent, NotThere
from native.grammar.load import Grammar, grammar
from native.grammar.section_shape import SectionShape
from native.grammar.values import refuse_line_breaks
from native.text.document import Document
from native.text.section import Section
from native.text.words import is_word, unquoted

Object = dict[str, Any]
Parent = tuple[Resource, str] | None


class Editor:
    """Reads and edits documents in one grammar."""

    def __init__(self, language: Grammar | None = None, table: Resources | None = None) -> None:
        self.grammar, self.resources = language or grammar(), table or resources()
        self.lines = ChildEditor(self.grammar, self.resources)

    def shape(self, resource: Resource) -> SectionShape:
        return self.grammar.section(resource.schema, [member for member, _ in self.resources.children(resource.name)])

    # -- reading

    def list_objects(self, document: Document, resource: Resource, parent: Parent = None, *, full: bool = False) -> list[Object]:
        """All of a collection in file order; the children of a parent that does not exist are none."""
        if parent is not None:
            section = self._section(document, *parent)
            return [] if section is None else [dict(each) for each in self.lines.children(section, resource).readable]
        implicit = all_implicit(document)
        return [
            self._object(section, resource, name, bound, full=full)
            for name, section, bound in zip(document.names(), document.sections, implicit, strict=True)
            if section.kind == resource.section
        ]

    def get_object(self, document: Document, resource: Resource, parent: Parent, key: str | int, *, full: bool = False) -> Object:
        if parent is not None:
            section, index = self._child(document, resource, parent, key)
            found = self.lines.children(section, resource).objects[index]
            if found is None:
                raise NotThere(_absent(resource, parent, key))
            return dict(found)
        name = str(key) if resource.kind == "section" else ""
        section_found = self._section(document, resource, name)
        if section_found is None:
            raise NotThere(_message(resource, "absent", f"{resource.title} {name} does not exist", name=name))
        return self._object(section_found, resource, name, implicit_defaults(document, section_found), full=full)

    def unparsed(self, document: Document, resource: Resource, parent: Parent) -> list[int]:
        """Indices of a collection's lines that cannot be expressed as objects."""
        section = self._section(document, *parent) if parent else None
        return self.lines.children(section, resource).unparsed if section else []

    def _object(self, section: Section, resource: Resource, name: str, bound: str | None, *, full: bool) -> Object:
        shape = self.shape(resource)
        found = dict(shape.read(section))
        if "name" in shape.order:
            found["name"] = name
        if bound is not None and "from" in shape.order:
            found.setdefault("from", bound)
        if full:
            found |= self._embedded(section, resource)
        return {member: found[member] for member in self._order(resource, shape) if member in found}

    def _order(self, resource: Resource, shape: SectionShape) -> list[str]:
        return [*shape.order, *(member for member, _ in self.resources.children(resource.name))]

    def _embedded(self, section: Section, resource: Resource) -> Object:
        embedded: Object = {}
        for member, child in self.resources.children(resource.name):
            if objects := self.lines.children(section, child).readable:
                embedded[member] = {str(each[child.key]): each for each in objects} if child.kind == "named" else list(objects)
        return embedded

    # -- sections

    def _section(self, document: Document, resource: Resource, name: str) -> Section | None:
        return document.find(resource.section, name if resource.kind == "section" else "")

    def create(
        self,
        document: Document,
        resource: Resource,
        parent: Parent,
        body: Mapping[str, Any],
        *,
        index: int | None = None,
        full: bool = False,
    ) -> Document:
        """With a new section, or a new child (at `index`, negative or None: at the end)."""
        refuse_line_breaks(body)
        if parent is not None:
            return self._create_child(document, resource, parent, body, index)
        name = str(body.get(resource.key) or "")
        if self._section(document, resource, name) is not None:
            raise AlreadyThere(_message(resource, "taken", f"{resource.section} {name} already exists", name=name))
        check_from(document, name, body.get("from"))
        return insert_section(document, self._new_section(document, resource, body, full=full))

    def _new_section(self, document: Document, resource: Resource, body: Mapping[str, Any], *, full: bool) -> Section:
        newline = document.sections[0].newline if document.sections else "\n"
        section = self.shape(resource).new(body, usual_indent(document, resource.section), newline)
        return self._with_embedded(section, resource, body) if full else section

    def _with_embedded(self, section: Section, resource: Resource, body: Mapping[str, Any]) -> Section:
        for member, child in self.resources.children(resource.name):
            told = body.get(member) or []
            rows = [told[key] for key in sorted(told)] if isinstance(told, Mapping) else told
            section = self.lines.replace_all(section, resource.name, child, rows)
        return section

    def replace(
        self, document: Document, resource: Resource, parent: Parent, key: str | int, body: Mapping[str, Any], *, full: bool = False
    ) -> Document:
        """With one object saying something else; lines that say the same stay as they are."""
        refuse_line_breaks(body)
        if parent is not None:
            section, index = self._child(document, resource, parent, key)
            self._refuse_taken(section, resource, parent, key, body)
            return document.replace(section, self.lines.replace(section, resource, index, body))
        name = str(key) if resource.kind == "section" else ""
        old = self._section(document, resource, name)
        if old is None:
            raise NotThere(_message(resource, "absent_replace", f"{resource.section} {name} does not exist", name=name))
        told = {**body, "name": old.name} if resource.kind == "section" else dict(body)
        check_from(document, name, told.get("from"))
        new = self.shape(resource).onto(at_home(document, old), _without_implied(told, old, implicit_defaults(document, old)))
        if full:
            new = self._with_embedded(self._without_unknown(new, resource), resource, body)
        return behind_its_defaults(document.replace(old, new), new)

    def _without_unknown(self, section: Section, resource: Resource) -> Section:
        """Without the directives that no object can express; comments and conditionals stay."""
        shape = self.shape(resource)
        known = {place for _, child in self.resources.children(resource.name) for place in self.lines.children(section, child).places}
        known |= {place for lines in shape.reading(section).lines.values() for place, _ in lines}
        return section.with_lines(
            line
            for place, line in enumerate(section.lines)
            if place == 0 or place in known or not line.words or line.words[0].startswith(".")
        )

    def delete(self, document: Document, resource: Resource, parent: Parent, key: str | int) -> Document:
        if parent is not None:
            section, index = self._child(document, resource, parent, key)
            return document.replace(section, self.lines.delete(section, resource, index))
        section_found = self._section(document, resource, str(key))
        if section_found is None:
            raise NotThere(_message(resource, "absent_delete", f"{resource.section} {key} does not exist", name=key))
        return document.remove(section_found)

    # -- children

    def _parent(self, document: Document, parent: tuple[Resource, str]) -> Section:
        section = self._section(document, *parent)
        if section is None:
            raise NoParent(f"{_word(parent[0])} {parent[1]} does not exist")
        return section

    def _child(self, document: Document, resource: Resource, parent: tuple[Resource, str], key: str | int) -> tuple[Section, int]:
        section = self._section(document, *parent)
        objects = self.lines.children(section, resource).objects if section else []
        if resource.kind == "indexed":
            index = int(key) if section and 0 <= int(key) < len(objects) else None
        else:
            index = _index_of([each and each.get(resource.key) for each in objects], key)
        if section is None and resource.kind == "indexed":
            self._parent(document, parent)
        if section is None or index is None:
            raise NotThere(_absent(resource, parent, key))
        return section, index

    def _create_child(
        self, document: Document, resource: Resource, parent: tuple[Resource, str], body: Mapping[str, Any], index: int | None
    ) -> Document:
        section = self._parent(document, parent)
        objects = self.lines.children(section, resource).objects
        if resource.kind == "named":
            self._refuse_taken(section, resource, parent, None, body)
        place = len(objects) if index is None or index < 0 else index
        if place > len(objects):
            raise IndexOutOfRange(f"Object with id {index} in {_inside(parent)} out of range")
        return document.replace(section, self.lines.insert(at_home(document, section), parent[0].name, resource, body, place))

    def _refuse_taken(
        self, section: Section, resource: Resource, parent: tuple[Resource, str], key: str | int | None, body: Mapping[str, Any]
    ) -> None:
        name = body.get(resource.key)
        names = [each.get(resource.key) for each in self.lines.children(section, resource).readable]
        if resource.kind == "named" and _index_of(names, name) not in (None, None if key is None else _index_of(names, key)):
            word = _word(parent[0])
            text = f"{resource.title} {name} already exists in {parent[1]} {word}"
            raise AlreadyThere(_message(resource, "taken", text, name=name, parent=parent[1], word=word))

    def replace_all(
        self, document: Document, resource: Resource, parent: tuple[Resource, str], bodies: Sequence[Mapping[str, Any]]
    ) -> Document:
        """With a whole list of children."""
        refuse_line_breaks(bodies)
        section = self._parent(document, parent)
        return document.replace(section, self.lines.replace_all(at_home(document, section), parent[0].name, resource, bodies))


def _without_implied(body: Mapping[str, Any], old: Section, bound: str | None) -> Mapping[str, Any]:
    """The body without a `from` that only repeats what the place in the file says already."""
    if bound is not None and body.get("from") == bound and "from" not in old.header.words[2:]:
        return {name: value for name, value in body.items() if name != "from"}
    return body


def _index_of(names: Sequence[Any], wanted: object) -> int | None:
    """Of a name as the file writes it, else of one that HAProxy takes for the same."""
    if wanted in names:
        return names.index(wanted)
    meant = _meant(wanted)
    return next((index for index, name in enumerate(names) if isinstance(name, str) and unquoted(name) == meant), None)


def _meant(name: object) -> str:
    """A client need not quote a name that takes quotes in the file."""
    text = str(name)
    return unquoted(text) if is_word(text) else text


def _word(parent: Resource) -> str:
    return str(parent.messages.get("word", parent.section))


def _inside(parent: tuple[Resource, str]) -> str:
    return f"{_word(parent[0])} {parent[1]}" if parent[0].kind == "section" else _word(parent[0])


def _absent(resource: Resource, parent: tuple[Resource, str], key: str | int) -> str:
    if resource.kind == "indexed":
        return _message(resource, "absent", f"Object {key} does not exist in {_inside(parent)}", index=key, parent=parent[1])
    return _message(
        resource, "absent", f"{resource.title} {key} does not exist in {parent[1]} {_word(parent[0])}", name=key, parent=parent[1]
    )


def _message(resource: Resource, situation: str, default: str, **values: object) -> str:
    template = resource.messages.get(situation)
    return template.format(**values) if template else default
