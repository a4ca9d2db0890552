"""Quote the words of a runtime command, and check values that HAProxy would misread on the socket."""

import re
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address

from haproxy_native.errors import BadValue, Place

# Quotes have no meaning on the socket. `<` would begin a payload, `#` a comment, `;` another command.
_SPECIAL = re.compile(r"[\\ \t;<#]")
_FORBIDDEN = re.compile(r"[\n\r\0]")


def argument(text: str | int) -> str:
    """Escape a text so that HAProxy reads it as one word (HAProxy Management Guide, section 9.3).

    Raises BadValue if the text is empty, or contains a line break or NUL, which cannot be escaped.
    """
    word = str(text)
    if not word or _FORBIDDEN.search(word):
        raise BadValue(f"cannot be an argument of a runtime command: {word!r}")
    return _SPECIAL.sub(r"\\\g<0>", word)


# HAProxy does not validate values on the socket: it reads the port 65536 as 0 and `80x` as 80, lets -1 wrap, and halves a weight on `50%`,
# which means 50 in the file. So a value is sent only in a form that means the same on the socket and in the file.
MOST = 2**31 - 1
_NUMBER = re.compile(r"[0-9]{1,10}", re.ASCII)


def number(member: str, value: int | str, least: int, most: int) -> int:
    """Parse a decimal number. Raises BadValue, which names `member`, for another text, and for a number outside `least`..`most`."""
    text = str(value)
    if isinstance(value, bool) or not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
        raise BadValue(f"{member}: {value} is outside {least}..{most}", place=Place(member=member))
    return int(text)


def ip_literal(member: str, text: str, *, bracketed: bool = False) -> IPv4Address | IPv6Address:
    """Parse an IP address: a decimal dotted quad, or an IPv6 literal with or without brackets.

    With `bracketed`, an IPv6 literal must have brackets, because in the file HAProxy reads the text after its last colon as a port. Raises
    BadValue, which names `member`, for any other text. HAProxy resolves or parses such texts only when it loads the file: names, `127.1`,
    `ipv4@...`, ports, prefixes, scopes and paths.
    """
    literal = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    with suppress(ValueError):
        address = ip_address(literal)
        has_fitting_brackets = literal == text if address.version == 4 else literal != text or not bracketed
        if has_fitting_brackets and "%" not in literal:
            return address
    detail = f"{member}: {text!r} is not an IP address; HAProxy resolves names only when it loads its configuration"
    raise BadValue(detail, place=Place(member=member))
