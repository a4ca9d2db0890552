"""Create, read, replace and delete objects of a document. Documents are immutable: each edit returns a new document.

`parent` is (parent resource, parent name) for children and None for sections. `full` means a section with all its children. The methods
raise Missing, Exists, NoParent, IndexOutOfRange, BadValue and UnknownWords.

HAProxy reads several sections of one kind without a name, such as two `global` sections, as one section. So does the editor: it joins their
lines to one united section, which it splits again after the edit. In the united section, the header lines of the second and later sections
mark where each section begins. A new line goes to the section, and so to the file, of the line above it.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from haproxy_native.abandonment import check
from haproxy_native.editing.children import ChildEditor, unquoted_name
from haproxy_native.editing.defaults_sections import all_implicit_defaults, check_from, implicit_defaults, with_name, with_named_source
from haproxy_native.editing.placement import (
    insert_section,
    move_below_defaults,
    place_for_new,
    usual_indent,
    usual_newline,
    with_acls_above,
    with_near_indent,
)
from haproxy_native.editing.resources import (
    ORPHANS,
    Resource,
    Resources,
    absent_child,
    absent_parent,
    absent_section,
    lists_without_parent,
    message,
    parent_label,
    parent_word,
    reports_missing_parent,
    resources,
    taken_section,
)
from haproxy_native.errors import Exists, IndexOutOfRange, NativeError, OtherName, Place
from haproxy_native.grammar.line_shape import opaque_words
from haproxy_native.grammar.load import Grammar, grammar
from haproxy_native.grammar.section_shape import SectionShape
from haproxy_native.grammar.values import refuse_line_breaks
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from haproxy_native.text.words import normalized, unquoted

# Keys of a section's cache: the united section that it begins, and, in a united section, the original sections.
_UNITED, _PARTS = "united", "parts"


def _with_section(document: Document, old: Section, new: Section) -> Document:
    """Return the document with `old` replaced by `new`. If `old` is a united section, replace each of the sections that it joins."""
    if _PARTS not in old.cache:
        return document.replace(old, new)
    edited: list[list[Line]] = []
    for line in new.lines:
        if _is_mark(new, line):
            edited.append([])
        edited[-1].append(line)
    for section, lines in zip(old.cache[_PARTS], edited, strict=True):
        if lines != list(section.lines):
            document = document.replace(section, section.with_lines(lines))
    return document


def _is_mark(section: Section, line: Line) -> bool:
    return line.args[:1] == (section.kind,)


Object = dict[str, Any]
Parent = tuple[Resource, str] | None


class Editor:
    """Reads and edits documents in one grammar."""

    def __init__(self, language: Grammar | None = None, table: Resources | None = None) -> None:
        self.grammar, self.resources = language or grammar(), table or resources()
        self.lines = ChildEditor(self.grammar, self.resources)
        self._shapes: dict[str, SectionShape] = {}
        self._ranks: dict[str, dict[str, int]] = {}
        self._escaped_members: dict[str, frozenset[str]] = {}

    def shape(self, resource: Resource) -> SectionShape:
        if (shape_ := self._shapes.get(resource.name)) is None:
            members = [member for member, _ in self.resources.children(resource.name)]
            shape_ = self._shapes[resource.name] = self.grammar.section(resource.schema, members)
        return shape_

    def _escaped(self, resource: Resource) -> frozenset[str]:
        """Return the dotted paths of members that may contain line breaks, in an object, in a list of objects, and in a full section."""
        if (members := self._escaped_members.get(resource.name)) is None:
            note, schema = self.grammar.schemas.note, self.grammar.schemas.named(resource.schema)
            own = [name for name, member in self.grammar.schemas.properties(schema).items() if note(member).get("escaped")]
            held = {f"{member}.*.{name}" for member, child in self.resources.children(resource.name) for name in self._escaped(child)}
            members = self._escaped_members[resource.name] = frozenset({*own, *(f"*.{name}" for name in own), *held})
        return members

    def defaults(self, resource: Resource) -> Object:
        """Return the default values that the schema declares for members of a section, without its children."""
        return {default.member: default.value for default in self.shape(resource).defaults if not default.path}

    def aliases(self, resource: Resource) -> dict[str, str]:
        """Map each deprecated member of a section to the list member that has replaced it."""
        return {alias.member: alias.target for alias in self.shape(resource).list_aliases}

    # -- reading

    def list_objects(self, document: Document, resource: Resource, parent: Parent = None, *, full: bool = False) -> list[Object]:
        """Return all objects of a collection in file order.

        If the parent is missing, return an empty list if `lists_without_parent` permits that. Otherwise, raise NoParent.
        """
        if parent is not None:
            section = self.section(document, *parent)
            if section is None and not lists_without_parent(resource):
                raise absent_parent(resource, parent, "orphan_list")
            return [] if section is None else [dict(object_) for object_ in self.lines.children(section, resource).readable]
        implicit = all_implicit_defaults(document)
        return [
            self.as_object(section, resource, name, bound, full=full)
            for name, section, bound in zip(document.names(), document.sections, implicit, strict=True)
            if section.kind == resource.section
        ]

    def get_object(self, document: Document, resource: Resource, parent: Parent, key: str | int, *, full: bool = False) -> Object:
        if parent is not None:
            section, index = self._child(document, resource, parent, key)
            object_ = self.lines.children(section, resource).objects[index]
            if object_ is None:
                raise absent_child(resource, parent, key)
            return dict(object_)
        name = str(key) if resource.kind == "section" else ""
        section_found = self.section_or_implied(document, resource, name)
        if section_found is None:
            raise absent_section(resource, name, full=full)
        address = document.address(section_found) or name
        return self.as_object(section_found, resource, address, implicit_defaults(document, section_found), full=full)

    def added_object(self, before: Document, after: Document, resource: Resource, parent: tuple[Resource, str]) -> Object:
        """Return the object that an edit has added to a collection. `before`, `after`: the documents before and after the edit."""
        sections = (self.section(document, *parent) for document in (before, after))
        old, new = (self.lines.children(section, resource).objects if section else [] for section in sections)
        index = next((index for index, (one, other) in enumerate(zip(old, new, strict=False)) if one is not other), len(old))
        return dict(new[index] or {})

    def has_written_name(self, document: Document, resource: Resource, parent: Parent, key: str | int) -> bool:
        """Return whether the file contains the name of an object.

        If not, the API generates a name, and an edit may write a name into the file.
        """
        if parent is None:
            section = self.section(document, resource, str(key))
            return section is not None and section.name == document.address(section)
        try:
            section, index = self._child(document, resource, parent, key)
        except NativeError:
            return False
        return self.lines.has_written_name(section, resource, index)

    def unparsed(self, document: Document, resource: Resource, parent: Parent) -> list[int]:
        """Return the indices, within a collection, of the lines that the grammar cannot parse."""
        section = self.section(document, *parent) if parent else None
        return self.lines.children(section, resource).unparsed if section else []

    def as_object(self, section: Section, resource: Resource, name: str, bound: str | None, *, full: bool = False) -> Object:
        """Return a section as an object. `bound`: the name of the section's implicit defaults section. Raises Abandoned."""
        check()
        # Cached on the section, so that listing thousands of sections takes no longer than writing the answer.
        key = (resource.name, name, bound)
        members: Object | None = section.cache.get(key)
        if members is None:
            shape = self.shape(resource)
            members = {name: value for name, value in shape.read(section).items() if name not in resource.write_only}
            if "name" in shape.order:
                members["name"] = name
            if bound is not None and "from" in shape.order:
                members.setdefault("from", bound)
            members = section.cache[key] = self._sorted(resource, members)
        object_ = dict(members)
        if not full:
            return object_
        for member, child in self.lines.kinds(resource.name, section):
            children = self.lines.children(section, child).readable
            if children and child.kind == "named":
                by_name = object_[member] = dict[str, Object]()
                # If several children have the same name, the first is returned, which is also the one that a lookup finds.
                for each in children:
                    by_name.setdefault(str(each[child.key]), each)
            elif children:
                object_[member] = list(children)
        return self._sorted(resource, object_)

    def _sorted(self, resource: Resource, object_: Object) -> Object:
        """Return the object with its members in the order of the schema."""
        if (ranks := self._ranks.get(resource.name)) is None:
            members = [*self.shape(resource).order, *(member for member, _ in self.resources.children(resource.name))]
            ranks = self._ranks[resource.name] = {member: place for place, member in enumerate(dict.fromkeys(members))}
        return {member: object_[member] for member in sorted(object_, key=ranks.__getitem__)}

    # -- sections

    def section_or_implied(self, document: Document, resource: Resource, name: str) -> Section | None:
        """Return a section. If it is missing, return an empty section if every configuration has it implicitly, and None otherwise."""
        section = self.section(document, resource, name)
        return Section(resource.section, "", f"{resource.section}\n") if section is None and resource.is_implied else section

    def section(self, document: Document, resource: Resource, name: str) -> Section | None:
        """Return a section, or None if it does not exist. Several sections without a name are returned as one united section."""
        if resource.kind == "section":
            return document.find(resource.section, name) or document.find(resource.section, normalized(name))
        first = document.find(resource.section, "")
        if first is None:
            return None
        sections = [section for section in document.sections if section.kind == resource.section]
        if len(sections) == 1:
            return first
        cached: tuple[list[Section], Section] | None = first.cache.get(_UNITED)
        if cached is None or cached[0] != sections:
            united = first.with_lines(line for section in sections for line in section.lines)
            united.cache[_PARTS] = sections
            cached = first.cache[_UNITED] = sections, united
        return cached[1]

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
        """Return the document with a new section, or with a new child at `index`. A negative index or None appends the child."""
        refuse_line_breaks(body, (), self._escaped(resource))
        if parent is not None:
            document, section = self._with_parent(document, resource, parent, "orphan_create")
            if resource.kind == "named":
                self._refuse_taken(section, resource, parent, None, body)
            count = len(self.lines.children(section, resource).objects)
            place = count if index is None or index < 0 else index
            if place > count:
                raise IndexOutOfRange(f"Object with id {index} in {parent_label(parent)} out of range")
            return _edited(document, section, self.lines.insert(with_near_indent(document, section), parent[0].name, resource, body, place))
        name = str(body.get(resource.key) or "")
        if self.section(document, resource, name) is not None:
            raise taken_section(resource, name, full=full)
        check_from(document, resource.section, name, body.get("from"))
        document = with_named_source(document, body.get("from"))
        return insert_section(document, self._new_section(document, resource, body, full=full))

    def _new_section(self, document: Document, resource: Resource, body: Mapping[str, Any], *, full: bool) -> Section:
        place = place_for_new(document, resource.section)
        section = self.shape(resource).new(body, usual_indent(document, place), usual_newline(document, place))
        return with_acls_above(self._with_embedded(section, resource, body), None) if full else section

    def create_all(self, document: Document, resource: Resource, new: Sequence[tuple[Mapping[str, Any], Section | None]]) -> Document:
        """Return the document with new sections of one kind and their children.

        Adjacent sections with the same `from` are inserted together. `new`: (body, section) of each new section. The section is the one
        that `as_written` has returned for the body, or None.
        """
        before, taken, place, source = document, set[str](), 0, None
        for body, text in new:
            refuse_line_breaks(body, (), self._escaped(resource))
            name = str(body.get(resource.key) or "")
            if name in taken or self.section(before, resource, name) is not None:
                raise taken_section(resource, name, full=True)
            check_from(before, resource.section, name, body.get("from"))
            if not taken or body.get("from") != source:
                before = with_named_source(document, body.get("from"))
                document = insert_section(before, text or self._new_section(before, resource, body, full=True))
                made = document.find(resource.section, name)
                place = document.sections.index(made) if made else 0
            else:
                place += 1
                document = document.insert_at(text or self._new_section(before, resource, body, full=True), place)
            taken.add(name)
            source = body.get("from")
        return document

    def as_written(self, resource: Resource, body: Mapping[str, Any], document: Document) -> tuple[Object, Section]:
        """Return the section that a body describes, as (object with all children, section). The section is not inserted into the document.

        `document` determines the indentation of the section.
        """
        refuse_line_breaks(body, (), self._escaped(resource))
        section = self._new_section(document, resource, body, full=True)
        return self.as_object(section, resource, str(body.get(resource.key) or ""), None, full=True), section

    def _with_embedded(self, section: Section, resource: Resource, body: Mapping[str, Any]) -> Section:
        for member, child in self.resources.children(resource.name):
            rows = body.get(member) or []
            if not rows and not self.lines.children(section, child).places:
                continue
            replace: Any = self.lines.replace_by_name if isinstance(rows, Mapping) else self.lines.replace_all
            section = replace(section, resource.name, child, rows)
        return section

    def replace(
        self, document: Document, resource: Resource, parent: Parent, key: str | int, body: Mapping[str, Any], *, full: bool = False
    ) -> Document:
        """Return the document with the values of an object replaced. Lines whose values do not change are not rewritten."""
        refuse_line_breaks(body, (), self._escaped(resource))
        if parent is not None:
            section, index = self._child(document, resource, parent, key, "absent_replace")
            if resource.kind == "named" and _has_other_name(resource, key, body) and self.lines.has_written_name(section, resource, index):
                raise _other_name(resource, key, body)
            self._refuse_taken(section, resource, parent, key, body)
            return _edited(document, section, self.lines.replace(section, resource, {index: body}))
        name = str(key) if resource.kind == "section" else ""
        old = self.section(document, resource, name)
        if full and old is not None and body == self.get_object(document, resource, None, name, full=True):
            return document
        if old is None and resource.kind == "singleton":
            made = self.create(document, resource, None, body, full=full)
            section_made = self.section(made, resource, "")
            is_empty = section_made is None or not any(line.words for line in section_made.lines[1:])
            return document if resource.is_implied and is_empty else made
        if old is None:
            raise absent_section(resource, name, "absent_replace", full=full)
        if resource.kind == "section" and document.address(old) != old.name and body.get(resource.key) not in (None, "", name):
            # The body sets the name of a section that has none, and that the API numbers.
            name = str(body[resource.key])
            if self.section(document, resource, name) is not None:
                raise taken_section(resource, name, full=full)
            document, old = with_name(document, old, name)
        elif resource.kind == "section" and _has_other_name(resource, name, body):
            raise _other_name(resource, name, body)
        sent = {**body, "name": old.name} if resource.kind == "section" else dict(body)
        check_from(document, resource.section, name, sent.get("from"))
        write_only = {name: value for name, value in self.shape(resource).read(old).items() if name in resource.write_only}
        values = {**write_only, **_without_implicit_from(sent, old, implicit_defaults(document, old))}
        document = with_named_source(document, values.get("from"))
        new = self.shape(resource).onto(with_near_indent(document, old), values, whole=full)
        if full:
            new = self._with_embedded(new, resource, body)
        new = with_acls_above(new, old)
        return move_below_defaults(_with_section(document, old, new), new)

    def set_members(
        self, document: Document, resource: Resource, parent: Parent, values: Mapping[str | int, Mapping[str, Any]]
    ) -> Document:
        """Return the document with some members of several objects set.

        `values`: the new values of the members, by key of the object. The value None removes a member. All objects have the same parent, so
        that one pass over its section changes all of them.
        """
        if parent is None:
            for key, members in values.items():
                body = _with_members(self.get_object(document, resource, None, key), members)
                document = self.replace(document, resource, None, key, body)
            return document
        section, bodies = self.section_or_implied(document, *parent), dict[int, Mapping[str, Any]]()
        objects = self.lines.children(section, resource).objects if section else []
        indexes = {object_.get(resource.key): index for index, object_ in reversed([*enumerate(objects)]) if object_}
        for key, members in values.items():
            index = indexes.get(key) if resource.kind == "named" else None
            if index is None:
                _, index = self._child(document, resource, parent, key, "absent_replace")
            bodies[index] = _with_members(objects[index] or {}, members)
            refuse_line_breaks(bodies[index], (), self._escaped(resource))
        return _edited(document, section, self.lines.replace(section, resource, bodies)) if section else document

    def unknown(self, section: Section, resource: Resource) -> list[int]:
        """Return the indices of the lines of a section that no object can express."""
        shape = self.shape(resource)
        known = {place for _, child in self.lines.kinds(resource.name, section) for place in self.lines.children(section, child).places}
        known |= {place for lines in shape.reading(section).lines.values() for place, _ in lines}
        directives = ((place, line.args) for place, line in enumerate(section.lines) if place and not _is_mark(section, line))
        return [place for place, words in directives if place not in known and words and not words[0].startswith(".")]

    def unreadable(self, section: Section, resource: Resource) -> Iterator[tuple[int, str]]:
        """Yield (index of the line, text) for each line that no object expresses completely.

        The text has the words that no member expresses. If no object expresses any part of the line, the text is the whole line.
        """
        yield from ((place, section.lines[place].text.strip()) for place in self.unknown(section, resource))
        own = self.shape(resource)
        shapes = [(own.directives[number].shape, place) for number, lines in own.reading(section).lines.items() for place, _ in lines]
        for _, child in self.lines.kinds(resource.name, section):
            shapes += [(self.lines.shape(child), place) for place in self.lines.children(section, child).places]
        for shape, place in shapes:
            line = section.lines[place]
            reading = shape.parse_words(line.words)
            if words := line.words if reading is None else opaque_words(line, reading):
                yield place, " ".join(words)

    def delete(self, document: Document, resource: Resource, parent: Parent, key: str | int) -> Document:
        """Return the document without an object. An object in several branches of an `.if` block is removed from all of them."""
        if parent is not None:
            section, index = self._child(document, resource, parent, key, "absent_delete")
            return _edited(document, section, self.lines.delete(section, resource, index))
        name = str(key) if resource.kind == "section" else ""
        section_found = self.section(document, resource, name)
        if section_found is None:
            raise absent_section(resource, name, "absent_delete")
        if resource.kind == "section" and len(twins := document.branches(resource.section, name)) > 1:
            return functools.reduce(Document.remove, twins, document)
        return functools.reduce(Document.remove, section_found.cache.get(_PARTS, [section_found]), document)

    # -- children

    def _with_parent(
        self, document: Document, resource: Resource, parent: tuple[Resource, str], situation: str = "orphan"
    ) -> tuple[Document, Section]:
        """Return the document and its section `parent`. Create this section if it is missing and every configuration has it implicitly.

        Raises the error of `absent_parent` if it is missing otherwise.
        """
        section = self.section(document, *parent)
        if section is None and parent[0].is_implied:
            document = self.create(document, parent[0], None, {})
            section = self.section(document, *parent)
        if section is None:
            raise absent_parent(resource, parent, situation)
        return document, section

    def check_parent(self, document: Document, resource: Resource, parent: tuple[Resource, str]) -> None:
        """Raise the error of `absent_parent` if the parent of a new child is missing."""
        self._with_parent(document, resource, parent, "orphan_create")

    def check_exists(self, document: Document, resource: Resource, parent: Parent, key: str | int, situation: str) -> None:
        """Raise the error for a missing object or section if it does not exist. `situation`: absent_replace or absent_delete."""
        if parent is not None:
            self._child(document, resource, parent, key, situation)
        elif self.section(document, resource, str(key)) is None:
            raise absent_section(resource, str(key), situation)

    def _child(
        self, document: Document, resource: Resource, parent: tuple[Resource, str], key: str | int, situation: str = "absent"
    ) -> tuple[Section, int]:
        section = self.section_or_implied(document, *parent)
        objects = self.lines.children(section, resource).objects if section else []
        if resource.kind == "indexed":
            index = int(key) if section and 0 <= int(key) < len(objects) else None
        else:
            index = _index_of([object_ and object_.get(resource.key) for object_ in objects], key)
        if section is None and reports_missing_parent(resource, situation):
            raise absent_parent(resource, parent, ORPHANS[situation])
        if section is None or index is None:
            raise absent_child(resource, parent, key, situation)
        return section, index

    def _refuse_taken(
        self, section: Section, resource: Resource, parent: tuple[Resource, str], key: str | int | None, body: Mapping[str, Any]
    ) -> None:
        name = body.get(resource.key)
        names = [object_.get(resource.key) for object_ in self.lines.children(section, resource).readable]
        if resource.kind == "named" and _index_of(names, name) not in (None, None if key is None else _index_of(names, key)):
            word = parent_word(parent[0])
            text = f"{resource.title} {name} already exists in {parent[1]} {word}"
            raise Exists(message(resource, "taken", text, name=name, parent=parent[1], word=word))

    def replace_all(
        self, document: Document, resource: Resource, parent: tuple[Resource, str], bodies: Sequence[Mapping[str, Any]]
    ) -> Document:
        """Return the document with a whole list of children replaced."""
        refuse_line_breaks(bodies, (), self._escaped(resource))
        if not bodies and parent[0].is_implied and self.section(document, *parent) is None:
            return document
        document, section = self._with_parent(document, resource, parent)
        return _edited(document, section, self.lines.replace_all(with_near_indent(document, section), parent[0].name, resource, bodies))


