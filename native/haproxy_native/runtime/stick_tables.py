"""Read and change the stick tables of the running process and their entries (HAProxy Management Guide, section 9.3, `show table`)."""

import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

from haproxy_native.errors import BadValue, Place, RuntimeRefused
from haproxy_native.quirks import TABLE_ARRAYS
from haproxy_native.runtime.capabilities import Capabilities

HEAD = "# table: "
_TABLE = re.compile(r"# table: (?P<name>.*), type: (?P<type>[^,]*), size:(?P<size>\d+), used:(?P<used>\d+).*")
_ENTRY = re.compile(r"(?P<id>0x[0-9a-f]+): key=(?P<key>(?:\\.|[^\\ ])*) use=(?P<use>\d+) exp=(?P<exp>\d+)(?P<data>.*)")
_DATUM = re.compile(r" (?P<name>[a-z_0-9]+)(?:\(\d+\))?=(?P<value>-?\d+)(?= |$)")
_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"e": b"\x1b"}
_UNSENDABLE = re.compile(r"[\n\r\0]")
MOST = 2**32 - 1
# The types of tables whose keys HAProxy's commands can name.
KEYED = ("ip", "ipv6", "integer", "string")
_MAPPED = bytes(10) + b"\xff\xff"


@dataclass(frozen=True)
class Table:
    """A row of `show table`."""

    name: str
    # In HAProxy's words.
    type: str
    # Numbers of entries.
    size: int
    used: int


def parse_tables(text: str) -> Iterator[Table]:
    """Parse an answer to `show table`."""
    for line in text.split("\n"):
        if match := _TABLE.fullmatch(line):
            yield Table(match["name"], match["type"], int(match["size"]), int(match["used"]))


def parse_entries(text: str, known: frozenset[str]) -> Iterator[dict[str, Any]]:
    """Parse `show table <name>` to entries, whose data types are limited to `known`.

    An entry has `id`, `key`, `exp` in milliseconds, and `use` if it is in use.
    """
    for line in text.split("\n"):
        if match := _ENTRY.fullmatch(line):
            entry: dict[str, Any] = {"id": match["id"], "key": unescape(match["key"]), "exp": int(match["exp"])}
            if match["use"] == "1":
                entry["use"] = True
            yield entry | {match_["name"]: int(match_["value"]) for match_ in _DATUM.finditer(match["data"]) if match_["name"] in known}


def unescape(text: str) -> str:
    """Undo the escapes that HAProxy prints in a key."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]) if match[1] else _LETTERS.get(match[2], match[2]), text.encode())
    return raw.decode("utf-8", "surrogateescape")


def can_be_sent(kind: str, key: str) -> bool:
    """Return whether a command can name this key. If not, the caller has to read all entries of the table."""
    return kind in KEYED and not _UNSENDABLE.search(key)


def stored_key(kind: str, key: str) -> str:
    """Return a key as a table of this type stores it; IPv6 tables store IPv4 clients as IPv4-mapped addresses.

    Raises BadValue for a malformed key, which some versions read as 0.0.0.0 or 0. Also raises BadValue if no command can name the keys of
    this type: HAProxy refuses such a command, but creates the entry nevertheless.
    """
    if kind not in KEYED:
        raise _bad_key(f"the key of an entry can be sent to tables of type {', '.join(KEYED)} only, and this one is of type {kind}")
    if kind == "integer" and not (key.isascii() and key.isdecimal() and int(key) <= MOST):
        raise _bad_key(f"the keys of this table are integers from 0 to {MOST}, not {key!r}")
    if kind not in ("ip", "ipv6"):
        return key
    address: IPv4Address | IPv6Address | None = None
    # Python would accept a scope.
    if "%" not in key:
        with suppress(ValueError):
            address = ip_address(key)
    if kind == "ip" and isinstance(address, IPv6Address):
        address = address.ipv4_mapped
    if address is None:
        raise _bad_key(f"the keys of this table are {'IPv4' if kind == 'ip' else 'IPv6'} addresses, not {key!r}")
    if kind == "ipv6":
        mapped = address.packed if isinstance(address, IPv6Address) else _MAPPED + address.packed
        return socket.inet_ntop(socket.AF_INET6, mapped)
    return str(address)


def _bad_key(detail: str) -> BadValue:
    return BadValue(detail, place=Place(member="key"))


def explain_refusal(error: RuntimeRefused, members: Iterable[str], capabilities: Capabilities, *, has_key: bool) -> RuntimeRefused:
    """Return the error to raise if HAProxy has refused the data of an entry.

    If a member is an array element and this HAProxy sets only the first element, the error names the first version that sets any.
    `has_key`: whether the table has the key after the refusal: HAProxy creates the entry before it reads the data.
    """
    text = error.answer.rstrip(" .")
    if not capabilities.sets_array_elements and any("[" in member for member in members):
        since = ".".join(map(str, TABLE_ARRAYS.since))
        text += f": this HAProxy can set only the first element of an array, HAProxy {since} and later any element"
    if has_key:
        text += "; the table has the key nevertheless, without this data"
    return error if text == error.answer.rstrip(" .") else type(error)(text, error.command)


def check_datum(name: str, value: Any) -> None:
    """Raise BadValue for a number that HAProxy would truncate."""
    most = 2**64 - 1 if re.fullmatch(r"bytes_\w+_cnt", name) else MOST
    if isinstance(value, int) and not 0 <= value <= most:
        raise BadValue(f"{name} must be from 0 to {most}, not {value}", place=Place(member=f"data_type.{name}"))
