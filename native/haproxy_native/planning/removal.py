"""What keeps HAProxy from deleting a backend in the running process, as far as the lines of the backend say so (`keeps`). Pure."""

import functools
from collections.abc import Collection, Iterator

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.resources import resources
from haproxy_native.grammar.load import Grammar
from haproxy_native.text.section import Section
from haproxy_native.text.words import unquoted

BACKEND, SERVER = "backend", "server"


class Removal:
    """Reads backends in one grammar."""

    def __init__(self, grammar: Grammar) -> None:
        schemas = grammar.schemas
        names = [resource.schema for _, resource in resources().children("backends")]
        members = {
            name: [
                member
                for member, property_ in schemas.properties(schemas.named(name)).items()
                if schemas.note(property_).get("keeps") == SERVER
            ]
            for name in names
        }
        self._shape = Editor(grammar).shape(resources()["backends"])
        self._naming = [(grammar.line(name), named) for name, named in members.items() if named]

    def obstacle(self, section: Section, servers: Collection[str]) -> tuple[int, str] | None:
        """The place of the first such line, and the reason; None where HAProxy would delete the backend and its servers."""
        for place, line in enumerate(section.lines):
            number = self._shape.directive_of(line) if place else None
            if number is not None and self._shape.directives[number].keeps == BACKEND:
                return place, "HAProxy deletes no backend with such a line in the running process"
        return next(((place, f"HAProxy deletes no server that is named so: {name}") for place, name in self._named(section, servers)), None)

    def _named(self, section: Section, servers: Collection[str]) -> Iterator[tuple[int, str]]:
        """Servers of the section that lines of it name, each with the place of the line."""
        for place, line in enumerate(section.lines[1:], 1):
            for shape, members in self._naming:
                values = (shape.read(line) or {}) if line.words else {}
                for word in (unquoted(str(values[member])) for member in members if member in values):
                    backend, _, name = word.rpartition("/")
                    if name in servers and backend in ("", unquoted(section.name)):
                        yield place, name


@functools.cache
def removal_of(grammar: Grammar) -> Removal:
    """Returns the removal rules of a grammar, made once."""
    return Removal(grammar)
