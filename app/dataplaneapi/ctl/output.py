"""The output of `dataplaneapi ctl`: text that is safe for a terminal, colours, tables, and a progress line.

Other people write names, comments and messages. These may contain terminal sequences that move the cursor, hide text or type for the user.
Everything that `ctl` prints is written by `Output`. On a terminal, `Output` escapes all control characters, including C1 and bidirectional
control characters. The sequences of `ctl` itself begin with ESCAPE, a random text that no stored value can contain.
"""

import os
import re
import sys
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Self, TextIO

from dataplaneapi.ctl.kinds import COLUMNS

# Becomes the escape character when `Output` writes it.
ESCAPE = f"\x1b{os.urandom(8).hex()}"
# Moves the cursor to the first column and erases the line.
CLEAR = f"{ESCAPE}[G{ESCAPE}[K"
_LONE = r"\ud800-\udfff"
_UNSAFE = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff{_LONE}]")
_UNWRITABLE = re.compile(rf"[{_LONE}]")
MOST_COLUMNS = 7
LONGEST_CELL = 60
GREEN, RED, YELLOW, BOLD = "32", "31", "33", "1"
# The colour of a cell that consists of one of these words.
COLOURS = {
    **dict.fromkeys(("up", "ready", "succeeded", "live", "confirmed"), GREEN),
    **dict.fromkeys(("down", "failed", "refused", "rolled back"), RED),
    **dict.fromkeys(("drain", "maint", "stopping", "pending", "running", "in progress", "scheduled"), YELLOW),
}
# What a table shows for these values of the members `outcome` and `status`.
WORDS = {"in_progress": "in progress", "returned": "rolled back", "taken_back": "rolled back", "written": "file only"}


class Output:
    """A text stream that writes `\\uXXXX` for each character that a terminal must not receive.

    A file receives every character that can be encoded.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._escaped = _UNSAFE if stream.isatty() else _UNWRITABLE

    def write(self, text: str) -> int:
        parts = (self._escaped.sub(lambda found: f"\\u{ord(found[0]):04x}", part) for part in text.split(ESCAPE))
        return self._stream.write("\x1b".join(parts))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colours(stream: TextIO) -> bool:
    """Return whether to use colours on a stream, as https://no-color.org defines it."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


class Progress:
    """A progress line on standard error, which is erased at the end. Shows nothing if standard error is not a terminal."""

    def __init__(self) -> None:
        self._is_shown = is_terminal(sys.stderr)

    def show(self, text: str) -> None:
        if self._is_shown:
            width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            sys.stderr.write(CLEAR + text[: width - 1])
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._is_shown:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


def height(stream: TextIO) -> int:
    """Return the number of lines of a terminal."""
    return os.get_terminal_size(stream.fileno()).lines or 24


def coloured(text: str, colour: str, *, colours: bool) -> str:
    return f"{ESCAPE}[{colour}m{text}{ESCAPE}[0m" if colours and colour else text


def cell(value: Any, longest: int = LONGEST_CELL) -> str:
    """Return a value as one line of at most `longest` characters. Return `-` for an empty value."""
    if value is None or value == "" or value == [] or value == {}:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        first = [cell(element, longest) for element in value[:2]]
        text = f"{first[0]} and {len(value) - 1} more" if len(value) > 2 else ", ".join(first)
    elif isinstance(value, dict):
        text = cell(value["algorithm"]) if "algorithm" in value else " ".join(f"{key}={cell(element)}" for key, element in value.items())
    else:
        text = " ".join(str(value).split())
    return text if len(text) <= longest else text[: longest - 3] + "..."


def word(value: str) -> str:
    """Return the word that tables show for `value`, an outcome or a status."""
    return WORDS.get(value, value)


