"""Tables and lists as text: columns as wide as what stands in them, colours only where they are asked for."""

from collections.abc import Iterable, Sequence
from typing import Any

from dataplaneapi.ctl.kinds import COLUMNS
from dataplaneapi.ctl.terminal import ESCAPE

MOST_COLUMNS = 7
LONGEST_CELL = 60
GREEN, RED, YELLOW, BOLD = "32", "31", "33", "1"
# Words that have a colour wherever they stand in a table.
COLOURS = {
    **dict.fromkeys(("up", "ready", "succeeded", "live", "confirmed"), GREEN),
    **dict.fromkeys(("down", "failed", "refused", "returned"), RED),
    **dict.fromkeys(("drain", "maint", "stopping", "pending", "running", "in_progress", "scheduled"), YELLOW),
}


def coloured(text: str, colour: str, *, colours: bool) -> str:
    return f"{ESCAPE}[{colour}m{text}{ESCAPE}[0m" if colours and colour else text


def cell(value: Any) -> str:
    """A value in one line."""
    if value is None or value == "" or value == [] or value == {}:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        text = f"{cell(value[0])} and {len(value) - 1} more" if len(value) > 2 else ", ".join(map(cell, value))
    elif isinstance(value, dict):
        text = cell(value["algorithm"]) if "algorithm" in value else " ".join(f"{key}={cell(element)}" for key, element in value.items())
    else:
        text = " ".join(str(value).split())
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 3] + "..."


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, colours: bool = False) -> str:
    """Numbers stand at the right."""
    shown = [[cell(value) for value in row] for row in rows]
    widths = [max(len(row[place]) for row in ([name.upper() for name in head], *shown)) for place in range(len(head))]
    titles = [
        coloured(name.upper().replace("_", " "), BOLD, colours=colours) + " " * (width - len(name))
        for name, width in zip(head, widths, strict=True)
    ]
    lines = ["  ".join(titles).rstrip()]
    for row in shown:
        parts = [_padded(text, width, colours=colours) for text, width in zip(row, widths, strict=True)]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines) + "\n"


def _padded(text: str, width: int, *, colours: bool) -> str:
    return coloured(text, COLOURS.get(text, ""), colours=colours) + " " * (width - len(text))


def of_objects(kind: str, found: Sequence[Any], key: str = "name", *, colours: bool = False) -> str:
    """A table of objects of one kind; without a `key` the place of each is its first column."""
    if not found:
        return ""
    if not all(isinstance(element, dict) for element in found):
        return table([kind], [[element] for element in found], colours=colours)
    columns = _columns(kind, found, key)
    head = [*([] if key else ["index"]), *columns]
    return table(
        head, [[*([] if key else [place]), *(row.get(column) for column in columns)] for place, row in enumerate(found)], colours=colours
    )


def _columns(kind: str, found: Sequence[dict[str, Any]], key: str) -> list[str]:
    members = dict.fromkeys(member for row in found for member in row)
    if wanted := COLUMNS.get(kind):
        return [column for column in wanted.split() if column in members] or [*members][:MOST_COLUMNS]
    plain = [member for member in members if not any(isinstance(row.get(member), dict | list) for row in found)]
    return [*([key] if key in members else []), *(member for member in plain if member != key)][:MOST_COLUMNS]


def of_one(found: Any, *, colours: bool = False) -> str:
    """The members of an object, one a line; maps and lists in it below, indented."""
    if not isinstance(found, dict):
        return f"{cell(found)}\n"
    return "".join(_members(found, "", colours=colours))


def _members(found: dict[str, Any], indent: str, *, colours: bool) -> Iterable[str]:
    width = max((len(key) for key, value in found.items() if not _is_nested(value)), default=0)
    for key, value in found.items():
        title = coloured(key, BOLD, colours=colours)
        if _is_nested(value):
            yield f"{indent}{title}\n"
            for name, element in value.items() if isinstance(value, dict) else enumerate(value):
                yield from _nested(name, element, indent + "  ", colours=colours)
        else:
            yield f"{indent}{title}{' ' * (width - len(key))}  {_whole(value, indent + ' ' * (width + 2))}\n"


def _nested(name: Any, value: Any, indent: str, *, colours: bool) -> Iterable[str]:
    if isinstance(value, dict):
        yield f"{indent}{name}  {' '.join(f'{key}={cell(element)}' for key, element in value.items())}\n"
    else:
        yield f"{indent}{name}  {cell(value)}\n"


def _is_nested(value: Any) -> bool:
    return bool(value) and (
        (isinstance(value, dict) and any(isinstance(element, dict) for element in value.values()))
        or (isinstance(value, list) and any(isinstance(element, dict) for element in value))
    )


def _whole(value: Any, indent: str) -> str:
    if isinstance(value, str) and "\n" in value:
        return ("\n" + indent).join(value.rstrip("\n").split("\n"))
    return ", ".join(map(cell, value)) if isinstance(value, list) and value else cell(value)
