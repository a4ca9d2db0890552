"""Generate docs/keywords.md: which keywords of HAProxy are declared.

It is made of the grammar, of haproxy/keywords.yaml (what each HAProxy has; tests/tools/list-keywords writes it) and of
haproxy/groups.yaml (what no binary tells).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from haproxy_native.grammar.line_shape import LineShape
from haproxy_native.grammar.load import Grammar
from haproxy_native.grammar.synopsis import Chain, Glued, Literal, Node, Options, Placeholder, Rest, Toggle
from haproxy_native.grammar.values import Choice, Listed, ValueType

HERE = Path(__file__).parent / "haproxy"
FACTS = HERE / "keywords.yaml"
DECLARED, UNKNOWN, NOT_APPLICABLE = "declared", "unknown", "not applicable"
STATES = (DECLARED, UNKNOWN, NOT_APPLICABLE)
# `tcp-request content set-mark` is recognised by its third word.
DEEP = 3

Words = tuple[str, ...]


@dataclass(frozen=True)
class Group:
    """One table of the page; groups.yaml describes the fields."""

    title: str
    sections: Sequence[str] = ()
    options: str = ""
    says: str = "{}"
    by_hand: Sequence[str] = ()
    unknown: Sequence[str] = ()
    not_applicable: Mapping[str, str] = field(default_factory=dict)
    not_applicable_all: str = ""

    def excuse(self, word: str) -> str:
        """Why nothing declares the word, where nothing ought to."""
        return self.not_applicable_all or self.not_applicable.get(word, "")


@cache
def groups() -> dict[str, Group]:
    return {name: Group(**given) for name, given in _rules()["groups"].items()}


def at_most() -> int:
    return int(_rules()["at_most"])


def _rules() -> dict[str, Any]:
    return dict(yaml.safe_load((HERE / "groups.yaml").read_text()))


# -- what each HAProxy has


@dataclass(frozen=True)
class Facts:
    """`releases` that were asked, by version; for each group its words, each with the versions that have it."""

    releases: Mapping[str, str]
    words: Mapping[str, Mapping[str, Words]]

    def text(self) -> str:
        """As keywords.yaml holds it: words that the same versions have stand together."""
        lines = [
            "# What the words of each HAProxy are. Made by tests/tools/list-keywords; do not edit.",
            f"releases: {_flow(self.releases)}",
        ]
        for name, words in self.words.items():
            lines.append(f"{name}:")
            for versions in dict.fromkeys(words.values()):
                lines.append(f"  {' '.join(versions)}:")
                lines += [f"    - {word!r}" for word in sorted(words) if words[word] == versions]
        return "\n".join(lines) + "\n"


def _flow(mapping: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"'{key}': {value}" for key, value in mapping.items()) + "}"


@cache
def facts() -> Facts:
    content = yaml.safe_load(FACTS.read_text())
    releases = content.pop("releases")
    return Facts(
        releases, {name: {word: tuple(str(key).split()) for key, words in own.items() for word in words} for name, own in content.items()}
    )


# -- what is declared


def heads(elements: Sequence[Node | Options], depth: int = DEEP) -> Iterator[Words]:
    """The sequences of words that a line can begin with, up to the first word that may be any."""
    if not elements or depth == 0:
        yield ()
        return
    first, *rest = elements
    if isinstance(first, Options):
        is_needed = any(group.required for group in first.groups)
        for group in first.groups:
            for alternative in group.alternatives if not (is_needed and group.is_condition) else ():
                yield from heads(alternative.nodes, depth)
        if not is_needed:
            yield from heads(rest, depth)
        return
    own = list(_starts(first))
    if not own:
        yield ()
    for words, more in product(own, list(heads(rest, depth - 1)) if own else ()):
        yield (*words, *more)[:DEEP]


def _starts(node: Node) -> Iterable[Words]:
    if isinstance(node, Literal):
        return [(node.text,)]
    if isinstance(node, Toggle):
        return [words for words in node.words.values() if words]
    if isinstance(node, Glued):
        return [(node.literals[0].removesuffix("(") + ("" if node.literals[0].endswith("(") else "*"),)]
    if isinstance(node, Placeholder | Rest):
        return [(word,) for word in _choices(node.type if isinstance(node, Placeholder) else node.item)]
    if isinstance(node, Chain):
        return list(heads(node.nodes))
    return [(word,) for word in node.starts() or ()]


def _choices(kind: ValueType | None) -> Iterable[str]:
    if isinstance(kind, Listed):
        return _choices(kind.item)
    return kind.by_word if isinstance(kind, Choice) else ()


def _begins(head: Words, wanted: Words) -> bool:
    """A star in a head stands for whatever is glued to it."""
    return len(head) >= len(wanted) and all(map(fnmatchcase, wanted, head))


class Declared:
    """The words of the grammar, by section and by kind of line."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.grammar, self.table = Grammar(document), document["x-resources"]
        self._sections: dict[str, set[Words]] = {}

    def has(self, group: Group, word: str) -> bool:
        """Whether a line of one of the group's sections, or an option of its kind of line, can begin with the word."""
        own = word.rstrip("*(")
        if group.options:
            return any(_begins(head, (own,)) for head in self.options(group.options))
        wanted = tuple(group.says.format(own).split())
        return any(_begins(head, wanted) for section in group.sections for head in self.section(section))

    def options(self, schema: str) -> set[Words]:
        """The words of the options of a line."""
        chains = [alternative.chain for alternative in self.grammar.line(schema).alternatives]
        options_of = [node for chain in chains for node in chain.nodes if isinstance(node, Options)]
        return {head for node in options_of for head in heads([node])}

    def section(self, keyword: str) -> set[Words]:
        """What the lines of a section can begin with, those of its children among them."""
        if keyword not in self._sections:
            self._sections[keyword] = {
                head for shape in self._shapes(keyword) for alternative in shape.alternatives for head in heads(alternative.chain.nodes)
            }
        return self._sections[keyword]

    def _shapes(self, keyword: str) -> Iterator[LineShape]:
        for name, resource in self.table.items():
            if resource.get("section") == keyword:
                children = [child for child in self.table.values() if name in child.get("parents", ())]
                embedded = [member for child in children if (member := _member(child, name))]
                yield from (directive.shape for directive in self.grammar.section(resource["schema"], embedded).directives)
                yield from (self.grammar.line(child["schema"]) for child in children if child["kind"] in ("named", "indexed"))