def _of_member(name: str, value: Any) -> Any:
    """Return the value of the member `name` as tables show it."""
    return word(value) if name in ("outcome", "status") and isinstance(value, str) else value


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, longest: int = LONGEST_CELL, colours: bool = False) -> str:
    """Return a table with a title line. Each column is as wide as its widest cell. `longest`: how many characters a cell may have."""
    cells = [[cell(value, longest) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    titles = [
        coloured(name.upper().replace("_", " "), BOLD, colours=colours) + " " * (width - len(name))
        for name, width in zip(head, widths, strict=True)
    ]
    lines = ["  ".join(titles).rstrip()]
    for row in cells:
        padded = [
            coloured(text, COLOURS.get(text, ""), colours=colours) + " " * (width - len(text))
            for text, width in zip(row, widths, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines) + "\n"


def table_of_members(members: Sequence[str], objects: Iterable[dict[str, Any]], *, colours: bool = False) -> str:
    """Return a table of objects, with a column for each member in `members`."""
    return table(members, [[each.get(member) for member in members] for each in objects], colours=colours)


def objects_table(kind: str, objects: Sequence[Any], key: str = "name", *, colours: bool = False) -> str:
    """Return a table of objects of one kind. `key`: the member for the first column. If it is empty, the first column is the index."""
    if not objects:
        return ""
    if not all(isinstance(each, dict) for each in objects):
        return table([kind], [[each] for each in objects], colours=colours)
    members = dict.fromkeys(member for row in objects for member in row)
    if kind in COLUMNS:
        columns = [column for column in COLUMNS[kind].split() if column in members] or [*members][:MOST_COLUMNS]
    else:
        plain = [member for member in members if not any(isinstance(row.get(member), dict | list) for row in objects)]
        columns = [*([key] if key in members else []), *(member for member in plain if member != key)][:MOST_COLUMNS]
    rows = [[_of_member(column, row.get(column)) for column in columns] for row in objects]
    if key:
        return table(columns, rows, colours=colours)
    return table(["index", *columns], [[index, *row] for index, row in enumerate(rows)], colours=colours)


def object_text(value: Any, *, colours: bool = False) -> str:
    """Return the members of an object as text, one per line. Nested maps and lists are indented below their name."""
    if not isinstance(value, dict):
        return f"{cell(value)}\n"
    width = max((len(name) for name, member in value.items() if not _is_nested(member)), default=0)
    lines = []
    for name, member in value.items():
        title = coloured(name, BOLD, colours=colours)
        if _is_nested(member):
            lines.append(title)
            for below, element in member.items() if isinstance(member, dict) else enumerate(member):
                if isinstance(element, dict):
                    text = " ".join(f"{key}={cell(_of_member(key, each))}" for key, each in element.items())
                else:
                    text = cell(element)
                lines.append(f"  {below}  {text}")
            continue
        member = _of_member(name, member)
        if isinstance(member, str) and member:
            text = ("\n" + " " * (width + 2)).join(member.rstrip("\n").split("\n"))
        elif isinstance(member, list) and member:
            text = ", ".join(map(cell, member))
        else:
            text = cell(member)
        lines.append(f"{title}{' ' * (width - len(name))}  {text}")
    return "".join(f"{line}\n" for line in lines)


def _is_nested(value: Any) -> bool:
    return bool(value) and (
        (isinstance(value, dict) and any(isinstance(element, dict) for element in value.values()))
        or (isinstance(value, list) and any(isinstance(element, dict) for element in value))
    )


def plan_text(plan: dict[str, Any], *, colours: bool = False) -> str:
    """Return the difference and the effects of a planned change."""
    lines = plan.get("diff", "").splitlines() + effect_lines(plan)
    for file in plan.get("files", ()):
        lines += file.get("diff", f"~ {file['store']}/{file['name']}").splitlines()
        lines += [line for line in effect_lines(file) if line not in lines]
    return difference_text(lines or ["nothing would change"], colours=colours)


def difference_text(lines: Iterable[str], *, colours: bool) -> str:
    """Return the lines of a difference as text. Lines that begin with a plus or a minus are coloured."""
    shades = {"+": GREEN, "-": RED}
    return "".join(f"{coloured(line, shades.get(line[:1], ''), colours=colours)}\n" for line in lines)


def reason_line(reason: dict[str, Any]) -> str:
    """Return a reason for a reload as one line: keyword, reason, position in the configuration, and a hint how to avoid the reload."""
    keyword = f"{reason['keyword']}: " if reason.get("keyword") else ""
    line = f"line {reason['line']}" if reason.get("line") else ""
    position = ", ".join(filter(None, (reason.get("file"), reason.get("section"), line)))
    remedy = f"; to avoid it: {reason['remedy']}" if reason.get("remedy") else ""
    return f"{keyword}{reason['reason']}" + (f" ({position})" if position else "") + remedy


def effect_lines(plan: dict[str, Any]) -> list[str]:
    """Return a line for each runtime command of a planned change, for each reason of its reload, and for each warning of HAProxy."""
    lines = [f"live: {command}" for command in plan.get("commands", ())]
    lines += [f"reload: {reason_line(reason)}" for reason in plan.get("reasons", ())] if plan["reload"] else []
    return [*lines, *(f"haproxy: {each['text']}" for each in plan.get("messages", ()) if each["severity"] != "notice")]
