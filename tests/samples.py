"""Generate sample objects from the schemas of lines: with the required members, with each option alone, and with all options.

A value is the `example` of its property, or else a sample of its type. A test that passes for all samples passes for the whole language
that the schemas declare.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from haproxy_native.grammar.directive import Directive
from haproxy_native.grammar.line_shape import METADATA, Alternative, LineShape, unflattened
from haproxy_native.grammar.section_shape import SectionShape
from haproxy_native.grammar.synopsis import Chain, Glued, Group, Literal, Node, Options, Placeholder, Rest, Toggle, Values
from haproxy_native.grammar.values import ValueType

METADATA_SAMPLES: tuple[dict[str, Any], ...] = ({"comment": "sample"}, {"owner": "team a", "ticket": 12})


def line_samples(shape: LineShape) -> list[dict[str, Any]]:
    """Return distinct objects that one line of the shape can express."""
    flat = [
        {**alternative.fixed, **values}
        for alternative in shape.alternatives
        for values in _alternative(alternative, shape)
        if not is_half(alternative, values)
    ]
    samples = [unflattened(values) for values in flat if set(shape.needed) <= set(values)]
    if shape.metadata and samples:
        samples += [{**samples[0], METADATA: sample} for sample in METADATA_SAMPLES]
    return _distinct(samples)


def is_half(alternative: Alternative, values: Values) -> bool:
    """Return whether values have only one of the two members of a condition, which is invalid."""
    return any((cond in values) != (test in values) for cond, test in alternative.conditions)


def section_samples(shape: SectionShape) -> list[dict[str, Any]]:
    """Return objects of a section: with the header alone, and with each kind of line in turn."""
    headers = line_samples(shape.header)
    base = headers[0] if headers else {}
    return _distinct([*headers, *({**base, **own} for directive in shape.directives for own in directive_samples(directive))])


def directive_samples(directive: Directive) -> Iterator[dict[str, Any]]:
    """Yield the objects of a section that has lines of one kind only."""
    objects = line_samples(directive.shape)
    if directive.rows:
        elements: list[Any] = [row[directive.rows] if directive.scalar else row for row in objects]
        objects = [*({directive.rows: [element]} for element in elements), {directive.rows: elements[:3]}]
    for object_ in objects:
        for name in reversed(directive.path):
            object_ = {name: object_}
        yield object_


# -- one synopsis


def _alternative(alternative: Alternative, shape: LineShape) -> Iterator[Values]:
    groups = optional(alternative.chain)
    needed = [completed(values, groups, shape) for values in required(alternative.chain)]
    yield from needed
    for variants in groups:
        for values in variants:
            yield completed({**needed[0], **values}, groups, shape)
    yield _together(needed[0], groups, shape)


def required(chain: Chain) -> Iterator[Values]:
    """Yield the required values of a chain, with each sample of each value in turn."""
    required = [group for node in chain.nodes if isinstance(node, Options) for group in node.groups if group.required]
    nodes = [list(node_samples(node)) for node in chain.nodes if not isinstance(node, Options)]
    nodes += [list(_group(group)) for group in required]
    first: Values = {name: value for variants in nodes for name, value in variants[0].items()}
    yield first
    for variants in nodes:
        others = {name: value for name, value in first.items() if name not in variants[0]}
        yield from (others | values for values in variants[1:])


def optional(chain: Chain) -> list[list[Values]]:
    """Return the sample values of each optional group of a chain."""
    groups = [group for node in chain.nodes if isinstance(node, Options) for group in node.groups if not group.required]
    return [found for found in map(list, map(_group, groups)) if found]


def _group(group: Group) -> Iterator[Values]:
    """Yield sample values of a group. For a group that may be repeated, yield one and two rows."""
    for chain in group.alternatives:
        inner = optional(chain)
        values_of_rows = [*required(chain), *({**next(required(chain)), **values} for variants in inner for values in variants)]
        if group.join:
            chunks = [values[group.rows] for values in values_of_rows]
            yield from ({group.rows: value} for value in (*chunks, group.join.joined(chunks[:2])))
        elif group.rows:
            elements = [_row(group.rows, values) for values in values_of_rows]
            yield {group.rows: elements[:1]}
            yield {group.rows: elements[:2] if len(elements) > 1 else elements * 2}
        else:
            yield from (values for values in values_of_rows if values)


def _row(rows: str, values: Values) -> Any:
    row = {name.removeprefix(rows + "."): value for name, value in values.items()}
    return row[rows] if list(row) == [rows] else row


def completed(values: Values, groups: Iterable[Sequence[Values]], shape: LineShape) -> Values:
    """Add the members that the schema requires, and the members that are valid only together with present members."""
    wanted = {*shape.needed, *(name for members in shape.together if set(members) & set(values) for name in members)}
    for variants in groups:
        if (wanted - set(values)) & set(variants[0]):
            values = {**variants[0], **values}
    return values


def _together(values: Values, groups: Iterable[Sequence[Values]], shape: LineShape) -> Values:
    """Add the largest sample of each group that does not exclude a present member."""
    for variants in groups:
        richest = max(variants, key=len)
        names = {*values, *richest}
        excluded = any(len(names & set(members)) > 1 for members in shape.exclusive)
        if not excluded and not set(richest) & set(values):
            values = {**values, **richest}
    return values


# -- one node


def node_samples(node: Node) -> Iterator[Values]:
    """Yield sample values for the members of a node. For a codec, yield the values of its `examples`."""
    if isinstance(node, Literal):
        yield {}
    elif isinstance(node, Toggle):
        yield from ({node.member: value} for value, words in node.words.items() if words)
    elif isinstance(node, Placeholder):
        yield from ({node.member: value} for value in type_samples(node.type))
    elif isinstance(node, Glued):
        yield {name: value for place in node.places for name, value in next(node_samples(place)).items()}
    elif isinstance(node, Rest):
        yield from ({node.member: value} for value in _rest(node))
    else:
        for words in getattr(node, "examples", ()):
            if match := node.match(words.split(), 0):
                yield match[1]


def _rest(node: Rest) -> list[Any]:
    if node.item is None:
        return list(node.examples) or ["sample", '"two words" more']
    several = type_samples(node.item)
    return [several[:1], several[:2]]


def type_samples(kind: ValueType) -> list[Any]:
    """Return the examples of a property; without examples, the samples of its type."""
    return list(kind.examples) or kind.samples()


def _distinct(objects: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return list({json.dumps(object_, sort_keys=True): dict(object_) for object_ in objects}.values())
