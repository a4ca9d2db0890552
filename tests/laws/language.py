"""Return the declared language for the laws: each kind of line by name, and each section with its kinds of lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from haproxy_native.editing.resources import Resource, Resources
from haproxy_native.grammar.directive import Directive
from haproxy_native.grammar.line_shape import LineShape
from haproxy_native.grammar.load import Grammar
from haproxy_native.grammar.schema import Schema
from haproxy_native.grammar.section_shape import SectionShape
from tests.openapi.documents import document


@dataclass(frozen=True)
class Kind:
    """One kind of line: `properties` are the schemas of its members."""

    name: str
    shape: LineShape
    properties: Mapping[str, Schema]


@dataclass(frozen=True)
class Language:
    """All declarations, including those that no operation uses yet."""

    grammar: Grammar
    resources: Resources

    def sections(self) -> list[tuple[Resource, SectionShape]]:
        found = [each for each in self.resources.by_name.values() if each.kind in ("section", "singleton") and not each.parents]
        return [(each, self.section(each)) for each in found]

    def section(self, resource: Resource) -> SectionShape:
        return self.grammar.section(resource.schema, [member for member, _ in self.resources.children(resource.name)])

    def children(self) -> list[tuple[Resource, LineShape]]:
        found = [each for each in self.resources.by_name.values() if each.kind in ("named", "indexed")]
        return [(each, self.grammar.line(each.schema)) for each in found]

    def properties(self, resource: Resource, directive: Directive | None = None) -> Mapping[str, Schema]:
        """Return the schemas of the members of a resource, or of the inner object that a directive expresses."""
        schemas = self.grammar.schemas
        found = schemas.properties(schemas.named(resource.schema))
        for name in directive.path if directive else ():
            found = schemas.properties(found[name])
        if directive is None or not directive.rows:
            return found
        items = schemas.resolve(found[directive.rows]["items"])
        return {directive.rows: items} if directive.scalar else schemas.properties(items)


@cache
def language() -> Language:
    declared = document(everything=True)
    return Language(Grammar(declared), Resources(declared["x-resources"]))


def name_of(directive: Directive) -> str:
    parts = (*directive.path, directive.rows or "+".join(directive.shape.members[:3]))
    return ".".join(parts)


def directives() -> Iterator[tuple[str, int, SectionShape, Resource]]:
    """Yield (name, number, section, resource) for each kind of line of a section. A kind in several sections is yielded once."""
    seen: set[str] = set()
    for resource, shape in language().sections():
        for number, directive in enumerate(shape.directives):
            identity = repr((directive.path, directive.rows, directive.shape.explain(), directive.shape.members))
            if identity not in seen:
                seen.add(identity)
                yield f"{resource.schema}:{name_of(directive)}", number, shape, resource


@cache
def kinds() -> Mapping[str, Kind]:
    """Return every kind of line by name: children, directives and headers."""
    spoken = language()
    found = [Kind(resource.schema, shape, spoken.properties(resource)) for resource, shape in spoken.children()]
    for name, number, section, resource in directives():
        directive = section.directives[number]
        found.append(Kind(name, directive.shape, spoken.properties(resource, directive)))
    found += [Kind(f"{each.schema}:header", shape.header, spoken.properties(each)) for each, shape in spoken.sections()]
    return {each.name: each for each in found}
