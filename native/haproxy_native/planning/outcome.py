"""Plans as values: commands or steps, or the reasons for a reload."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from haproxy_native.planning.observed import Unlike
from haproxy_native.runtime.commands import Command, Step
from haproxy_native.text.document import Document
from haproxy_native.text.parts import first_lines
from haproxy_native.text.section import BOUNDARY, Section


@dataclass(frozen=True)
class Reason:
    """Why only a reload will do. `line` is that of the new document, from 1; 0 where there is none. `file` where it is not the main one.

    `remedy`: an edit after which changes like this take no reload, where there is one.
    """

    section: str
    line: int
    keyword: str
    why: str
    file: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.file, self.section, f"line {self.line}" if self.line else "") if part)
        return f"{self.keyword}: " * bool(self.keyword) + self.why + f" ({place})" * bool(place)


@dataclass
class Plan:
    """No reasons: the commands do it (none: nothing is to be done). `places`: which line a command's text comes from.

    `corrected`: what others have set in the process and this sets back, though no line changes.
    """

    commands: list[Command] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)
    places: dict[str, tuple[Section, int]] = field(default_factory=dict)
    corrected: list[Unlike] = field(default_factory=list)

    @property
    def is_live(self) -> bool:
        return not self.reasons

    @property
    def texts(self) -> list[str]:
        """Its commands as they are sent."""
        return [command.text for command in self.commands]


@dataclass(frozen=True)
class FilePlan:
    """How the worker gets to know what a stored file holds: by `steps`, or for these `reasons` by a reload.

    `used`: the worker has read it. `awaited`: a configuration that is not loaded yet refers to it. `seen` only looks: whether the
    worker has it already, for a change that is not sent to it.
    """

    steps: Sequence[Step] = ()
    reasons: Sequence[Reason] = ()
    used: bool = False
    awaited: bool = False
    seen: Sequence[Step] = ()


def reason_at(document: Document, section: Section, place: int, why: str, remedy: str = "") -> Reason:
    """Returns the reason with the number of the line in its file."""
    words = section.lines[place].args if section.kind != BOUNDARY else ()
    title = f"{section.kind} {section.name}".rstrip() if section.kind != BOUNDARY else ""
    return Reason(title, line_of(document, section, place), words[0] if words else "", why, section.file or "", remedy)


def line_of(document: Document, section: Section, place: int) -> int:
    """The number of a section's line in its file, from 1; 0 where the section is gone."""
    there = document.place(section)
    return first_lines(document)[there] + place if there < len(document.sections) else 0
