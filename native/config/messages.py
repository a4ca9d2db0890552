"""What HAProxy says about a configuration, taken apart: level, text, and the line and section it is about.

`recorded` composes the protocol text of a refusal; `explained` adds below it the lines meant, for people.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from native.text.document import Document

_SAID = re.compile(r"^\[(ALERT|WARNING|NOTICE|DIAG)\]\s*(?:\S*\s*\(\d+\))?\s*:\s*(.*)$")
_PLACE = re.compile(r"(?:\[|\bat )([^\[\]\s]+):(\d+)\b")
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


def messages(stderr: str, checked: Mapping[str, tuple[str, Document | None]]) -> list[Message]:
    """All that was said; what is about a file that was `checked` is told with the name it stands for, and its document's line."""
    found = []
    for line in stderr.splitlines():
        if said := _SAID.match(line):
            found.append(_message(said[1].lower(), _short(said[2]), checked))
    return found[:_MOST]


def _message(level: str, text: str, checked: Mapping[str, tuple[str, Document | None]]) -> Message:
    place = _PLACE.search(text)
    for path, (file, _) in checked.items():
        text = text.replace(path, file)
    if not place:
        return Message(level, text)
    number = int(place[2])
    file, document = checked.get(place[1], (place[1], None))
    section, source = locate(document, number) if document else (None, None)
    return Message(level, text, file, number, section, source)


def locate(document: Document, number: int) -> tuple[str | None, str | None]:
    """(section header, line) of a line counted from 1; None for what does not exist."""
    number -= 1 + document.preamble.count("\n")
    if number < 0:
        return None, None
    for section in document.sections:
        above, inside = section.lead.count("\n"), section.text.count("\n")
        if number < above + inside or section is document.sections[-1]:
            place = number - above
            source = section.lines[place].text.strip() if 0 <= place < len(section.lines) else None
            return section.header.text.strip(), source
        number -= above + inside
    return None, None


def recorded(stderr: str) -> str:
    """The alerts as the protocol has them: one `msg="..."` each."""
    alerts = [line for line in stderr.splitlines() if line.startswith("[ALERT]")]
    kept = [line for line in alerts if not line.endswith(_DROPPED_END) and _DROPPED not in line]
    more = [f'msg="and {len(kept) - _MOST} more"'] if len(kept) > _MOST else []
    return "\n".join([text for line in kept[:_MOST] if (text := _recorded(line))] + more)


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
