"""Define the values that describe a plan: its commands or steps, or its reasons for a reload, each with a line of the configuration."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from haproxy_native.planning.observed import ServerDifference
from haproxy_native.runtime.commands import Command, Step
from haproxy_native.text.document import Document
from haproxy_native.text.parts import first_lines
from haproxy_native.text.section import BOUNDARY, Section


@dataclass(frozen=True)
class Reason:
    """Why a change needs a reload."""

    why: str
    # Keyword and name of the section in the new document; empty if the reason concerns none.
    section: str = ""
    # The line in its file, from 1; 0 without a line.
    line: int = 0
    keyword: str = ""
    # Empty for the main file.
    file: str = ""
    # An edit of the configuration after which changes like this need no reload; empty if there is none.
    remedy: str = ""

    def __str__(self) -> str:
        location = ", ".join(part for part in (self.file, self.section, f"line {self.line}" if self.line else "") if part)
        return f"{self.keyword}: " * bool(self.keyword) + self.why + f" ({location})" * bool(location)


@dataclass
class Plan:
    """The plan for a change of the configuration. If it has reasons, HAProxy must reload; otherwise its commands apply the change."""

    commands: list[Command] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)
    # The line of each command, by its text.
    places: dict[str, tuple[Section, int]] = field(default_factory=dict)
    # Values that others have set in the process, and that the commands reset although the document does not change them.
    corrected: list[ServerDifference] = field(default_factory=list)
    # The configuration that the worker runs after the commands, if other changes in the file still wait for a reload. None if the worker
    # then runs the whole file.
    target: Document | None = None

    @property
    def is_live(self) -> bool:
        return not self.reasons

    @property
    def texts(self) -> list[str]:
        """Return the commands as texts, in the order in which they are sent."""
        return [command.text for command in self.commands]


@dataclass
class SectionPlan:
    """The part of a plan that concerns one section. Lines are given by their index in the section."""

    commands: list[Command] = field(default_factory=list)
    # Commands to send after the commands of all sections.
    published: list[Command] = field(default_factory=list)
    # The line of each command, by its text.
    places: dict[str, int] = field(default_factory=dict)
    # Why it needs a reload: (line, reason).
    reasons: list[tuple[int, str]] = field(default_factory=list)
    # An edit of the configuration after which changes like this need no reload; empty if there is none.
    remedy: str = ""

    def because(self, place: int, why: str, remedy: str = "") -> "SectionPlan":
        self.reasons.append((place, why))
        self.remedy = self.remedy or remedy
        return self

    def send(self, place: int, commands: Sequence[Command]) -> None:
        self.commands += commands
        self.places.update({command.text: place for command in commands})


@dataclass(frozen=True)
class FilePlan:
    """The plan for a stored file. If it has reasons, HAProxy must reload; otherwise its steps apply the change."""

    steps: Sequence[Step] = ()
    reasons: Sequence[Reason] = ()
    # Whether the worker has loaded the file.
    used: bool = False
    # Whether a configuration that is not loaded yet refers to the file.
    awaited: bool = False
    # Steps that check whether the worker already has the content, if the plan has no other steps.
    seen: Sequence[Step] = ()


def reason_at(document: Document, section: Section, place: int, why: str, remedy: str = "") -> Reason:
    """Return a reason for a reload that refers to the line with the index `place` in a section."""
    words = section.lines[place].args if section.kind != BOUNDARY else ()
    title = f"{section.kind} {section.name}".rstrip() if section.kind != BOUNDARY else ""
    return Reason(why, title, line_of(document, section, place), words[0] if words else "", section.file or "", remedy)


def line_of(document: Document, section: Section, place: int) -> int:
    """Return the number, from 1 in its file, of the line with the index `place` in a section; 0 if the document lacks the section."""
    index = document.place(section)
    return first_lines(document)[index] + place if index < len(document.sections) else 0
