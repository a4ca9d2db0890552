"""Summarises a refusal in one line: place, cause, and the word that was probably meant.

A place is one that HAProxy names. It names none for a mistake that it finds only after reading all files, such as a missing backend: then a
line of the section that it names is the place, if no other line there says what HAProxy says.

A hint replaces a word that HAProxy does not know by one that it knows at that place: of the list in its message, or of the names of the
same kind that the files have. A word that a later HAProxy has is named with that version. There is no hint for anything else, since what
HAProxy quotes is mostly no mistake.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, partial
from importlib.resources import files
from itertools import islice, pairwise
from pathlib import PurePath
from typing import Any

from haproxy_native.check.messages import Message, Origin
from haproxy_native.grammar.load import bundle
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from haproxy_native.text.words import unquoted

LONGEST = 270
_PLACE = re.compile(r"^(?:config : )?(?:parsing )?\[[^\]]*\]\s*:\s*|^config : ")
_NOT_ONE = re.compile(r"error\(s\) found in configuration file|fatal errors found in configuration", re.IGNORECASE)
_QUOTED = re.compile(r"'([^']+)'")
# The section that a message without a place begins with, and the rest; `proxy` is any that has traffic.
_OF_SECTION = re.compile(r"(?:config ?: )*(?P<kind>[\w-]+) '(?P<name>[^']+)'(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_PROXIES = frozenset(["frontend", "backend", "listen", "defaults"])
# `server 's1'`, `default_backend: 'app'`: a word, and what stands behind it in a line.
_PAIR = re.compile(r"([\w-]+)(?: ?:)? '([^' ]+)'")
# What HAProxy accepts there, what it was given, and the words of the line up to there.
_ACCEPTS = re.compile(r"'?(?P<before>[\w-]+(?: [\w-]+)*?)'?(?: :)? (?:only supports|supports|expects)(?: either)? (?P<list>'.*)", re.DOTALL)
_GOT = re.compile(r"\b(?:got|found) '([^']+)'", re.IGNORECASE)
_A_WORD = re.compile(r"\[?!?\]?([\w.-]+)(?:\(.*\))?")
# A name that nothing has, and what kind of name it is.
_UNKNOWN = re.compile(
    r"(?:unable to find(?: required| the| sync)*|no such|can't find) (?P<kind>[\w-]+)(?: section)?(?: ?:)? '(?P<name>[^']+)'"
    r"|(?P<kind_>fcgi-app|defaults section) '(?P<name_>[^']+)' not found",
    re.IGNORECASE,
)
# So many names are compared with a misspelt one.
_MOST = 5000


def located(alerts: Sequence[Message], origins: Mapping[str, Origin]) -> list[Message]:
    """The alerts, with the places of those that HAProxy gives none, if they are sure."""
    return [alert if alert.line else _found(alert, origins) for alert in alerts]


def first_line(alerts: Sequence[Message], origins: Mapping[str, Origin], version: str = "") -> str:
    """`line 9 of haproxy.cfg, in 'frontend web': ...; did you mean "deny"?`, at most LONGEST characters; empty without alerts.

    `version`: that of the HAProxy whose alerts they are, as 3.0.11; a word that a later one has is named with the first that has it.
    """
    specific = [alert for alert in alerts if not _NOT_ONE.search(alert.text)]
    alert = next((alert for alert in specific if alert.line), specific[0] if specific else None)
    if alert is None:
        return ""
    hint = _later(alert, version) or ("" if "did you mean" in alert.text.lower() else _hint(alert, origins))
    where = _where(alert)
    return where + _cut(_PLACE.sub("", alert.text).strip(" ."), LONGEST - len(where) - len(hint)) + hint


def _where(alert: Message) -> str:
    if not alert.line:
        return ""
    file = f" of {_cut(PurePath(alert.file).name, 40)}" if alert.file else ""
    section = f", in '{_cut(alert.section, 60)}'" if alert.section else ""
    return f"line {alert.line}{file}{section}: "


def _cut(text: str, most: int) -> str:
    """Shortens a long text to its beginning and its end, where HAProxy quotes what it was given."""
    if len(text) <= most:
        return text
    tail = min(80, most // 2)
    return f"{text[: most - tail - 5]} ... {text[-tail:]}"


def _hint(alert: Message, origins: Mapping[str, Origin]) -> str:
    wrong, known = _unknown_word(alert) or _unknown_name(alert, origins) or ("", ())
    close = get_close_matches(wrong, [word for word in known if len(word) < 60], 1, 0.7) if wrong and wrong not in known else []
    return f'; did you mean "{close[0]}"?' if close else ""


def _later(alert: Message, version: str) -> str:
    """Return a hint for a word that HAProxy has from a later version on."""
    words = (word.split("(")[0] for word in _QUOTED.findall(alert.text) if version)
    later = [(word, since) for word in words if (since := bundle()["x-later-words"].get(word)) and _numbers(since) > _numbers(version)]
    return f'; HAProxy {later[0][1]} knows "{later[0][0]}", and this one is {version}' if later else ""


def _numbers(version: str) -> tuple[int, ...]:
    """Major and minor."""
    return tuple(map(int, version.split(".")[:2]))


def _unknown_word(alert: Message) -> tuple[str, Collection[str]] | None:
    """Return the word that HAProxy rejects, and the words that it lists instead."""
    accepts = _ACCEPTS.search(alert.text)
    if accepts is None or not alert.source:
        return None
    words, before = list(map(unquoted, Line(alert.source).words)), accepts["before"].split()
    got = _GOT.search(accepts["list"])
    listed = accepts["list"][: got.start()] if got else accepts["list"]
    known = [match[1] for word in _QUOTED.findall(listed) if (match := _A_WORD.fullmatch(word))]
    behind = words[len(before) : len(before) + 1] if words[: len(before)] == before else []
    wrong = [got[1]] if got and got[1] in words else [] if got else behind
    return (wrong[0], known) if wrong and len(known) > 1 else None


def _unknown_name(alert: Message, origins: Mapping[str, Origin]) -> tuple[str, Collection[str]] | None:
    """Return the unknown name, and the known names of its kind."""
    unknown = _UNKNOWN.search(alert.text)
    if unknown is None:
        return None
    kind, name = (unknown["kind"] or unknown["kind_"]).lower(), unknown["name"] or unknown["name_"]
    sections, having = list(_sections(origins)), _having()
    if kinds := having["sections"].get(kind):
        names: Iterator[str] = (section.name for section in sections if section.kind in kinds)
    elif word := having["with_line"].get(kind):
        names = (section.name for section in sections if any(line.words[:1] == (word,) for line in section.lines))
    elif word := having["lines"].get(kind):
        if f"/{name}" in (alert.source or ""):
            # It is one of another section.
            return None
        there = [section for section in sections if section.header.text.strip() == alert.section]
        lines = (line.words for section in there for line in section.lines if line.words[:1] == (word,))
        names = (unquoted(words[1]) for words in lines if len(words) > 1)
    else:
        return None
    is_elsewhere = any(section.name == name for section in sections)
    return None if is_elsewhere else (name, list(islice(filter(None, dict.fromkeys(names)), _MOST)))


@cache
def _having() -> dict[str, dict[str, Any]]:
    """What has the names of a kind: see the file."""
    return tomllib.loads(files(__package__).joinpath("names.toml").read_text("utf-8"))


def _sections(origins: Mapping[str, Origin]) -> Iterator[Section]:
    return (section for origin in origins.values() if origin.document for section in origin.document.sections)


def _found(alert: Message, origins: Mapping[str, Origin]) -> Message:
    said = _OF_SECTION.match(alert.text)
    if said is None:
        return alert
    kinds = _PROXIES if said["kind"].lower() == "proxy" else {said["kind"].lower()}
    says = partial(_says, list(_PAIR.findall(said["rest"])), _QUOTED.findall(said["rest"]))
    places = (
        (origin, number + place, section, line)
        for origin in origins.values()
        for number, section in (_numbered(origin.document) if origin.document else ())
        if section.kind in kinds and section.name == said["name"]
        for place, line in enumerate(section.lines)
        if place and says(tuple(map(unquoted, line.words)))
    )
    sure = list(islice(places, 2))
    if len(sure) != 1:
        return alert
    origin, number, section, line = sure[0]
    header = section.header.text.strip()
    return replace(alert, file=origin.file, line=number - origin.shift, section=header, source=line.text.strip())


def _says(pairs: Iterable[tuple[str, str]], quoted: Collection[str], words: Sequence[str]) -> bool:
    """Return whether a line matches a message: by a pair of words, by its first words, or by its first word and another one."""
    if any(_alike(word, first) and behind == second for word, behind in pairwise(words) for first, second in pairs):
        return True
    if any(" " in phrase and list(words[: len(phrase.split())]) == phrase.split() for phrase in quoted):
        return True
    return bool(words) and words[0] in quoted and not set(words[1:]).isdisjoint(quoted)


def _alike(word: str, said: str) -> bool:
    """`table` is called stick-table, and `use-fcgi-app` names a fcgi-app."""
    return word == said or said.endswith(f"-{word}") or ("-" in said and word.endswith(f"-{said}"))


def _numbered(document: Document) -> Iterator[tuple[int, Section]]:
    """Each section with the number of its header line, counted from 1."""
    number = 1 + document.preamble.count("\n")
    for section in document.sections:
        number += section.lead.count("\n")
        yield number, section
        number += section.text.count("\n")
