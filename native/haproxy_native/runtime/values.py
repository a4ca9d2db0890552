"""Validates the values of runtime commands.

The socket is no referee: there HAProxy takes the port 65536 for 0 and `80x` for 80, lets -1 wrap, and halves a weight on `50%`, while
a file means 50 by that. So a value goes to the socket only in a form that both read alike.
"""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address

from haproxy_native.errors import BadValue

MOST = 2**31 - 1
_NUMBER = re.compile(r"[0-9]{1,10}", re.ASCII)
# Its last label has a letter: `127.1` is an address, which the file takes and the socket does not.
_HOST_NAME = re.compile(r"(?:[A-Za-z0-9-]{1,63}\.)*(?=[0-9-]*[A-Za-z])[A-Za-z0-9-]{1,63}\.?", re.ASCII)


def number(value: int | str, least: int, most: int) -> int:
    """Digits only, within the bounds; raises BadValue."""
    text = str(value)
    if isinstance(value, bool) or not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
        raise BadValue(f"{value} is outside {least}..{most}")
    return int(text)


def ip(text: str) -> IPv4Address | IPv6Address:
    """An IPv4 or IPv6 address as such: no name, prefix, port or scope; raises BadValue."""
    try:
        if "%" not in text:
            return ip_address(text)
    except ValueError:
        pass
    raise BadValue(f"not an IP address: {text!r}")


def host_name(text: str) -> str:
    """Raises BadValue."""
    if len(text) > 253 or not _HOST_NAME.fullmatch(text):
        raise BadValue(f"not a host name: {text!r}")
    return text
