"""What a plan says: commands, or the reasons for a reload."""

from dataclasses import dataclass, field

from native.runtime.commands import Command


@dataclass(frozen=True)
class Reason:
    """Why only a reload will do. `line` is that of the new document, from 1; 0 where there is none."""

    section: str
    line: int
    keyword: str
    why: str


@dataclass
class Plan:
    """No reasons: the commands do it (none: nothing is to be done)."""

    commands: list[Command] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)

    @property
    def is_live(self) -> bool:
        return not self.reasons
