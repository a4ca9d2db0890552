"""Escapes a word of a runtime command, so that HAProxy reads it as exactly one (HAProxy Management Guide, section 9.3)."""

import re

from haproxy_native.errors import BadValue

# Quotes group nothing here. `<` would begin a payload, `#` a comment, `;` another command.
_SPECIAL = re.compile(r"[\\ \t;<#]")
_FORBIDDEN = re.compile(r"[\n\r\0]")


def argument(text: str | int) -> str:
    """Raises BadValue for what no escape can carry: a line break, NUL, nothing at all."""
    word = str(text)
    if not word or _FORBIDDEN.search(word):
        raise BadValue(f"cannot be an argument of a runtime command: {word!r}")
    return _SPECIAL.sub(r"\\\g<0>", word)
