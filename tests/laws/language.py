"""The declared language as the laws see it: each kind of line with its name, each section with what may stand in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from native.config.resources import Resource, Resources
from native.grammar.directive import Directive
from native.grammar.line_shape import LineShape
from native.grammar.load import Grammar
from native.grammar.section_shape import SectionShape
from openapi import bundle


@dataclass(frozen=True)
class Language:
    """Everything that is declared, also what no operation serves yet."""

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


@cache
def language() -> Language:
    document = bundle.document(everything=True)
    return Language(Grammar(document), Resources(document["x-resources"]))


def name_of(directive: Directive) -> str:
    told = (*directive.path, directive.rows or "+".join(directive.shape.members[:3]))
    return ".".join(told)


def directives() -> Iterator[tuple[str, int, SectionShape]]:
    """(name, number, section) of every kind of line that belongs to a section's own object; one that several share comes once."""
    seen: set[str] = set()
    for resource, shape in language().sections():
        for number, directive in enumerate(shape.directives):
            told = repr((directive.path, directive.rows, directive.shape.explain(), directive.shape.members))
            if told not in seen:
                seen.add(told)
                yield f"{resource.schema}:{name_of(directive)}", number, shape


def shapes() -> dict[str, LineShape]:
    """Every kind of line by name: children, directives, headers."""
    found = {resource.schema: shape for resource, shape in language().children()}
    found |= {name: section.directives[number].shape for name, number, section in directives()}
    return found | {f"{resource.schema}:header": shape.header for resource, shape in language().sections()}
