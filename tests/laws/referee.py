"""Let HAProxy check lines: many cases in one file. The line numbers of its alerts tell which cases it refuses.

The configuration and the files that samples name are in a temporary directory.
"""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

_PLACE = re.compile(r"\[case\.cfg:(\d+)\]")
_NAME = re.compile(r"\b(case\d+)\b")
DISTURBED = re.compile(r"already|previously|duplicate|without a word|default-server|only be used in http|non-HTTP mode|MUX protocol")
_NOT_ITS_FAULT = re.compile(r"too many fatal errors|Error\(s\) found in configuration|Fatal errors found")
# How many cases are checked in one file. HAProxy stops at the first wrong rule, and must check the other cases again.
TOGETHER = 400


@dataclass(frozen=True)
class Case:
    """A line with the section around it. `kind` is the name of its declaration."""

    kind: str
    line: str
    before: tuple[str, ...]
    after: tuple[str, ...] = ()

    def text(self, name: str) -> list[str]:
        return [line.replace("@", name, 1) if at == 0 else line for at, line in enumerate([*self.before, "    " + self.line, *self.after])]


@dataclass
class Referee:
    """Asks one binary in one directory.

    A line with one of the words in `alone` is checked in a file of its own. HAProxy names no line when such a line fails
    or disturbs others, and only halving the file again and again would find it.
    """

    binary: str
    directory: Path
    # The text before all cases.
    shared: str
    alone: Sequence[str] = ()
    asked: int = field(default=0, init=False)

    def refused(self, cases: Sequence[Case]) -> dict[Case, str]:
        """Return the cases that HAProxy refuses, with its messages. Cases that another case may have disturbed are checked again alone."""
        found = self.refused_together(cases)
        for case in [case for case, words in found.items() if DISTURBED.search(words)]:
            alone = self._ask([case])
            if alone is None:
                del found[case]
            else:
                found[case] = alone.get(case, found[case])
        return found

    def refused_together(self, cases: Sequence[Case]) -> dict[Case, str]:
        """Return the cases that HAProxy refuses in a file with others, with its messages. Some of them may only be disturbed by others."""
        single = [case for case in cases if not set(self.alone).isdisjoint(case.line.split())]
        rest = [case for case in cases if case not in single]
        found: dict[Case, str] = {}
        for start in range(0, len(rest), TOGETHER):
            found |= self._refused_in_one_file(rest[start : start + TOGETHER])
        for case in single:
            found |= self._refused_in_one_file([case])
        return found

    def _refused_in_one_file(self, cases: Sequence[Case]) -> dict[Case, str]:
        found: dict[Case, str] = {}
        left = list(cases)
        while left:
            blamed = self._ask(left)
            if blamed is None:
                break
            if not blamed and len(left) > 1:
                half = len(left) // 2
                return found | self._refused_in_one_file(left[:half]) | self._refused_in_one_file(left[half:])
            found |= blamed or {left[0]: "refused without a word"}
            left = [case for case in left if case not in found]
        return found

    def _ask(self, cases: Sequence[Case]) -> dict[Case, str] | None:
        """Check cases in one file. Return None if HAProxy accepts all; otherwise, the cases that its alerts name."""
        lines, owner = self.shared.splitlines(), {}
        for number, case in enumerate(cases):
            for line in case.text(f"case{number}"):
                lines.append(line)
                owner[len(lines)] = case
        (self.directory / "case.cfg").write_text("\n".join(lines) + "\n")
        ran = subprocess.run(
            [self.binary, "-c", "-f", "case.cfg"], cwd=self.directory, capture_output=True, text=True, errors="replace", check=False
        )
        self.asked += 1
        if ran.returncode == 0:
            return None
        blamed: dict[Case, str] = {}
        for alert in re.findall(r"\[ALERT\]((?:.|\n(?!\[))*)", ran.stderr):
            place, name = _PLACE.search(alert), _NAME.search(alert)
            case = owner.get(int(place[1])) if place else cases[int(name[1][4:])] if name and int(name[1][4:]) < len(cases) else None
            if case is not None and not _NOT_ITS_FAULT.search(alert):
                blamed.setdefault(case, " ".join(alert.split()))
        return blamed


def furnish(directory: Path, files: dict[str, str]) -> None:
    """Write the files that samples name. `<certificate>` stands for a certificate with its key and a revocation list."""
    certificate = Path(__file__).with_name("sample.pem").read_text()
    for name, text in files.items():
        (directory / name).write_text(text.replace("<certificate>", certificate))