def _edited(document: Document, old: Section, new: Section) -> Document:
    """Return the document with `old` replaced by `new`. Each ACL that the edit affects is moved above the lines that use it."""
    return _with_section(document, old, with_acls_above(new, old))


def _without_implicit_from(body: Mapping[str, Any], old: Section, bound: str | None) -> Mapping[str, Any]:
    """Return the body without `from` if its value is the name of the section's implicit defaults section."""
    if bound is not None and body.get("from") == bound and "from" not in old.header.args[2:]:
        return {name: value for name, value in body.items() if name != "from"}
    return body


def _has_other_name(resource: Resource, key: object, body: Mapping[str, Any]) -> bool:
    name = body.get(resource.key)
    return bool(name) and unquoted_name(name) != unquoted_name(key)


def _other_name(resource: Resource, key: object, body: Mapping[str, Any]) -> OtherName:
    text = f"{resource.key} in body is '{body[resource.key]}', and the path names '{key}'; send the name of the path"
    return OtherName(text, place=Place(member=resource.key))


def _with_members(object_: Mapping[str, Any], members: Mapping[str, Any]) -> Object:
    return {name: value for name, value in {**object_, **members}.items() if value is not None}


def _index_of(names: Sequence[Any], name: object) -> int | None:
    """Return the index of a name, or None if it is missing. A name that differs only in its quotes is used if no name matches exactly."""
    if name in names:
        return names.index(name)
    own = unquoted_name(name)
    return next((index for index, other in enumerate(names) if isinstance(other, str) and unquoted(other) == own), None)


@functools.cache
def standard_editor() -> Editor:
    """Return the editor for the bundled grammar and table of resources. All callers share the editor and its caches."""
    return Editor()
