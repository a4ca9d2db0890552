"""Parse HAProxy's messages about a configuration, and compose the text of a refusal.

A refusal consists of three texts: one line that summarizes it for people (`summarize`), the alerts in the format of the Data Plane API
(`format_alerts`), and the lines of the configuration to which they refer (`source_lines`).

The summary has a place, the cause, and the word that was probably meant. HAProxy names no place for a mistake that it finds after reading
all files, such as a missing backend. If the message names a section, and exactly one line of that section matches, this line is the place.

A hint suggests a known word for an unknown one: from the list in the message, or from the names of the same kind in the files. For a
keyword of a later HAProxy, the hint names that version. There are no other hints, since most words that HAProxy quotes are correct.
"""

import bisect
import functools
import itertools
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from itertools import islice, pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

from haproxy_native.grammar.load import bundle
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.words import unquoted

_MESSAGE = re.compile(r"^\[(ALERT|WARNING|NOTICE|DIAG)\]\s*(?:\S*\s*\(\d+\))?\s*:\s*(.*)$")
_PLACE = re.compile(r"(?:\[|\bat )([^\[\]\s]+):(\d+)\b")
# Texts that look like a place but are not: a quoted word of the configuration, and the address of a listener.
_NO_PLACE = re.compile(r"'[^' ]*'|\[(?:[\d.]+|\*|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*):\d+\]")
# HAProxy before 2.4 puts the place first.
_OLD_PLACE = re.compile(r"parsing \[[^:]*:(\d+)?")
_DROPPED_END, _DROPPED = "fatal errors found in configuration.", "error(s) found in configuration file : "
_LONGEST, _MOST = 2000, 200


@dataclass(frozen=True)
class Message:
    """A message of HAProxy. All members from `file` on are None if unknown."""

    # "alert", "warning", "notice" or "diag".
    level: str
    text: str
    file: str | None = None
    # In the file, from 1.
    line: int | None = None
    # The header line of its section.
    section: str | None = None
    # The line itself.
    source: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


class Origin(NamedTuple):
    """The file that a checked file replaces."""

    file: str
    # What the checked file contains.
    document: Document | None = None
    # How many lines the checked file has above the text that the client sent.
    shift: int = 0


def with_client_positions(text: str, checked: Mapping[str, Origin]) -> str:
    """Return HAProxy's output with the file names and line numbers that the client knows instead of those of the checked files."""
    for path, origin in checked.items():
        if path != origin.file or origin.shift:
            # The text before the first mention of the path; then for each mention its line number, or None, and the text behind it.
            before, *mentions = re.split(re.escape(path) + r"(?::([0-9]+)\b)?", text)
            text = before
            for number, following in zip(mentions[::2], mentions[1::2], strict=True):
                text += origin.file + (f":{max(1, int(number) - origin.shift)}" if number else "") + following
    return text


def parse_messages(stderr: str, checked: Mapping[str, Origin]) -> list[Message]:
    """Parse at most 200 messages, in their order. If there are more, alerts take precedence.

    `checked`: the origin of each file by the path that HAProxy has read. Messages get the name of the origin instead of this path, and the
    line number in the text that the client sent.
    """
    matches = [match for line in stderr.splitlines() if (match := _MESSAGE.match(line))]
    # How many more messages to return, by whether they are alerts.
    room = {True: _MOST, False: max(0, _MOST - sum(match[1] == "ALERT" for match in matches))}
    places = {path: Places(origin.document) for path, origin in checked.items() if origin.document}
    messages: list[Message] = []
    for match in matches:
        is_alert = match[1] == "ALERT"
        if not room[is_alert]:
            continue
        room[is_alert] -= 1
        level, text = match[1].lower(), _short(match[2])
        place, text = _PLACE.search(_NO_PLACE.sub("''", text)), with_client_positions(text, checked)
        if not place:
            messages.append(Message(level, text))
            continue
        number = int(place[2])
        origin = checked.get(place[1], Origin(place[1]))
        section, source = places[place[1]].locate(number) if place[1] in places else (None, None)
        messages.append(Message(level, text, origin.file, max(1, number - origin.shift), section, source))
    return messages


