"""Objects are read with their members in the order of their schema, at every depth, because some clients compare texts."""

from typing import Any

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.errors import NativeError
from haproxy_native.grammar.schema import Order
from tests.laws.settings import part
from tests.samples import line_samples, section_samples

EDITOR = Editor()
SCHEMAS = EDITOR.grammar.schemas


def misplaced(value: Any, order: Order) -> list[list[str]]:
    """Return the members that are not in the order of the schema."""
    if isinstance(value, list):
        return [each for element in value for each in misplaced(element, order)]
    if not isinstance(value, dict) or not order:
        return []
    names = [name for name in value if name in order]
    own = [names] if names != [name for name in order if name in value] else []
    return own + [each for name in names for each in misplaced(value[name], order[name])]


@pytest.mark.parametrize("name", [name for name, resource in EDITOR.resources.by_name.items() if resource.kind != "view"])
def test_members_are_in_order(name: str) -> None:
    resource, seen = EDITOR.resources[name], 0
    shape: Any = EDITOR.grammar.line(resource.schema) if resource.parents else EDITOR.shape(resource)
    for sample in part(list(line_samples(shape) if resource.parents else section_samples(shape)), name):
        try:
            found = shape.read(shape.new(sample))
        except NativeError:
            continue
        assert misplaced(found, SCHEMAS.order(SCHEMAS.named(resource.schema))) == []
        seen += 1
    assert seen