def _member(child: Mapping[str, Any], parent: str) -> str:
    member = child.get("member", "")
    return str(member.get(parent, "") if isinstance(member, Mapping) else member)


# -- the verdict, and the page


@dataclass(frozen=True)
class Verdict:
    """Of one word: its state, the versions that have it, and why where nothing declares it on purpose."""

    group: str
    word: str
    state: str
    versions: Words
    reason: str = ""


def verdicts(document: Mapping[str, Any]) -> list[Verdict]:
    declared, known = Declared(document), facts().words
    return [
        _verdict(declared, name, group, word, versions)
        for name, group in groups().items()
        for word, versions in sorted(known.get(name, {}).items())
    ]


def _verdict(declared: Declared, name: str, group: Group, word: str, versions: Words) -> Verdict:
    reason = group.excuse(word)
    state = NOT_APPLICABLE if reason else DECLARED if declared.has(group, word) else UNKNOWN
    return Verdict(name, word, state, versions, reason)


def page(document: Mapping[str, Any]) -> str:
    """docs/keywords.md."""
    rows, releases = verdicts(document), facts().releases
    counts = [[group.title, *(str(_count(rows, name, state)) for state in STATES)] for name, group in groups().items()]
    tables = [_chapter(group.title, [row for row in rows if row.group == name], list(releases)) for name, group in groups().items()]
    return "\n".join([INTRODUCTION.format(releases=", ".join(releases.values())), _table([("words of", *STATES), *counts]), *tables])


def _chapter(title: str, rows: Sequence[Verdict], every: Sequence[str]) -> str:
    return f"## {title[0].upper()}{title[1:]}\n\n{_table(_rows(rows, every))}"


INTRODUCTION = """\
# Keywords

This page lists the keywords of HAProxy {releases}, and shows which of them the API can read and write. `make generate` writes it from the
binaries (`tests/tools/list-keywords`): from their own list (`haproxy -dKall`), or by testing one line per keyword.

*declared*: the API reads and writes the keyword. *unknown*: the API does not declare it, and keeps its lines unchanged. *not applicable*:
the API is not meant to declare it. Lines of other sections, such as `program`, and keywords of later HAProxy versions are kept as well.
"""


def _count(rows: Iterable[Verdict], group: str, state: str) -> int:
    return sum(row.group == group and row.state == state for row in rows)


def _rows(found: Sequence[Verdict], every: Sequence[str]) -> list[Sequence[str]]:
    """One row for each state, reason and span of versions; what all versions have comes first."""
    kinds: dict[tuple[int, str, str], list[str]] = {}
    for keyword in found:
        kinds.setdefault((STATES.index(keyword.state), _span(keyword.versions, every), keyword.reason), []).append(f"`{keyword.word}`")
    rows = [
        (STATES[state] + (f": {reason}" if reason else ""), span or "all", " ".join(kinds[state, span, reason]))
        for state, span, reason in sorted(kinds)
    ]
    return [("state", "versions", "words"), *rows]


def _span(versions: Words, every: Sequence[str]) -> str:
    """Such as `since 3.0`; empty for all."""
    first, last = every.index(versions[0]), every.index(versions[-1])
    if versions != tuple(every[first : last + 1]):
        return "in some"
    if len(versions) == len(every):
        return ""
    if len(versions) == 1 and versions[0] != every[-1]:
        return f"{versions[0]} only"
    return (
        f"since {versions[0]}" if last == len(every) - 1 else f"up to {versions[-1]}" if first == 0 else f"{versions[0]} to {versions[-1]}"
    )


def _table(rows: Sequence[Sequence[str]]) -> str:
    first, *others = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([first, "|" + "---|" * len(rows[0]), *others]) + "\n"
