"""What HAProxy decides for the servers of a backend when it loads the file, and refuses by command from then on (`fixed_by`). Pure.

Most algorithms use a map that it computes once (HAProxy Configuration Manual, "balance" and "hash-type"): there it takes no other weight
than 0 and that of the start, and no further server.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.editing.resources import resources
from haproxy_native.grammar.load import Grammar
from haproxy_native.text.section import Section

WEIGHTS, ADDITIONS, EVERYTHING = "weights", "additions", "everything"
NEGATION = "no"


@dataclass(frozen=True)
class Fixed:
    """The lines for which HAProxy takes no other `weights` there, no `additions`, or nothing at all; empty where it does."""

    weights: str = ""
    additions: str = ""
    everything: str = ""


def fixed(chain: Iterable[Section], grammar: Grammar) -> Fixed:
    """Return what is fixed in a proxy; `chain` is its section, then the defaults sections that it inherits from, the nearest first."""
    rules: Sequence[Mapping[str, Any]] = grammar.schemas.note(grammar.schemas.named(resources()["servers"].schema))["fixed_by"]
    keywords = {name.split()[0] for rule in rules for name in (rule["keyword"], rule.get("ended_by", ""), *rule.get("unless", ())) if name}
    said: dict[str, str | None] = {}
    for section in chain:
        said = dict(_said(section, rules, keywords)) | said
    found: dict[str, str] = {}
    for rule in rules:
        if (value := said.get(keyword := rule["keyword"])) is None or not _holds(rule, value, said):
            continue
        for what in rule["fixes"]:
            found.setdefault(what, f"{keyword} {value}".rstrip())
    return Fixed(*(found.get(what, "") for what in (WEIGHTS, ADDITIONS, EVERYTHING)))


def _holds(rule: Mapping[str, Any], value: str, said: Mapping[str, str | None]) -> bool:
    name = value.partition("(")[0]
    if ("values" in rule and name not in rule["values"]) or name in rule.get("but", ()):
        return False
    return not any(said.get(keyword) == wanted for keyword, wanted in rule.get("unless", {}).items())


def _said(section: Section, rules: Sequence[Mapping[str, Any]], first: Collection[str]) -> Iterator[tuple[str, str | None]]:
    """The keywords of its lines with their values, None for those that a line ends; the last of a kind counts."""
    ends = {rule["ended_by"]: rule["keyword"] for rule in rules if "ended_by" in rule}
    for line in section.lines[1:]:
        words = line.args
        is_negated = words[:1] == (NEGATION,)
        words = words[1:] if is_negated else words
        if not words or words[0] not in first:
            continue
        if words[0] in ends:
            yield ends[words[0]], None
        for rule in rules:
            for keyword in (rule["keyword"], *rule.get("unless", ())):
                parts = tuple(keyword.split())
                if words[: len(parts)] == parts:
                    yield keyword, None if is_negated else "".join(words[len(parts) : len(parts) + 1])
