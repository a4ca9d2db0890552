"""Parses HAProxy's answers to typed values.

HAProxy words refusals and successes alike, so a change's answer is judged against the few texts that mean success
(HAProxy Management Guide, section 9.3; measured on 2.6, 2.8, 3.0 and 3.2).
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# What a worker that is stopping answers to any change of a server (2.6 to 3.4), and every worker where the text says `disabled`.
PROXY_STOPPED = "Proxy is disabled."
# How an answer to a command begins that this HAProxy does not have; the list of all commands follows.
UNKNOWN = "Unknown command"
_VERSION = re.compile(r"(\d+)\.(\d+)")
_DONE = re.compile(
    r"Server deleted\.|Done\.|nothing changed"
    r"|server ssl setting updated\.|\S+ changed its FQDN from |no need to change the F[DQ]+N"
)
# An answer may begin with older messages, such as that a server went down.
_LAST_DONE = re.compile(r"Server deleted\.|New backend registered\b|Backend (?:un)?published\.|Backend deleted\.")
# HAProxy 2.8 warns of words that it ignores, and adds the server.
_ADDED = re.compile(r"^New server registered\.$", re.MULTILINE)
_MOVED = re.compile(r"IP changed from |port changed from |no need to change the (?:addr|port)")
# What `set server ... addr` puts beside a change it only half did.
_HALF_DONE = re.compile(r"(?i)invalid|can't|cannot|problem|incompatible|not supported|only supported")


def refusal(answer: str) -> str | None:
    """HAProxy's own words where a change was refused; None where it was carried out."""
    text = answer.strip()
    if not text or _DONE.match(text) or _LAST_DONE.match(text.splitlines()[-1]) or _ADDED.search(text):
        return None
    if _MOVED.match(text) and not _HALF_DONE.search(text):
        return None
    return first_words(text)


def first_words(text: str) -> str:
    """A refusal without the list of all commands that an unknown one is answered with."""
    return text.splitlines()[0] if text.startswith(UNKNOWN) else text.strip()


def version(text: str) -> tuple[int, int]:
    """(major, minor) of `2.6.12-1+deb12u4`, `3.4-dev6-1a2b3c`; (0, 0) where there is none."""
    match = _VERSION.search(text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def info(text: str) -> dict[str, str]:
    """`show info`, by the names HAProxy prints."""
    pairs = (line.partition(": ") for line in text.splitlines())
    return {name: value.strip() for name, sign, value in pairs if sign}


def command_words(text: str) -> frozenset[str]:
    """The commands `help` lists, without their arguments: `add server`, `wait`."""
    heads = (re.split(r"\s+[<\[{(:@#]|\s{2,}", line.strip(), maxsplit=1)[0] for line in text.splitlines() if line.startswith("  "))
    return frozenset(head for head in heads if head)


@dataclass(frozen=True)
class Process:
    """A row of `show proc`; `reloads` is the master's count, or how many a worker has outlived."""

    pid: int
    kind: str
    reloads: int
    failed: int
    version: str


@dataclass(frozen=True)
class Processes:
    """`workers` is empty after a failed reload since 3.1: the one that still serves is the youngest of `old_workers`."""

    master: Process | None
    workers: tuple[Process, ...]
    old_workers: tuple[Process, ...]

    @property
    def pids(self) -> frozenset[int]:
        return frozenset(process.pid for process in (*self.workers, *self.old_workers))


_PROCESS = re.compile(r"(?P<pid>\d+)\s+(?P<kind>master|worker)\s+(?:\[relative.*?\]\s+|\d+\s+(?=\d+\s))?(?P<rest>.*)")
_RELOADS = re.compile(r"(\d+)(?:\s+\[failed: (\d+)\])?")


def processes(text: str) -> Processes:
    """`show proc`; programs are left out."""
    groups: dict[str, list[Process]] = {}
    group = ""
    for line in text.splitlines():
        if line.startswith("# "):
            group = line[2:].strip()
        elif process := _process(line):
            groups.setdefault("master" if process.kind == "master" else group, []).append(process)
    master = groups.get("master", [])
    return Processes(master[0] if master else None, tuple(groups.get("workers", ())), tuple(groups.get("old workers", ())))


def _process(line: str) -> Process | None:
    match = _PROCESS.match(line)
    count = _RELOADS.match(match["rest"]) if match else None
    if not match or not count:
        return None
    return Process(int(match["pid"]), match["kind"], int(count[1]), int(count[2] or 0), match["rest"].split()[-1])


def table(text: str) -> Iterator[dict[str, str]]:
    """Rows of an answer whose first line names the columns behind `# `, comma-separated (`show stat`)."""
    places, rows = cells(text)
    return (dict(zip(places, row, strict=False)) for row in rows)


def row_cells(line: str) -> list[str]:
    """HAProxy quotes a cell that holds a comma or a quote."""
    return next(csv.reader([line])) if '"' in line else line.split(",")


def cells(text: str) -> tuple[Mapping[str, int], Iterator[list[str]]]:
    """Returns each column's index, and the cells of each row; an incomplete row is left out."""
    rows = (row_cells(line) for line in text.splitlines() if line)
    names = [name.removeprefix("# ") for name in next(rows, [])]
    places = {name: place for place, name in enumerate(names) if name}
    return places, (row for row in rows if len(row) >= len(places))