class Places:
    """Finds the lines of a document by their numbers. The first call walks through the document."""

    def __init__(self, document: Document) -> None:
        self._document = document

    @functools.cached_property
    def _starts(self) -> list[int]:
        """The number of the first line of each section, including the comments above its header."""
        sizes = (section.lead.count("\n") + section.text.count("\n") for section in self._document.sections)
        return list(itertools.accumulate(sizes, initial=1 + self._document.preamble.count("\n")))

    def locate(self, number: int) -> tuple[str | None, str | None]:
        """Return (section header, line) for the line with this number, counted from 1; None for a header or a line that does not exist."""
        sections = self._document.sections
        index = min(bisect.bisect_right(self._starts, number), len(sections)) - 1
        if index < 0:
            return None, None
        section = sections[index]
        place = number - self._starts[index] - section.lead.count("\n")
        source = section.lines[place].text.strip() if 0 <= place < len(section.lines) else None
        return section.header.text.strip(), source


def locate(document: Document, number: int) -> tuple[str | None, str | None]:
    """Return what `Places.locate` returns for one line of a document. To locate many lines, create one `Places`, which is faster."""
    return Places(document).locate(number)


def format_alerts(stderr: str) -> str:
    """Return the alerts in the format of the Data Plane API: one line `msg="..."` for each."""
    alerts = [line for line in stderr.splitlines() if line.startswith("[ALERT]")]
    remaining = [line for line in alerts if not line.endswith(_DROPPED_END) and _DROPPED not in line]
    more = [f'msg="and {len(remaining) - _MOST} more"'] if len(remaining) > _MOST else []
    texts: list[str] = []
    for line in remaining[:_MOST]:
        _, *parts = [part.strip() for part in line.split(" : ")]
        if not parts:
            continue
        old = _OLD_PLACE.match(parts[0]) if len(parts) > 1 else None
        message = f'msg="{_short(" ".join(parts[1:] if old else parts).strip())}"'
        texts.append(f"line={old[1]} {message}" if old and old[1] else message)
    return "\n".join(texts + more)


def source_lines(alerts: Sequence[Message]) -> str:
    """Return the lines of the configuration to which alerts refer, each once and at most five."""
    lines = dict.fromkeys(f"line {alert.line} in '{alert.section}': {_short(alert.source)}" for alert in alerts if alert.source)
    return "".join(f"\n{line}" for line in list(lines)[:5])


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


