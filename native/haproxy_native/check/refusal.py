"""Summarises a refusal in one line: place, cause, and the word that was probably meant.

HAProxy names no line for what it finds only after reading all files (a missing backend); the section and the word that it quotes lead
there.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from pathlib import PurePath

from haproxy_native.check.messages import Message, Origin
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section

LONGEST = 270
_QUOTED = re.compile(r"'([^']+)'")
_GOT = re.compile(r"\bgot '([^']+)'")
_PLACE = re.compile(r"^(?:config : )?(?:parsing )?\[[^\]]*\]\s*:\s*|^config : ")
_NOT_ONE = re.compile(r"error\(s\) found in configuration file|fatal errors found in configuration", re.IGNORECASE)
# A list of what is allowed; fewer quoted words are names.
_LIST = 4
# So many names are compared with a misspelt one.
_MOST = 5000


def located(alerts: Sequence[Message], origins: Mapping[str, Origin]) -> list[Message]:
    """The alerts, with the places of those that HAProxy gives none."""
    return [alert if alert.line else _found(alert, origins) for alert in alerts]


def first_line(alerts: Sequence[Message], origins: Mapping[str, Origin]) -> str:
    """`line 9 of haproxy.cfg, in 'frontend web': ...; did you mean "deny"?`, at most LONGEST characters; empty without alerts."""
    specific = [alert for alert in alerts if not _NOT_ONE.search(alert.text)]
    alert = next((alert for alert in specific if alert.line), specific[0] if specific else None)
    if alert is None:
        return ""
    hint = "" if "did you mean" in alert.text.lower() else _hint(alert, origins)
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
    quoted = _QUOTED.findall(alert.text)
    if len(quoted) >= _LIST:
        known = [word.partition("(")[0] for word in quoted]
        wrong = _GOT.findall(alert.text) or (alert.source or "").split()[1:3]
        pairs = [(word, [candidate for candidate in known if candidate != word]) for word in wrong]
    else:
        names = list(islice(_names(alert, origins), _MOST))
        pairs = [(word, names) for word in quoted if word not in names]
    likely = next((close[0] for word, known in pairs if (close := get_close_matches(word, known, 1, 0.7))), None)
    return f'; did you mean "{likely}"?' if likely and len(likely) < 60 else ""


def _names(alert: Message, origins: Mapping[str, Origin]) -> Iterator[str]:
    """What lines of the section name first, then sections."""
    for section in _sections(origins):
        if section.header.text.strip() == alert.section:
            lines = (line.text.split(None, 2) for line in section.lines if line.text.strip() != alert.source)
            yield from (words[1] for words in lines if len(words) > 1)
    yield from (section.name for section in _sections(origins) if section.name)


def _sections(origins: Mapping[str, Origin]) -> Iterator[Section]:
    return (section for origin in origins.values() if origin.document for section in origin.document.sections)


def _found(alert: Message, origins: Mapping[str, Origin]) -> Message:
    quoted = _QUOTED.findall(alert.text)
    for origin in origins.values():
        for number, section in _numbered(origin.document) if origin.document and quoted else ():
            if section.name == quoted[0] and (line := _line_with(section, quoted[1:])) is not None:
                source = section.lines[line].text.strip()
                return replace(
                    alert, file=origin.file, line=number + line - origin.shift, section=section.header.text.strip(), source=source
                )
    return alert


def _numbered(document: Document) -> Iterator[tuple[int, Section]]:
    """Each section with the number of its header line, counted from 1."""
    number = 1 + document.preamble.count("\n")
    for section in document.sections:
        number += section.lead.count("\n")
        yield number, section
        number += section.text.count("\n")


def _line_with(section: Section, words: Sequence[str]) -> int | None:
    """The first line that holds one of the words."""
    lines = ((place, set(line.text.split())) for place, line in enumerate(section.lines))
    return next((place for place, held in lines if place and held.intersection(words)), None)
