"""The users of a userlist section.

The words of its lines stand here alone, until userlists are declared like every other section.
"""

from pathlib import Path
from typing import NamedTuple

from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section

SECTION = "userlist"
_USER, _CLEAR, _HASHED = "user", "insecure-password", "password"


class User(NamedTuple):
    """`password` is clear text, a hash, or the text `"${NAME}"` of a variable with its quotes."""

    name: str
    password: str
    clear: bool


def find(document: Document, name: str) -> Section | None:
    return document.find(SECTION, name)


def find_in_file(path: str, name: str) -> Section | None:
    """The userlist of a file of its own; OSError when it cannot be read."""
    return find(Document.parse(Path(path).read_bytes()), name)


def users(section: Section | None) -> list[User]:
    """Returns the users in file order; those without a password are left out."""
    lines = section.lines[1:] if section is not None else ()
    return [user for line in lines if (user := _user(line)) is not None]


def _user(line: Line) -> User | None:
    if len(line.args) < 4 or line.args[0] != _USER:
        return None
    for place, kind in enumerate(line.args[2:-1], 2):
        if kind in (_CLEAR, _HASHED):
            value, plain = line.words[place + 1], line.args[place + 1]
            return User(line.args[1], value if value.startswith('"${') else plain, kind == _CLEAR)
    return None
