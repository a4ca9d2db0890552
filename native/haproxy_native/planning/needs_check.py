"""Decide whether `haproxy -c` must check a change, or whether the running HAProxy can check it by its answers to the commands.

The grammar checks members with `needs_check: false` in openapi/schemas exactly as HAProxy does. So if HAProxy has accepted the former text,
it also accepts a new text that differs only in such members.
"""

import re

from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.header import bare
from haproxy_native.editing.resources import resources
from haproxy_native.grammar.line_shape import LineReading
from haproxy_native.grammar.load import grammar
from haproxy_native.planning.live import ip_of, live_of
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line

SERVERS = "servers"
# Numbers and addresses that HAProxy reads alike in files and in commands: without sign, base and unit.
_PLAIN = re.compile(r"[a-z]+|[0-9A-Fa-f.:\[\]]+", re.ASCII)
_SWITCH = ("enabled", "disabled")
# HAProxy accepts 64 words in a line, and a variable may expand to several.
MOST_WORDS = 32


def needs_check(before: Document, new: Document) -> bool:
    """Return whether `haproxy -c` must check the new text. False if the texts differ only in members with `needs_check: false`."""
    if len(before.sections) != len(new.sections) or bare(before).preamble != bare(new).preamble:
        return True
    for old, section in zip(before.sections, new.sections, strict=True):
        if old is section:
            continue
        if old.lead != section.lead:
            return True
        if old.text == section.text:
            continue
        if (old.kind, old.name, old.file) != (section.kind, section.name, section.file) or len(old.lines) != len(section.lines):
            return True
        for old_line, line in zip(old.lines, section.lines, strict=True):
            if old_line.text != line.text and _line_needs_check(section.kind, old_line, line):
                return True
    return False


def _line_needs_check(kind: str, old: Line, line: Line) -> bool:
    before, after = _read_line(kind, old), _read_line(kind, line)
    if before is None or after is None or before.schema != after.schema or old.comment != line.comment:
        return True
    if len(line.words) > max(len(old.words), MOST_WORDS):
        return True
    return before.rest != after.rest or not after.needs_no_check(before)


def _read_line(kind: str, line: Line) -> "_ReadLine | None":
    """Return the parsed line of a section of this kind; None if the grammar cannot parse it."""
    schema = resources()[SERVERS].schema
    shape = grammar().line(schema)
    if line.args[:1] not in shape.prefixes():
        if (resource := resources().by_section.get(kind)) is None:
            return None
        section = standard_editor().shape(resource)
        if (number := section.directive_of(line)) is None:
            return None
        schema, shape = resource.schema, section.directives[number].shape
    reading = shape.parse_words(line.words)
    return _ReadLine(line, reading, schema) if reading else None


class _ReadLine:
    """A line, split into `unchecked`, the (words, values) of members that need no check, and `rest`, all other words."""

    def __init__(self, line: Line, reading: LineReading, schema: str) -> None:
        self.schema, listed = schema, live_of(grammar().schemas, schema).unchecked
        parts = [part for part in reading.parts if part.key is not None and part.values and part.values.keys() <= listed]
        self.unchecked = [(line.words[part.start : part.end], part.values) for part in parts]
        places = {place for part in parts for place in range(part.start, part.end)}
        self.rest = [word for place, word in enumerate(line.words) if place not in places]

    def needs_no_check(self, before: "_ReadLine") -> bool:
        """Return whether each member without a check is set only once, and HAProxy reads its new value alike in files and in commands."""
        members = [member for _, values in self.unchecked for member in values]
        if len(members) != len(set(members)):
            return False
        old_words = [words for words, _ in before.unchecked]
        for words, values in self.unchecked:
            if words not in old_words:
                is_plain = all(isinstance(value, int) or value in _SWITCH or ip_of(str(value)) for value in values.values())
                if not is_plain or not all(map(_PLAIN.fullmatch, words)):
                    return False
        return True
