"""Read, insert, replace and delete the children of a section by index. Its children are the lines of one collection, such as its servers.

A child is one line. A named child may have several lines in the branches of an `.if` block: an edit changes the first of these lines, and a
deletion removes all of them. A line that the grammar cannot parse keeps its index, and no edit changes it.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.editing.placement import insertion_line
from haproxy_native.editing.resources import Resource, Resources
from haproxy_native.errors import NativeError, Place, UnknownWords
from haproxy_native.grammar.line_shape import LineShape
from haproxy_native.grammar.load import Grammar
from haproxy_native.grammar.rows import Found, LineEdits, change_rows
from haproxy_native.grammar.section_shape import apply_edits
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from haproxy_native.text.words import is_word, unquoted

# Keys of a section's cache: the places of its lines by first word, and the names that more than one of its lines have.
_FIRST_WORDS, _REPEATED = "first words", "repeated"


@dataclass
class Children:
    """The lines of one collection in a section, and the objects that they express."""

    # Indices into the section's lines.
    places: list[int]
    # For each place the object, or None if the line cannot be read.
    objects: list[dict[str, Any] | None]

    @property
    def readable(self) -> list[dict[str, Any]]:
        return [object_ for object_ in self.objects if object_ is not None]

    @property
    def unparsed(self) -> list[int]:
        """Return the indices, within the collection, of the lines that the grammar cannot parse."""
        return [index for index, object_ in enumerate(self.objects) if object_ is None]


_NONE = Children([], [])


class ChildEditor:
    """Edits the children of sections in one grammar. Methods that edit take a section and return a new section."""

    def __init__(self, grammar: Grammar, resources: Resources) -> None:
        self.grammar, self.resources = grammar, resources
        self._kinds: dict[str, dict[str, set[int]]] = {}

    def shape(self, resource: Resource) -> LineShape:
        return self.grammar.line(resource.schema)

    def kinds(self, parent: str, *sections: Section) -> list[tuple[str, Resource]]:
        """Return (member, resource) of each collection that may have lines in the sections, in the order of the table of resources."""
        family, by_word = self.resources.children(parent), self._kinds.get(parent)
        if by_word is None:
            by_word = self._kinds[parent] = {}
            for number, (_, child) in enumerate(family):
                for word in self.shape(child).first_words:
                    by_word.setdefault(word, set()).add(number)
        words = {word for section in sections for word in _by_first_word(section)}
        return [family[number] for number in sorted({number for word in words for number in by_word.get(word, ())})]

    def children(self, section: Section, resource: Resource) -> Children:
        """Return the lines of a collection in a section. The result is cached in the section."""
        shape, by_word = self.shape(resource), _by_first_word(section)
        if shape.first_words.isdisjoint(by_word):
            return _NONE
        key = ("children", resource.name)
        cached: Children | None = section.cache.get(key)
        if cached is not None:
            return cached
        indices: set[int] = set()
        for prefix in shape.prefixes():
            indices.update(place for place in by_word.get(prefix[0], ()) if section.lines[place].args[: len(prefix)] == prefix)
        children = Children(sorted(indices), [])
        for place in children.places:
            line = section.lines[place]
            # Cached on the line, because several sections may share a line.
            meaning = line.meaning
            if meaning is None or meaning[0] is not shape:
                meaning = line.meaning = shape, shape.read(line)
            children.objects.append(meaning[1])
        section.cache[key] = children
        return children

    def have_own_names(
        self, resource: Resource, old: Section, new: Section, removed: Sequence[Mapping[str, Any]], added: Sequence[Mapping[str, Any]]
    ) -> bool:
        """Return whether no other child has the name of a removed or an added child, both in the section before a change and after it."""
        key = resource.key
        # The names that more than one line has. The cache is copied to the edited section.
        repeated: frozenset[str] | None = old.cache.get((_REPEATED, resource.name))
        if repeated is None:
            counts = Counter(str(row[key]) for row in self.children(old, resource).readable)
            repeated = old.cache[_REPEATED, resource.name] = frozenset(name for name, count in counts.items() if count > 1)
        names, others = [str(row[key]) for row in removed], [str(row[key]) for row in added]
        if sorted(names) == sorted(others):
            new.cache[_REPEATED, resource.name] = repeated
            return repeated.isdisjoint(names)
        new_names = set(others).difference(names)
        has_others = new_names and not new_names.isdisjoint(str(row[key]) for row in self.children(old, resource).readable)
        if has_others or len(set(others)) < len(others) or not repeated.isdisjoint([*names, *others]):
            return False
        new.cache[_REPEATED, resource.name] = repeated
        return True

    def insert(self, section: Section, parent: str, resource: Resource, body: Mapping[str, Any], index: int) -> Section:
        """Return the section with a new child before the child at `index`. If `index` is the number of children, the child is appended."""
        line = self.shape(resource).new(body, section.indent, section.newline)
        return apply_edits(section, LineEdits({}, [(self._insertion_index(section, parent, resource, index), line)]))

    def _insertion_index(self, section: Section, parent: str, resource: Resource, index: int) -> int:
        """Return the index of the line below which to insert a new child, so that it becomes the child at `index`."""
        places = self.children(section, resource).places
        if index < len(places):
            return section.between(places[index - 1] if index else None, places[index])
        if places:
            return insertion_line(section, places[-1:])
        # The first line of a collection is inserted above the lines of collections that the table declares later. Lines of collections that
        # the table declares earlier take precedence: the line is inserted after all of them, because it may refer to them.
        family = [child for _, child in self.resources.children(parent)]
        own = family.index(resource) if resource in family else len(family)
        later = {place for child in family[own + 1 :] for place in self.children(section, child).places}
        earlier = {place for child in family[:own] for place in self.children(section, child).places}
        above = [
            place for place, line in enumerate(section.lines) if line.words and place not in later and not line.args[0].startswith(".")
        ]
        end = min(later, default=len(section.lines))
        return insertion_line(section, [place for place in above if place < end] if max(earlier, default=0) < end else above)

    def has_written_name(self, section: Section, resource: Resource, index: int) -> bool:
        """Return whether the line of a child contains its name. If not, clients address the child by another word of the line."""
        reading = self.shape(resource).parse_words(section.lines[self.children(section, resource).places[index]].words)
        return reading is None or any(resource.key in part.values for part in reading.parts)

    def replace(self, section: Section, resource: Resource, bodies: Mapping[int, Mapping[str, Any]]) -> Section:
        """Return the section with new values for some children. `bodies`: the new values, by index of the child.

        Raises UnknownWords if the grammar cannot parse the line of one of these children.
        """
        children, edits = self.children(section, resource), dict[int, Line | None]()
        places_by_name = self._by_name(section, resource) if resource.kind == "named" else {}
        for index, body in bodies.items():
            place, object_ = children.places[index], children.objects[index]
            line = section.lines[place]
            if object_ is None:
                raise UnknownWords(
                    f"line {place + 1} of {section.kind} {section.name} cannot be edited: it has unknown words: {line.text.strip()}",
                    place=Place(section=f"{section.kind} {section.name}", keyword=line.words[0]),
                )
            twins = places_by_name[unquoted_name(object_.get(resource.key))] if places_by_name else ()
            edits |= self._edits_of_child(section, resource, [place, *(twin for twin in twins if twin != place)], body)
        return apply_edits(section, LineEdits(edits, []))

    def _by_name(self, section: Section, resource: Resource) -> dict[str, list[int]]:
        """Map the name of each child in a named collection to the indices of its lines. Lines that the grammar cannot parse are omitted."""
        children = self.children(section, resource)
        places_by_name: dict[str, list[int]] = {}
        for place, object_ in zip(children.places, children.objects, strict=True):
            if object_ is not None:
                places_by_name.setdefault(unquoted_name(object_.get(resource.key)), []).append(place)
        return places_by_name

    def _edits_of_child(
        self, section: Section, resource: Resource, places: Sequence[int], body: Mapping[str, Any]
    ) -> dict[int, Line | None]:
        """Return the edit that gives a child the values `body`. Return no edit if any line of the child has these values already.

        `places`: the indices of all lines of the child. Only the first of these lines is edited.
        """
        children = self.children(section, resource)
        if len(places) == 1 and children.objects[bisect_left(children.places, places[0])] == body:
            return {}
        shape = self.shape(resource)
        first, *twins = (section.lines[place] for place in places)
        edited = shape.onto(first, body)
        for twin in twins:
            try:
                if shape.onto(twin, body) is twin:
                    return {}
            except NativeError:
                continue
        return {places[0]: edited}

    def delete(self, section: Section, resource: Resource, index: int) -> Section:
        """Return the section without a child. If the child has lines in branches of an `.if` block, all of them are removed."""
        children = self.children(section, resource)
        place, object_ = children.places[index], children.objects[index]
        removed = [place]
        if resource.kind == "named" and object_ is not None:
            lines_of_name = self._by_name(section, resource)[unquoted_name(object_.get(resource.key))]
            if any(map(section.is_conditional, lines_of_name)):
                removed = lines_of_name
        return apply_edits(section, LineEdits(dict.fromkeys(removed), []))

    def replace_by_name(self, section: Section, parent: str, resource: Resource, bodies: Mapping[str, Mapping[str, Any]]) -> Section:
        """Return the section with a named collection replaced. Existing children keep their places.

        New children follow them, sorted by name.
        """
        new = {unquoted_name(body.get(resource.key)): body for _, body in sorted(bodies.items())}
        existing, change = self._by_name(section, resource), LineEdits({}, [])
        for name, places in existing.items():
            change.replaced |= self._edits_of_child(section, resource, places, new[name]) if name in new else dict.fromkeys(places)
        end = self._insertion_index(section, parent, resource, len(self.children(section, resource).places))
        lines = [self.shape(resource).new(body, section.indent, section.newline) for name, body in new.items() if name not in existing]
        change.added = [(end, line) for line in lines]
        return apply_edits(section, change)

    def replace_all(self, section: Section, parent: str, resource: Resource, bodies: Sequence[Mapping[str, Any]]) -> Section:
        """Return the section with a whole list replaced. Lines that the grammar cannot parse are kept, since the API does not show them."""
        children = self.children(section, resource)
        lines: Found = [
            (place, section.lines[place]) for place, object_ in zip(children.places, children.objects, strict=True) if object_ is not None
        ]
        change = change_rows(self.shape(resource), lines, bodies, section)
        default = self._insertion_index(section, parent, resource, len(children.places))
        change.added = [(default if place is None else place, line) for place, line in change.added]
        return apply_edits(section, change)


def _by_first_word(section: Section) -> dict[str, list[int]]:
    """Return the indices of a section's lines by first word, without the header, blank lines and snippets."""
    by_word: dict[str, list[int]] | None = section.cache.get(_FIRST_WORDS)
    if by_word is None:
        by_word, hidden = {}, section.snippets
        for place, line in enumerate(section.lines):
            if place and line.words and place not in hidden:
                by_word.setdefault(line.args[0], []).append(place)
        # Stored only when it is complete, because other threads read the section as well.
        section.cache[_FIRST_WORDS] = by_word
    return by_word


def unquoted_name(name: object) -> str:
    """Return a name without quotes, for comparison: clients may omit the quotes that the name has in the file."""
    text = str(name)
    return unquoted(text) if is_word(text) else text
