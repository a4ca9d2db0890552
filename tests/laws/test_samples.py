"""The laws are true for every sample of every declared line."""

from collections.abc import Mapping
from typing import Any

import pytest

from haproxy_native.grammar.line_shape import LineShape
from haproxy_native.text.line import Line
from tests.laws import lines
from tests.laws.language import kinds
from tests.samples import line_samples

Values = Mapping[str, Any]

SHAPES = {name: kind.shape for name, kind in kinds().items()}


@pytest.mark.parametrize("name", SHAPES)
def test_samples(name: str) -> None:
    shape = SHAPES[name]
    samples = line_samples(shape)
    for number, values in enumerate(samples):
        is_read_back_and_stays(shape, values)
        becomes_another(shape, values, samples[number - 1], number)
        keeps_unknown_words(shape, values, samples[number - 1], number)


def is_read_back_and_stays(shape: LineShape, values: Values) -> None:
    lines.is_read_back(shape, values)
    for line in respelled(shape.new(values)):
        lines.stays(shape, line)


def respelled(line: Line) -> list[Line]:
    """Return the line as operators may write it: aligned, with a comment, or with another line end."""
    return [Line("\t" + "   ".join(line.words) + "\t# a comment\r\n"), Line("    " + " \t".join(line.words))]


def becomes_another(shape: LineShape, values: Values, other: Values, number: int) -> None:
    old = respelled(shape.new(other))[number % 2]
    lines.becomes(shape, old, values)
    lines.changes_only_what_is_asked(shape, old, values)


def keeps_unknown_words(shape: LineShape, values: Values, other: Values, number: int) -> None:
    words = shape.new(values).words
    for place in {1 + number % len(words), len(words)}:
        line = Line(" ".join([*words[:place], "zork-1", *words[place:]]) + "\n")
        found = shape.read(line)
        if found is not None and set(shape.needed) <= set(found):
            lines.stays(shape, line)
            lines.unknown_survives(shape, line, other)
