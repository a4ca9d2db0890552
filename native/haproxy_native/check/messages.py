"""Parses HAProxy's messages about a configuration: level, text, line and section.

`recorded` composes the protocol text of a refusal; `explained` adds below it the lines meant, for people.
"""

import bisect
import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from haproxy_native.text.document import Document

_SAID = re.compile(r"^\[(ALERT|WARNING|NOTICE|DIAG)\]\s*(?:\S*\s*\(\d+\))?\s*:\s*(.*)$")
_PLACE = re.compile(r"(?:\[|\bat )([^\[\]\s]+):(\d+)\b")
# What only looks like a place: a word of the configuration, and the address of a listener.
_NO_PLACE = re.compile(r"'[^' ]*'|\[(?:[\d.]+|\*|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*):\d+\]")
# HAProxy before 2.4 puts the place first.
_OLD_PLACE = re.compile(r"parsing \[[^:]*:(\d+)?")
_DROPPED_END, _DROPPED = "fatal errors found in configuration.", "error(s) found in configuration file : "
_LONGEST, _MOST = 2000, 200


@dataclass(frozen=True)
class Message:
    """`line` counts from 1 in `file`; `section` is the header line that it stands under, `source` the line itself."""

    level: str
    text: str
    file: str | None = None
    line: int | None = None
    section: str | None = None
    source: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


class Origin(NamedTuple):
    """What a checked file stands for: `file`, its content, and how many lines more it has than the text that was sent."""

    file: str
    document: Document | None = None
    shift: int = 0


def as_sent(text: str, checked: Mapping[str, Origin]) -> str:
    """HAProxy's words with the names and line numbers of what was sent."""
    for path, origin in checked.items():
        if path != origin.file or origin.shift:
            text = re.sub(re.escape(path) + r"(?::([0-9]+)\b)?", functools.partial(_as_sent, origin), text)
    return text


def _as_sent(origin: Origin, match: re.Match[str]) -> str:
    return origin.file + (f":{max(1, int(match[1]) - origin.shift)}" if match[1] else "")


def messages(stderr: str, checked: Mapping[str, Origin]) -> list[Message]:
    """The first 200 messages in their order, alerts before all others where there are more.

    A message about a file that was `checked` gets the name of the file it stands for, and the sender's line.
    """
    matches = [match for line in stderr.splitlines() if (match := _SAID.match(line))]
    places = {path: Places(origin.document) for path, origin in checked.items() if origin.document}
    return [_message(match[1].lower(), _short(match[2]), checked, places) for match in _first(matches)]


def _first(matches: Sequence[re.Match[str]]) -> Iterator[re.Match[str]]:
    alerts = sum(match[1] == "ALERT" for match in matches)
    room = {True: _MOST, False: max(0, _MOST - alerts)}
    for match in matches:
        is_alert = match[1] == "ALERT"
        if room[is_alert]:
            room[is_alert] -= 1
            yield match


def _message(level: str, text: str, checked: Mapping[str, Origin], places: Mapping[str, "Places"]) -> Message:
    place, text = _PLACE.search(_NO_PLACE.sub("''", text)), as_sent(text, checked)
    if not place:
        return Message(level, text)
    number = int(place[2])
    origin = checked.get(place[1], Origin(place[1]))
    section, source = places[place[1]].locate(number) if place[1] in places else (None, None)
    return Message(level, text, origin.file, max(1, number - origin.shift), section, source)


class Places:
    """The lines of a document by their numbers; the document is gone through once, when the first is asked for."""

    def __init__(self, document: Document) -> None:
        self._document = document

    @functools.cached_property
    def _starts(self) -> list[int]:
        """The number of the line that each section's lead begins with."""
        sizes = (section.lead.count("\n") + section.text.count("\n") for section in self._document.sections)
        return list(itertools.accumulate(sizes, initial=1 + self._document.preamble.count("\n")))

    def locate(self, number: int) -> tuple[str | None, str | None]:
        """(section header, line) of a line counted from 1; None for what does not exist."""
        sections = self._document.sections
        index = min(bisect.bisect_right(self._starts, number), len(sections)) - 1
        if index < 0:
            return None, None
        section = sections[index]
        place = number - self._starts[index] - section.lead.count("\n")
        source = section.lines[place].text.strip() if 0 <= place < len(section.lines) else None
        return section.header.text.strip(), source


def locate(document: Document, number: int) -> tuple[str | None, str | None]:
    """(section header, line) of one line; of many, ask one `Places`."""
    return Places(document).locate(number)


def recorded(stderr: str) -> str:
    """The alerts as the protocol has them: one `msg="..."` each."""
    alerts = [line for line in stderr.splitlines() if line.startswith("[ALERT]")]
    remaining = [line for line in alerts if not line.endswith(_DROPPED_END) and _DROPPED not in line]
    more = [f'msg="and {len(remaining) - _MOST} more"'] if len(remaining) > _MOST else []
    return "\n".join([text for line in remaining[:_MOST] if (text := _recorded(line))] + more)


def _recorded(line: str) -> str:
    _, *parts = [part.strip() for part in line.split(" : ")]
    if not parts:
        return ""
    old = _OLD_PLACE.match(parts[0]) if len(parts) > 1 else None
    if old:
        message = f'msg="{_short(" ".join(parts[1:]).strip())}"'
        return f"line={old[1]} {message}" if old[1] else message
    return f'msg="{_short(" ".join(parts).strip())}"'


def explained(alerts: Sequence[Message]) -> str:
    """The lines that the first alerts are about, each one once."""
    lines = dict.fromkeys(_explained(alert) for alert in alerts if alert.source)
    return "".join(f"\n{line}" for line in list(lines)[:5])


def _explained(alert: Message) -> str:
    return f"line {alert.line} in '{alert.section}': {_short(alert.source or '')}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
