"""What a check finds, and a finding as it is shown."""

from collections.abc import Sequence
from dataclasses import dataclass

from haproxy_native.features.lint.view import Statement


@dataclass(frozen=True)
class Found:
    """A finding at a statement, or at a line of another file: its path and number, from 1. `at` is None for a file that no line names.

    `what` describes it. `also`: places of other sections that it names. `line`: a replacement of the line.
    """

    at: Statement | None
    what: str
    also: Sequence[int] = ()
    line: str = ""
    path: str = ""
    number: int = 0


@dataclass(frozen=True)
class Finding:
    """`line` counts from 1; `new_line` is what may stand there. `object`: what the line is of; `others`: what else the finding names."""

    id: str
    severity: str
    file: str
    line: int
    section: str
    text: str
    what: str
    reason: str
    mend: str
    object: str
    new_line: str = ""
    others: Sequence[str] = ()