LONGEST_SUMMARY = 270
_PLACE_PREFIX = re.compile(r"^(?:config : )?(?:parsing )?\[[^\]]*\]\s*:\s*|^config : ")
_NOT_ONE = re.compile(r"error\(s\) found in configuration file|fatal errors found in configuration", re.IGNORECASE)
_QUOTED = re.compile(r"'([^']+)'")
# The end of the text before a quoted word that HAProxy rejects. HAProxy quotes words that it knows as well: `converter 'map' : failed`.
_NOT_KNOWN = re.compile(r"\b(?:unknown|unexpected|got)\b[^'<:]*$", re.IGNORECASE)
# A message without a place that begins with a section, and the rest. HAProxy calls a frontend, backend, listen or defaults section `proxy`.
_OF_SECTION = re.compile(r"(?:config ?: )*(?P<kind>[\w-]+) '(?P<name>[^']+)'(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_PROXIES = frozenset(["frontend", "backend", "listen", "defaults"])
# `server 's1'`, `default_backend: 'app'`: a word, and the next one in a line.
_PAIR = re.compile(r"([\w-]+)(?: ?:)? '([^' ]+)'")
# The words that HAProxy accepts. `_GOT` matches the word that it has found instead.
_ACCEPTS = re.compile(r" (?:only supports|supports|expects)(?: either)? (?P<list>'.*)", re.DOTALL)
# The words of the line that precede `_ACCEPTS`. Matched against the reversed text: forwards, the pattern would be tried at every word.
_BEFORE = re.compile(r"(?:: )?'?(?P<words>[\w-]+(?: [\w-]+)*)")
_GOT = re.compile(r"\b(?:got|found) '([^']+)'", re.IGNORECASE)
_A_WORD = re.compile(r"\[?!?\]?([\w.-]+)(?:\(.*\))?")
# A name that does not exist, and its kind.
_UNKNOWN = re.compile(
    r"(?:unable to find(?: required| the| sync)*|no such|can't find) (?P<kind>[\w-]+)(?: section)?(?: ?:)? '(?P<name>[^']+)'"
    r"|(?P<kind_>fcgi-app|defaults section) '(?P<name_>[^']+)' not found",
    re.IGNORECASE,
)
# At most this many names are compared with a misspelt one.
_MOST_NAMES = 5000


def add_places(alerts: Sequence[Message], origins: Mapping[str, Origin]) -> list[Message]:
    """Return the alerts. An alert without a line gets a file and a line if its text matches exactly one line of the configuration."""
    return [alert if alert.line else _add_place(alert, origins) for alert in alerts]


def summarize(alerts: Sequence[Message], origins: Mapping[str, Origin], version: str = "") -> str:
    """Return a line such as `line 9 of haproxy.cfg, in 'frontend web': ...; did you mean "deny"?`, at most LONGEST_SUMMARY characters.

    Returns an empty text without alerts. `version`: HAProxy's version, such as 3.0.11, to recognize keywords of later versions.
    """
    specific = [alert for alert in alerts if not _NOT_ONE.search(alert.text)]
    alert = next((alert for alert in specific if alert.line), specific[0] if specific else None)
    if alert is None:
        return ""
    hint = _later_keyword(alert, version)
    if not hint and "did you mean" not in alert.text.lower():
        wrong, known = _unknown_word(alert) or _unknown_name(alert, origins) or ("", ())
        close = get_close_matches(wrong, [word for word in known if len(word) < 60], 1, 0.7) if wrong and wrong not in known else []
        hint = f'; did you mean "{close[0]}"?' if close else ""
    where = ""
    if alert.line:
        file = f" of {_cut(PurePath(alert.file).name, 40)}" if alert.file else ""
        section = f", in '{_cut(alert.section, 60)}'" if alert.section else ""
        where = f"line {alert.line}{file}{section}: "
    return where + _cut(_PLACE_PREFIX.sub("", alert.text).strip(" ."), LONGEST_SUMMARY - len(where) - len(hint)) + hint


def _cut(text: str, most: int) -> str:
    """Shorten a long text to `most` characters. The middle is removed, because the end quotes the wrong value."""
    if len(text) <= most:
        return text
    tail = min(80, most // 2)
    return f"{text[: most - tail - 5]} ... {text[-tail:]}"


def _later_keyword(alert: Message, version: str) -> str:
    """Return a hint if HAProxy rejects a keyword of a later version than `version`; otherwise an empty text."""
    quoted = _QUOTED.finditer(alert.text) if version else ()
    words = (found[1].split("(")[0] for found in quoted if _NOT_KNOWN.search(alert.text[: found.start()]))
    later = [(word, since) for word in words if (since := bundle()["x-later-words"].get(word)) and _numbers(since) > _numbers(version)]
    return f'; HAProxy {later[0][1]} knows "{later[0][0]}", and this one is {version}' if later else ""


def _numbers(version: str) -> tuple[int, ...]:
    """Return (major, minor) of a version such as 3.0.11."""
    return tuple(map(int, version.split(".")[:2]))


def _unknown_word(alert: Message) -> tuple[str, Collection[str]] | None:
    """Return (word that HAProxy rejects, words that HAProxy lists as accepted); None if the message has no such list."""
    accepts = _ACCEPTS.search(alert.text)
    said = _BEFORE.match(alert.text[: accepts.start()][::-1]) if accepts else None
    if accepts is None or said is None or not alert.source:
        return None
    words, before = list(map(unquoted, Line(alert.source).words)), said["words"][::-1].split()
    got = _GOT.search(accepts["list"])
    listed = accepts["list"][: got.start()] if got else accepts["list"]
    known = [match[1] for word in _QUOTED.findall(listed) if (match := _A_WORD.fullmatch(word))]
    behind = words[len(before) : len(before) + 1] if words[: len(before)] == before else []
    wrong = [got[1]] if got and got[1] in words else [] if got else behind
    return (wrong[0], known) if wrong and len(known) > 1 else None


def _unknown_name(alert: Message, origins: Mapping[str, Origin]) -> tuple[str, Collection[str]] | None:
    """Return (unknown name, names of the same kind in the files); None if the message is about no unknown name."""
    unknown = _UNKNOWN.search(alert.text)
    if unknown is None:
        return None
    kind, name = (unknown["kind"] or unknown["kind_"]).lower(), unknown["name"] or unknown["name_"]
    sections = [section for origin in origins.values() if origin.document for section in origin.document.sections]
    definitions = _name_definitions()
    if kinds := definitions["sections"].get(kind):
        names: Iterator[str] = (section.name for section in sections if section.kind in kinds)
    elif word := definitions["with_line"].get(kind):
        names = (section.name for section in sections if any(line.words[:1] == (word,) for line in section.lines))
    elif word := definitions["lines"].get(kind):
        if f"/{name}" in (alert.source or ""):
            # The name belongs to another section.
            return None
        alert_sections = [section for section in sections if section.header.text.strip() == alert.section]
        lines = (line.words for section in alert_sections for line in section.lines if line.words[:1] == (word,))
        names = (unquoted(words[1]) for words in lines if len(words) > 1)
    else:
        return None
    is_elsewhere = any(section.name == name for section in sections)
    return None if is_elsewhere else (name, list(islice(filter(None, dict.fromkeys(names)), _MOST_NAMES)))


@cache
def _name_definitions() -> dict[str, dict[str, Any]]:
    """Return, for each kind of name in HAProxy's messages, the sections or lines that define such names (names.toml)."""
    return tomllib.loads(files(__package__).joinpath("names.toml").read_text("utf-8"))


def _add_place(alert: Message, origins: Mapping[str, Origin]) -> Message:
    said = _OF_SECTION.match(alert.text)
    if said is None:
        return alert
    kinds = _PROXIES if said["kind"].lower() == "proxy" else {said["kind"].lower()}
    pairs, quoted = _PAIR.findall(said["rest"]), _QUOTED.findall(said["rest"])
    with_place = None
    for origin in origins.values():
        if origin.document is None:
            continue
        # The line number of the section's header.
        number = 1 + origin.document.preamble.count("\n")
        for section in origin.document.sections:
            number += section.lead.count("\n")
            if section.kind in kinds and section.name == said["name"]:
                for index, line in enumerate(section.lines[1:], 1):
                    if not _is_about(pairs, quoted, tuple(map(unquoted, line.words))):
                        continue
                    if with_place:
                        return alert
                    header, place = section.header.text.strip(), number + index - origin.shift
                    with_place = replace(alert, file=origin.file, line=place, section=header, source=line.text.strip())
            number += section.text.count("\n")
    return with_place or alert


def _is_about(pairs: Iterable[tuple[str, str]], quoted: Collection[str], words: Sequence[str]) -> bool:
    """Return whether a message is about the line that consists of `words`.

    This is the case if the message names two adjacent words of the line (`pairs`), quotes the first words of the line, or quotes the first
    word and a later word of the line.
    """
    for word, next_word in pairwise(words):
        for said, value in pairs:
            # HAProxy says "stick-table" for `table`, and "fcgi-app" for `use-fcgi-app`.
            is_same = word == said or said.endswith(f"-{word}") or ("-" in said and word.endswith(f"-{said}"))
            if is_same and next_word == value:
                return True
    if any(" " in phrase and list(words[: len(phrase.split())]) == phrase.split() for phrase in quoted):
        return True
    return bool(words) and words[0] in quoted and not set(words[1:]).isdisjoint(quoted)
