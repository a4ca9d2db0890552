"""Every sample of every declared line keeps the laws."""

import pytest

from haproxy_native.text.line import Line
from tests.laws import lines
from tests.laws.language import kinds
from tests.samples import line_samples

SHAPES = {name: kind.shape for name, kind in kinds().items()}


@pytest.fixture(params=list(SHAPES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_what_is_written_is_read_back(name: str) -> None:
    shape = SHAPES[name]
    for values in line_samples(shape):
        lines.is_read_back(shape, values)


def test_what_says_the_same_stays(name: str) -> None:
    shape = SHAPES[name]
    for values in line_samples(shape):
        for line in respelled(shape.new(values)):
            lines.stays(shape, line)


def respelled(line: Line) -> list[Line]:
    """The line as operators write it: aligned, commented, ended otherwise."""
    return [Line("\t" + "   ".join(line.words) + "\t# a comment\r\n"), Line("    " + " \t".join(line.words))]


def test_one_object_becomes_another(name: str) -> None:
    shape = SHAPES[name]
    samples = line_samples(shape)
    for number, values in enumerate(samples):
        old = respelled(shape.new(samples[number - 1]))[number % 2]
        lines.becomes(shape, old, values)
        lines.changes_only_what_is_asked(shape, old, values)


def test_unknown_words_survive(name: str) -> None:
    shape = SHAPES[name]
    samples = line_samples(shape)
    for number, values in enumerate(samples):
        words = shape.new(values).words
        for place in {1 + number % len(words), len(words)}:
            line = Line(" ".join([*words[:place], "zork-1", *words[place:]]) + "\n")
            found = shape.read(line)
            if found is not None and set(shape.needed) <= set(found):
                lines.stays(shape, line)
                lines.unknown_survives(shape, line, samples[number - 1])
