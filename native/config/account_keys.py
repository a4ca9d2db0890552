"""Account keys of `acme` sections: HAProxy makes one that does not exist, even when it only checks, and refuses the text if it cannot.

A check changes nothing; so it is repeated with a text that has such keys in the scratch directory.
"""

import re
from collections.abc import Collection
from pathlib import Path

from native.text.document import Document
from native.text.line import Line
from native.text.section import Section
from native.text.words import unquoted

_NOT_MADE = re.compile(r"acme: cannot create the file '([^']+)'")


def not_made(stderr: str) -> frozenset[str]:
    """The keys that HAProxy could not create."""
    return frozenset(_NOT_MADE.findall(stderr))


def with_keys_in(scratch: Path, document: Document, keys: Collection[str]) -> Document:
    """The document with these keys below another directory; each line stays where it is, if its section has a line to spare."""
    for number, section in enumerate(document.sections):
        if section.kind == "acme" and _key(section) in keys:
            document = document.replace(section, _with_key(section, scratch / f"{number}.key"))
    return document


def _key(section: Section) -> str:
    told = [line.words[1] for line in section.lines if line.words[:1] == ("account-key",) and len(line.words) > 1]
    return unquoted(told[-1]) if told else f"{unquoted(section.name)}.account.key"


def _with_key(section: Section, key: Path) -> Section:
    line = Line(f"    account-key {key}\n")
    told = [place for place, each in enumerate(section.lines) if each.words[:1] == ("account-key",)]
    spare = [place for place, each in enumerate(section.lines) if not each.words and each.text.endswith("\n")]
    place = (told or spare or [len(section.lines)])[-1]
    return section.with_lines([*section.lines[:place], line, *section.lines[place + 1 :]])
