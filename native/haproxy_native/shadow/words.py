"""The tables of words.toml, which say how each keyword is rewritten for a shadow."""

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
    """Return the words of a listener that stay, with the number of their arguments."""
    return _arguments(words()["listener"])


@cache
def server_words() -> dict[str, int]:
    return _arguments(words()["server"])


def definition() -> str:
    """Return the first word of a line that names a condition."""
    return str(words()["rules"]["definition"])


@cache
def ending() -> re.Pattern[str]:
    """Return the pattern of a rule that answers instead of a server."""
    return re.compile(words()["rules"]["ending"].replace("\\\n", ""))


@cache
def unknown() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return patterns of lines whose effect in a shadow may be another one, and why."""
    return tuple((re.compile(row["pattern"]), row["why"]) for row in words()["unknown"])


@cache
def health() -> re.Pattern[str]:
    """Return the pattern of lines that depend on the states of servers."""
    return re.compile(words()["health"]["pattern"])


def why_health() -> str:
    return str(words()["health"]["why"])


@cache
def lasting() -> re.Pattern[str]:
    """Return the pattern of rules whose effects later requests see, except for stick tables."""
    return re.compile(words()["lasting"])


@cache
def dropped() -> dict[str, list[list[str]]]:
    """Return how lines of a proxy begin that a shadow omits, by their first word."""
    phrases: dict[str, list[list[str]]] = {}
    for phrase in words()["proxy"]["dropped"]:
        phrases.setdefault(phrase.split()[0], []).append(phrase.split())
    return phrases


def begins(line: tuple[str, ...] | list[str], wanted: str) -> bool:
    """Return whether a line begins with these words."""
    first = wanted.split()
    return list(line[: len(first)]) == first


def only(line: list[str], kept: dict[str, int]) -> list[str]:
    """Return the words in `kept`, with their arguments."""
    out, at = list[str](), 0
    while at < len(line):
        number = kept.get(line[at])
        out += line[at : at + 1 + number] if number is not None else []
        at += 1 + (number or 0)
    return out


def without(line: list[str], dropped: dict[str, int]) -> list[str]:
    """Return the words that are not in `dropped`, whose arguments are dropped as well."""
    out, at = list[str](), 0
    while at < len(line):
        number = dropped.get(line[at])
        out += line[at : at + 1] if number is None else []
        at += 1 + (number or 0)
    return out


def _arguments(table: dict[str, Any]) -> dict[str, int]:
    return {**dict.fromkeys(table["flags"], 0), **dict.fromkeys(table["values"], 1)}
