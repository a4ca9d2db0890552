"""Whether `haproxy -c` has to accept a change, or the running HAProxy judges it by taking its commands. Pure.

Members that say `needs_check: false` in the declaration are bounded by the grammar just as HAProxy bounds them, so that a text in which
nothing else differs is accepted whenever the text before it is.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.header import bare
from haproxy_native.editing.resources import resources
from haproxy_native.grammar.line_shape import Reading
from haproxy_native.grammar.load import Grammar, grammar
from haproxy_native.planning.live import ip_of, live_of
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section

SERVERS = "servers"
# Numbers and addresses as file and socket read them alike: no sign, no base, no unit.
_PLAIN = re.compile(r"[a-z]+|[0-9A-Fa-f.:\[\]]+", re.ASCII)
_SWITCH = ("enabled", "disabled")
# HAProxy takes 64 on a line, and a variable may stand for several.
MOST_WORDS = 32


def needs_check(before: Document, new: Document, language: Grammar | None = None) -> bool:
    """False where the texts differ only in words whose declaration says `needs_check: false`."""
    if len(before.sections) != len(new.sections) or bare(before).preamble != bare(new).preamble:
        return True
    changed = ((old, now) for old, now in zip(before.sections, new.sections, strict=True) if old is not now)
    lines = _Lines(language or grammar())
    return any(old.lead != now.lead or lines.differ_otherwise(old, now) for old, now in changed if old != now)


class _Lines:
    def __init__(self, language: Grammar) -> None:
        self._grammar, self._editor = language, Editor(language)

    def differ_otherwise(self, old: Section, new: Section) -> bool:
        """Whether two sections differ in more than words that need no check."""
        if old.text == new.text:
            return False
        if (old.kind, old.name, old.file) != (new.kind, new.name, new.file) or len(old.lines) != len(new.lines):
            return True
        changed = ((was, line) for was, line in zip(old.lines, new.lines, strict=True) if was.text != line.text)
        return any(self._differs(new.kind, was, line) for was, line in changed)

    def _differs(self, kind: str, was: Line, line: Line) -> bool:
        before, after = self._read(kind, was), self._read(kind, line)
        if before is None or after is None or before.schema != after.schema or was.comment != line.comment:
            return True
        if len(line.words) > max(len(was.words), MOST_WORDS):
            return True
        return before.rest != after.rest or not after.is_bounded(before)

    def _read(self, kind: str, line: Line) -> "_Said | None":
        """A line of a kind of section."""
        servers = resources()[SERVERS].schema
        shape = self._grammar.line(servers)
        if line.args[:1] in shape.prefixes():
            return self._said(line, shape.take(line.words), servers)
        resource = resources().by_section.get(kind)
        if resource is None:
            return None
        section = self._editor.shape(resource)
        number = section.directive_of(line)
        return None if number is None else self._said(line, section.directives[number].shape.take(line.words), resource.schema)

    def _said(self, line: Line, reading: Reading | None, schema: str) -> "_Said | None":
        return _Said(line, reading, schema, live_of(self._grammar.schemas, schema).unchecked) if reading else None


class _Said:
    """What a line says; `unchecked` are the words that need no check, with their values, `rest` those that a check would judge."""

    def __init__(self, line: Line, reading: Reading, schema: str, listed: set[str]) -> None:
        self.schema = schema
        parts = [part for part in reading.parts if part.key is not None and part.values and part.values.keys() <= listed]
        self.unchecked = [(line.words[part.start : part.end], part.values) for part in parts]
        places = {place for part in parts for place in range(part.start, part.end)}
        self.rest = [word for place, word in enumerate(line.words) if place not in places]

    def is_bounded(self, before: "_Said") -> bool:
        """Whether each member is given once, and a new one in a form that file and socket read alike."""
        members = [member for _, values in self.unchecked for member in values]
        known = [words for words, _ in before.unchecked]
        return len(members) == len(set(members)) and all(_is_plain(*row) for row in self.unchecked if row[0] not in known)


def _is_plain(words: Sequence[str], values: Mapping[str, Any]) -> bool:
    known = all(isinstance(value, int) or value in _SWITCH or ip_of(str(value)) for value in values.values())
    return known and all(map(_PLAIN.fullmatch, words))
