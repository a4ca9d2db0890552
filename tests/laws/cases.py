"""Build cases for the referee: lines in a section in which HAProxy accepts them. referee.toml has the lines around a case."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haproxy_native.editing.resources import Resource
from haproxy_native.grammar.line_shape import LineShape
from tests.laws.language import directives, language
from tests.laws.referee import Case
from tests.samples import line_samples

RULES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("referee.toml").read_text())
PREFERRED = ("backends", "frontends")


@dataclass(frozen=True)
class Subject:
    """A kind of line, sample objects, and the keyword of the section around the line."""

    name: str
    shape: LineShape
    section: str
    samples: tuple[Mapping[str, Any], ...]

    def case(self, line: str) -> Case:
        return Case(self.name, line, *around(self.name, self.section, line))


def subjects() -> Iterator[Subject]:
    """Yield the kinds of lines with samples that HAProxy accepts."""
    for resource, shape in language().children():
        yield Subject(resource.schema, shape, parent(resource), tuple(map(sensible, line_samples(shape))))
    for name, number, section, resource in (each for each in directives() if not each[3].file):
        directive = section.directives[number]
        samples = (values for values in line_samples(directive.shape) if directive.rows or directive.needs_line(values))
        yield Subject(name, directive.shape, resource.section, tuple(map(sensible, samples)))


def is_asked(line: str) -> bool:
    return not any(each in line for each in RULES["without"])


def around(kind: str, section: str, case: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines before and after a case."""
    nameless = section in ("global", "traces")
    default = [section if nameless else f"{section} @", "..."]
    lines = RULES["around"].get(kind) or RULES["around"].get(kind.split(":")[0]) or RULES["around"].get(section) or default
    place = lines.index("...")
    own = [line for word, line in RULES["before"].items() if word in case.split()]
    return (*lines[:place], *own), tuple(lines[place + 1 :])


def parent(resource: Resource) -> str:
    preferred = [name for name in PREFERRED if name in resource.parents]
    return language().resources[[*preferred, *resource.parents][0]].section


def sensible(value: Any, name: str = "") -> Any:
    """Replace sample texts in a value by the values in referee.toml, for members that need a special form."""
    if isinstance(value, dict):
        return {inner: sensible(each, inner) for inner, each in value.items()}
    if isinstance(value, list):
        return [sensible(each, name) for each in value]
    return RULES["values"].get(name, value) if value == "sample" else value
