"""What in a configuration names a backend without HAProxy seeing it: words from which a name is made when a request comes. Pure.

A name in a rule that HAProxy resolves itself needs no look: without the backend it refuses the file. When in doubt a line names.
"""

import re

from haproxy_native.planning.outcome import line_of
from haproxy_native.text.document import Document
from haproxy_native.text.section import BOUNDARY
from haproxy_native.text.words import unquoted

# An argument of a sample or converter: between brackets, commas and blanks, perhaps with a server behind it.
_ARGUMENT = r"""[(,]\s*["']?{}["']?\s*[,)/]"""
# What makes a variable of a text.
_FORMAT = "-fmt("


def naming(document: Document, name: str) -> str:
    """`use_backend: ... (frontend web, line 12)` for the first line that may give the name; empty where none does."""
    argument = re.compile(_ARGUMENT.format(re.escape(name)))
    for section in document.sections:
        if section.kind == BOUNDARY or name not in section.text:
            continue
        for place, line in enumerate(section.lines):
            if len(line.words) > 1 and (argument.search(line.text) or (_FORMAT in line.text and name in map(unquoted, line.words))):
                title = f"{section.kind} {section.name}".rstrip()
                return f"{line.words[0]} in {title}, line {line_of(document, section, place)}, names it"
    return ""
