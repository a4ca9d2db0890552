"""What HAProxy lists as its keywords is declared; what is not yet stands in vocabulary.toml, which may only shrink."""

import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from native.grammar.synopsis import Chain, Glued, Group, Node, Options, Placeholder, Rest, Toggle, Word
from native.grammar.values import Choice, Listed, ValueType
from tests.haproxy import binaries
from tests.laws.language import kinds

RULES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text())
# Keywords whose synopsis in the list begins with the line they are options of, and the declaration of that line.
OPTIONS_OF = {"bind": "bind", "server": "server"}


def vocabulary(nodes: Iterable[Node | Options | Group | Chain]) -> Iterator[str]:
    """The words that a synopsis knows, choices among them."""
    for node in nodes:
        if isinstance(node, Word):
            yield node.text
        elif isinstance(node, Toggle):
            yield from (word for words in node.words.values() for word in words or ())
        elif isinstance(node, Glued):
            yield node.literals[0].rstrip("(")
        elif isinstance(node, Placeholder | Rest):
            yield from choices(node.type if isinstance(node, Placeholder) else node.item)
        elif isinstance(node, Options):
            yield from vocabulary(node.groups)
        elif isinstance(node, Group):
            yield from vocabulary(node.alternatives)
        elif isinstance(node, Chain):
            yield from vocabulary(node.nodes)
        else:
            yield from node.starts() or ()


def choices(kind: ValueType | None) -> Iterable[str]:
    if isinstance(kind, Listed):
        return choices(kind.item)
    return kind.by_word if isinstance(kind, Choice) else ()


def declared(name: str = "") -> set[str]:
    """The words of one kind of line, or of all."""
    shapes = [kind.shape for kind in kinds().values() if name in ("", kind.name)]
    return {word for shape in shapes for word in vocabulary(each.chain for each in shape.alternatives)}


@pytest.fixture(scope="module")
def listed() -> set[str]:
    """The keywords of configuration files that the binary tells, signs for their arguments left out."""
    binary = binaries.exactly("3.2")
    told = subprocess.run([binary, "-dKall", "-q", "-c", "-f", "/dev/null"], capture_output=True, text=True, check=False).stdout
    block = told.split("configuration keywords:")[1].split("\n# List")[0]
    found = {" ".join(re.sub(r"<\S+>|\+-?\d+|\[.*\]|[*]$", "", line).split()) for line in block.splitlines() if line.startswith("\t")}
    assert len(found) > 500, "the binary lists its keywords in another form"
    return found


def test_every_keyword_is_declared_or_listed(listed: set[str]) -> None:
    everything, own = declared(), {line: declared(kind) for line, kind in OPTIONS_OF.items()}
    unknown = set()
    for keyword in listed:
        first, *more = keyword.replace("(", " ").split()
        known = own.get(first, everything) if more else everything
        if not set(more or [first]) - {"ssl", ")"} <= known:
            unknown.add(keyword)
    assert unknown == set(RULES["undeclared"])


def test_the_list_only_shrinks() -> None:
    assert len(RULES["undeclared"]) <= RULES["at_most"]
    assert len(set(RULES["undeclared"])) == len(RULES["undeclared"])
