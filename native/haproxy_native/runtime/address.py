"""Where a Runtime API socket listens, as the configuration and the settings write it.

A unix path (bare or behind `unix@`), an abstract name behind `abns@`, or a TCP address (HAProxy Management Guide, section 9.3).
"""

import re
from dataclasses import dataclass

_TCP = re.compile(r"(?:ipv4@|ipv6@|tcp@|tcp4@|tcp6@)?(?:\[(?P<bracketed>[^\]]*)\]|(?P<host>.*)):(?P<port>\d+)")
# `stats socket` takes an address to listen on; this is where to connect to then.
_ANY = {"": "127.0.0.1", "*": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True)
class Address:
    """Either `path` (an abstract name begins with NUL) or `host` and `port`."""

    text: str
    path: str | None = None
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        return self.text


def parse(text: str) -> Address | None:
    """Parses an address; None if it cannot be connected to: an inherited descriptor, a variable that only HAProxy resolves."""
    kind, sign, rest = text.partition("@")
    if sign and kind == "abns":
        return Address(text, "\0" + rest)
    if sign and kind == "unix":
        return Address(text, rest)
    if "$" in text or (sign and kind in ("fd", "sockpair")):
        return None
    match = _TCP.fullmatch(text)
    if match and "/" not in text:
        host = match["bracketed"] if match["bracketed"] is not None else match["host"]
        return Address(text, host=_ANY.get(host, host), port=int(match["port"]))
    return None if sign else Address(text, text)
