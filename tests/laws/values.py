"""Let hypothesis generate objects from the JSON schemas of members, including values that are difficult to write."""

import re
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as some

from haproxy_native.grammar.line_shape import METADATA, unflattened
from haproxy_native.grammar.schema import Schema
from haproxy_native.grammar.synopsis import Chain, Options
from tests.laws.language import Kind, language

# Parts of words, and texts that separate words: blanks, quotes, escapes, comments, variables, separators, conditions.
PIECES = ["a", "bc", "7", "-", ".", "/", ":", ",", "=", "(", ")", "[", "]", "{", "}", "%[src]", "é", "\udcff", "no", "if", "unless", "or"]
AWKWARD = [
    " ",
    "  ",
    "\t",
    '"',
    "'",
    "\\",
    "#",
    "$",
    "${VAR}",
    "${VAR-a b}",
    " if ",
    " unless { a }",
    '"b c"',
    "\\ ",
    "\\#",
    "\x85",
    "\u2028",
]
PLAIN = some.sampled_from(["a", "bc", "10.0.0.1", "x-y_z", "%[src]", '"b c"', "a\\ b", "${VAR}"])
TEXT = some.one_of(PLAIN, some.lists(some.sampled_from([*PIECES, *AWKWARD]), min_size=1, max_size=5).map("".join))
METADATA_OBJECTS = some.one_of(
    some.fixed_dictionaries({"comment": TEXT}),
    some.dictionaries(TEXT, some.one_of(TEXT, some.integers(), some.booleans(), some.none(), some.lists(TEXT, max_size=2)), max_size=2),
)


def of(schema: Schema) -> some.SearchStrategy[Any]:
    """Return a strategy for values that a schema allows."""
    schemas = language().grammar.schemas
    schema = schemas.resolve(schema)
    if properties := schemas.properties(schema):
        return some.fixed_dictionaries({name: of(each) for name, each in properties.items()})
    kind = schema.get("type", "string")
    if kind == "object":
        return some.dictionaries(some.sampled_from(["a", "b-c", "d"]), TEXT, min_size=1, max_size=2)
    if kind == "array":
        return some.lists(of(schema["items"]), min_size=1, max_size=min(3, schema.get("maxItems", 3)))
    if kind == "boolean":
        return some.booleans()
    if kind == "integer":
        return some.integers(schema.get("minimum", 0), schema.get("maximum", 2**31 - 1))
    return texts(schema)


def texts(schema: Schema) -> some.SearchStrategy[str]:
    if words := [value for value in schema.get("enum", ()) if value]:
        return some.sampled_from(words)
    pattern = schema.get("pattern")
    if pattern is None:
        return TEXT
    if pattern in (r"^[^\s]+$", r"^\S+$"):
        return some.one_of(
            PLAIN.filter(str.isascii),
            some.lists(some.sampled_from([*PIECES, '"', "'", "\\", "#", "$"]), min_size=1, max_size=4).map("".join),
        ).filter(lambda text: not re.search(r"\s", text))
    return some.from_regex(re.compile(pattern, re.ASCII), fullmatch=True).filter(lambda text: not re.search(r"[\n\r]", text))


@some.composite
def objects_of(draw: some.DrawFn, kind: Kind) -> dict[str, Any]:
    """Generate an object for one alternative of a kind of line, with its required members and some of its options."""
    shape = kind.shape
    alternative = draw(some.sampled_from(shape.alternatives))
    chosen = {*members(draw, alternative.chain), *shape.needed}
    chosen |= {name for together in shape.together if chosen & set(together) for name in together}
    values = {}
    for name, schema in kind.properties.items():
        inner = {member.partition(".")[2] for member in chosen if member.split(".")[0] == name}
        if inner and name not in alternative.fixed:
            values[name] = {each: value for each, value in draw(of(schema)).items() if each in inner} if all(inner) else draw(of(schema))
    if shape.metadata and draw(some.booleans()):
        values[METADATA] = draw(METADATA_OBJECTS)
    return unflattened(dict(alternative.fixed)) | values


def members(draw: some.DrawFn, chain: Chain) -> Iterator[str]:
    """Yield the members of the required nodes of a chain, and of some of its optional groups."""
    yield from chain.required()
    groups = [group for node in chain.nodes if isinstance(node, Options) for group in node.groups]
    for number in sorted(draw(some.sets(some.integers(0, len(groups) - 1), max_size=4))) if groups else ():
        if groups[number].rows:
            yield groups[number].rows
        else:
            yield from members(draw, draw(some.sampled_from(groups[number].alternatives)))
