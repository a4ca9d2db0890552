"""Lines of a proxy that say again what it inherits, and so change nothing (`last_counts`). Pure."""

from collections.abc import Iterable

from haproxy_native.grammar.section_shape import SectionShape
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section


def repeats(line: Line, section: Section, above: Iterable[Section], shape: SectionShape) -> bool:
    """True if a line of the section has the words that it inherits. `above` are its defaults sections, the nearest first; `shape` is
    that of the section, which reads what counts of theirs as well.
    """
    number = shape.directive_of(line)
    if number is None or not shape.directives[number].last_counts:
        return False
    if any(other.words != line.words for other in _lines(section, number, shape)):
        return False
    inherited = next((lines[-1] for section_ in above if (lines := _lines(section_, number, shape))), None)
    return inherited is not None and inherited.words == line.words


def _lines(section: Section, number: int, shape: SectionShape) -> list[Line]:
    return [line for line in section.lines[1:] if line.words and shape.directive_of(line) == number]
