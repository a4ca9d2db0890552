"""What words.toml says, as the rewriting of a text needs it."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def words() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "words.toml").read_text())


@cache
def listener_words() -> dict[str, int]:
    """What stays of a listener's words, with the number of their arguments."""
    return _arguments(words()["listener"])


@cache
def server_words() -> dict[str, int]:
    return _arguments(words()["server"])


def definition() -> str:
    """What begins a line that names a condition."""
    return str(words()["rules"]["definition"])


@cache
def ending() -> re.Pattern[str]:
    """A rule that answers in the place of a server."""
    return re.compile(words()["rules"]["ending"].replace("\\\n", ""))


@cache
def unknown() -> tuple[tuple[re.Pattern[str], str], ...]:
    """What in a line depends on what a shadow has otherwise, and what that is."""
    return tuple((re.compile(row["pattern"]), row["why"]) for row in words()["unknown"])


@cache
def health() -> re.Pattern[str]:
    """What depends on the states of servers."""
    return re.compile(words()["health"]["pattern"])


def why_health() -> str:
    return str(words()["health"]["why"])


@cache
def lasting() -> re.Pattern[str]:
    """What a request leaves behind for others, but for stick tables."""
    return re.compile(words()["lasting"])


@cache
def dropped() -> dict[str, list[list[str]]]:
    """How lines of a proxy begin that a shadow has not, by their first word."""
    phrases: dict[str, list[list[str]]] = {}
    for phrase in words()["proxy"]["dropped"]:
        phrases.setdefault(phrase.split()[0], []).append(phrase.split())
    return phrases


def begins(line: tuple[str, ...] | list[str], wanted: str) -> bool:
    """Whether a line begins with these words."""
    first = wanted.split()
    return list(line[: len(first)]) == first


def only(line: list[str], kept: dict[str, int]) -> list[str]:
    """Returns the words that are kept, with their arguments."""
    out, at = list[str](), 0
    while at < len(line):
        number = kept.get(line[at])
        out += line[at : at + 1 + number] if number is not None else []
        at += 1 + (number or 0)
    return out


def without(line: list[str], dropped: dict[str, int]) -> list[str]:
    """The words without some, and without their arguments."""
    out, at = list[str](), 0
    while at < len(line):
        number = dropped.get(line[at])
        out += line[at : at + 1] if number is None else []
        at += 1 + (number or 0)
    return out


def _arguments(table: dict[str, Any]) -> dict[str, int]:
    return {**dict.fromkeys(table["flags"], 0), **dict.fromkeys(table["values"], 1)}
