"""The laws are true for every declared line with any values that its schema allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from haproxy_native.errors import BadValue
from haproxy_native.text.line import Line
from tests.laws import lines
from tests.laws.language import Kind, kinds
from tests.laws.settings import law
from tests.laws.values import objects_of


def examples(kind: Kind) -> int:
    """Return the number of examples, which is higher for lines with more members."""
    return min(4 + 2 * len(kind.shape.members) + 2 * len(kind.shape.alternatives), 60)


def test_any_object_is_written_read_back_and_edited(kind: Kind) -> None:
    @law(examples(kind))
    @given(objects_of(kind), objects_of(kind), some.sampled_from([" # a comment\r\n", "\t\n", ""]))
    def keeps_the_laws(old: dict[str, object], new: dict[str, object], end: str) -> None:
        shape = kind.shape
        try:
            before, after = shape.new(old), shape.new(new)
        except BadValue:
            return
        lines.is_told(shape, new, after)
        line = Line("\t" + "   ".join(before.words) + end)
        lines.becomes(shape, line, new)
        lines.changes_only_what_is_asked(shape, line, new)

    keeps_the_laws()


@pytest.fixture(params=list(kinds()))
def kind(request: pytest.FixtureRequest) -> Kind:
    return kinds()[request.param]
