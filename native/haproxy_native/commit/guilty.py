"""After a failed reload: which changes brought the lines that HAProxy names, and the configuration without them. Pure."""

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from haproxy_native.changes.rebasing import reverted
from haproxy_native.check.messages import Places, messages
from haproxy_native.commit.change import Published
from haproxy_native.text import parts
from haproxy_native.text.document import Document


class Place(NamedTuple):
    """A line of a configuration: the header of its section, and the line itself."""

    section: str | None
    line: str


def named(output: str, loaded: Document, file: str) -> set[Place]:
    """The lines that HAProxy's alerts name. `file`: the name of the main file, without its directory."""
    alerts = [message for message in messages(output, {}) if message.level == "alert" and message.file and message.line]
    places = {PurePath(name or file).name: Places(part) for name, part in parts.parts(loaded).items()} if alerts else {}
    places_ = set[Place]()
    for alert in alerts:
        if (part := places.get(PurePath(alert.file or "").name)) and alert.line:
            section, line = part.locate(alert.line)
            if line:
                places_.add(Place(section, line))
    return places_


def guilty(changes: Sequence[Published], lines: set[Place]) -> list[Published]:
    """Returns, in order, the last change that brought each line; none for a line that was there before."""
    going_back, open_ones = list[Published](), set(lines)
    for change in reversed(changes):
        if brought := open_ones & _brought(change):
            going_back.insert(0, change)
            open_ones -= brought
    return going_back


def without_all(now: Document, changes: Sequence[Published]) -> Document:
    """The configuration without these changes. Raises Conflict where a later one has changed the same."""
    for change in reversed(changes):
        now = reverted(now, change.before, change.after)
    return now


def _brought(change: Published) -> set[Place]:
    return set(_lines(change.after, change.before)) - set(_lines(change.before, change.after))


def _lines(document: Document, other: Document) -> Iterator[Place]:
    """Yields the lines of the sections that the other document does not have."""
    shared = set(map(id, other.sections))
    for section in document.sections:
        if id(section) not in shared:
            header = section.header.text.strip()
            yield from (Place(header, line.text.strip()) for line in section.lines)
