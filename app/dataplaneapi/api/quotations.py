"""What of a refusal a caller may see: HAProxy quotes lines of sections, and of any file that a configuration names."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from haproxy_native.check.messages import Message
from haproxy_native.editing.editor import standard_editor
from haproxy_native.errors import InUse, NativeError, Refused, ReloadFailed
from haproxy_native.planning.effects import section_object
from haproxy_native.planning.expressions import has_new

HIDDEN = "HAProxy refuses it for what stands in sections that you may not read"
_PLACE = re.compile(r"\[([^\[\]\s]+):\d+\]")
_OF_FILE = re.compile(r"'(?= [^']* at line \d+ of file ')")
_QUOTED = re.compile(r"'.*'")
_ONE_QUOTED = re.compile(r"'([^']*)'")
_PLACED = re.compile(rf"{_PLACE.pattern}|^line \d+ of ")


def without_others(error: NativeError, may_read: Callable[[str], bool]) -> NativeError:
    """A refusal without what stands in sections that may not be read."""
    if isinstance(error, ReloadFailed):
        return ReloadFailed("Reload failed: what HAProxy said is for those who may read everything")
    if isinstance(error, InUse):
        return InUse(error.detail.partition(" at line ")[0])
    if not isinstance(error, Refused) or not error.alerts:
        return error
    own = [each for each in error.alerts if isinstance(each, Message) and each.section and may_read(_object(each.section))]
    return Refused("\n".join(_lines(own)) or HIDDEN, place=error.place, alerts=own)


def _object(header: str) -> str:
    kind, *names = header.split()
    return section_object(standard_editor(), kind, names[0] if names else "")


def _lines(alerts: Collection[Message]) -> Iterator[str]:
    for each in alerts:
        yield f"line {each.line}, in '{each.section}': {each.text}"


def without_files(error: NativeError, files: Collection[str]) -> NativeError:
    """A refusal without what HAProxy quotes of other files than those of the configuration: they may hold secrets of any kind."""
    if not isinstance(error, Refused | ReloadFailed):
        return error
    alerts = [each for each in error.alerts if isinstance(each, Message)] if isinstance(error, Refused) else []
    # HAProxy quotes lists of certificates, and other files that a line names, as part of that line.
    names_file = has_new([], [each.source for each in alerts if each.source])
    own = "\n".join(f"{each.section}\n{each.source}" for each in alerts) if names_file else None
    detail = "\n".join(_without_file(line, files, own) for line in error.detail.split("\n"))
    if isinstance(error, ReloadFailed):
        return ReloadFailed(detail)
    shown = [replace(each, text=_without_file(each.text, files, own)) if isinstance(each, Message) else each for each in error.alerts]
    return Refused(detail, place=error.place, alerts=shown)


def _without_file(line: str, files: Collection[str], own: str | None) -> str:
    """Return a line without what it quotes of other files; `own`: the lines that it is about, if one of them names such a file."""
    if ends := [match.end() for match in _OF_FILE.finditer(line)]:
        line = line.partition("'")[0] + "'...'" + line[ends[-1] :]
    if (place := _PLACE.search(line)) and place[1] not in files:
        return _QUOTED.sub("'...'", line)
    if own is not None and _PLACED.search(line):
        others = (match.start() for match in _ONE_QUOTED.finditer(line) if match[1] not in own and match[1] != "...")
        if (begin := next(others, None)) is not None:
            # What is quoted may have quotes of its own.
            return line[:begin] + _QUOTED.sub("'...'", line[begin:])
    return line
