"""Read the users of a userlist section, for the authentication of clients.

This does not use the grammar, because a password may be a variable.
"""

from pathlib import Path
from typing import NamedTuple

from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from haproxy_native.text.words import has_variable

SECTION = "userlist"
_USER, _CLEAR, _HASHED = "user", "insecure-password", "password"


class User(NamedTuple):
    """A user of a userlist, with the password."""

    name: str
    # Clear text, a hash, or a text with variables, as `"${NAME}"`, with its quotes.
    password: str
    # Whether the password is clear text.
    clear: bool


def find(document: Document, name: str) -> Section | None:
    return document.find(SECTION, name)


def find_in_file(path: str, name: str) -> Section | None:
    """Return the userlist `name` of the file at `path`, or None if the file does not have it. Blocks. Raises OSError."""
    return find(Document.parse(Path(path).read_bytes()), name)


def users(section: Section | None) -> list[User]:
    """Return the users of a userlist that have a password, in file order. Empty if `section` is None."""
    found: list[User] = []
    for line in section.lines[1:] if section is not None else ():
        if len(line.args) < 4 or line.args[0] != _USER:
            continue
        at = next((at for at, word in enumerate(line.args[2:-1], 2) if word in (_CLEAR, _HASHED)), None)
        if at is not None:
            value, plain = line.words[at + 1], line.args[at + 1]
            found.append(User(line.args[1], value if has_variable(value) else plain, line.args[at] == _CLEAR))
    return found
