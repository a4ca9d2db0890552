"""Runs the checks over a configuration, and leaves out the findings that comments switch off. Pure."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

from haproxy_native.editing.secrets import masked_lines, masked_text
from haproxy_native.features.lint.finding import Check, Finding, Violation, checks
from haproxy_native.features.lint.view import Facts, Statement, View
from haproxy_native.references.object_references import object_of
from haproxy_native.text.document import Document
from haproxy_native.text.parts import first_lines

_IGNORE = re.compile(r"(?:^|[\s#;])lint:\s*ignore=([\w*-]+(?:\s*,\s*[\w*-]+)*)")
_ALL = "*"


@dataclass(frozen=True)
class ConfigurationOrigin:
    """Where a configuration is from."""

    # The path of the main file.
    main: str = ""
    # Returns the object of a stored file by its path; empty for any other file.
    stored: Callable[[str], str] = lambda path: ""


def findings(
    document: Document, facts: Facts | None = None, origin: ConfigurationOrigin | None = None, wanted: Iterable[Check] = ()
) -> list[Finding]:
    """Return the findings of all checks, or of the `wanted` ones, in the order of the file.

    `facts` has what is known of other files, which are not read here.
    """
    view = View(document, facts)
    ignored = _Ignored(view)
    shown = _Shown(view, origin or ConfigurationOrigin())
    findings_ = [(check, finding) for check in wanted or checks().values() for finding in function_of(check)(view)]
    left = [(check, finding) for check, finding in findings_ if not ignored.is_off(check.id, finding.statement)]
    return [shown.finding(check, finding) for check, finding in sorted(left, key=_order)]


def _order(row: tuple[Check, Violation]) -> tuple[float, int, str]:
    """Return the sort key of a finding: the order of the file, with findings at no line last."""
    check, found = row
    at = found.statement
    return (at.place, at.number, check.id) if at else (math.inf, 0, check.id)


def function_of(check: Check) -> Callable[[View], Iterator[Violation]]:
    module = import_module(f"haproxy_native.features.lint.{check.module}")
    function: Callable[[View], Iterator[Violation]] = getattr(module, check.id.replace("-", "_"))
    return function


class _Shown:
    """Turns what checks find into findings with files, lines and objects."""

    def __init__(self, view: View, origin: ConfigurationOrigin) -> None:
        self._view, self._origin = view, origin
        self._first = first_lines(view.document)

    def finding(self, check: Check, found: Violation) -> Finding:
        others = [self._object(place) for place in found.also]
        object_, file, line, title, text = "", "", 0, "", ""
        if at := found.statement:
            object_, section = self._object(at.place), self._view.document.sections[at.place]
            file, line = section.file or self._origin.main, self._first[at.place] + at.number
            title, text = self._view.by_place[at.place].title, masked_lines(at.text.strip())
        if found.path:
            others += [object_] if at else []
            object_, file, line = self._origin.stored(found.path) or "file", found.path, found.number
        return Finding(
            check.id,
            check.severity,
            file,
            line,
            title,
            text,
            masked_text(found.what),
            check.reason,
            check.mend,
            object_,
            masked_lines(found.line),
            tuple(dict.fromkeys(others)),
        )

    def _object(self, place: int) -> str:
        return object_of(self._view.document, place)


class _Ignored:
    """The checks that comments switch off: for a line at its end or above it, for a section at its header, for all at the top."""

    def __init__(self, view: View) -> None:
        document = view.document
        self._everywhere = _ids([document.preamble])
        self._sections: dict[int, frozenset[str]] = {}
        self._lines: dict[tuple[int, int], frozenset[str]] = {}
        for place, section in enumerate(document.sections):
            if "lint:" in section.lead or "lint:" in section.text:
                self._sections[place] = _ids([section.lead, section.header.comment or ""])
                self._lines |= _by_line(place, [line.comment for line in section.lines], [line.is_comment for line in section.lines])

    def is_off(self, id_: str, at: Statement | None) -> bool:
        switched_off = [self._everywhere]
        if at:
            switched_off += [self._sections.get(at.place, frozenset()), self._lines.get((at.place, at.number), frozenset())]
        return any(id_ in ids or _ALL in ids for ids in switched_off)


def _by_line(place: int, comments: Sequence[str | None], alone: Sequence[bool]) -> Iterator[tuple[tuple[int, int], frozenset[str]]]:
    above = frozenset[str]()
    for number, comment in enumerate(comments):
        own = _ids([comment or ""])
        if alone[number]:
            above |= own
            continue
        yield (place, number), own | above
        above = frozenset()


def _ids(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(id_.strip() for text in texts for match in _IGNORE.finditer(text) for id_ in match[1].split(","))
