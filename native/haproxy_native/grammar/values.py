"""Convert values of the API to words of the file and back, by value types.

A type has the methods `read(word) -> value` and `write(value) -> word`. `read` raises ValueError for a word of another type.
Times are integers in milliseconds, sizes integers in bytes (HAProxy Configuration Manual, sections 2.4 and 2.5).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv6Address
from typing import Any

from haproxy_native.errors import BadValue, Place
from haproxy_native.text.words import SplitLine, is_word, normalized, quoted, split, unquoted, words_of

_ESCAPES = re.compile(r"(\\[rnt\\\"# ]|\\x[0-9A-Fa-f]{2})")
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER_AND_UNIT = re.compile(r"(\d+)([A-Za-z]*)")
_TIME_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
FAMILIES_WITH_PATH = ("unix@", "abns@", "abnsz@", "fd@", "sockpair@", "uxst@", "uxdg@", "ring@", "/", "shm@")
# Those that each version of HAProxy reads alike in its file and in `add server`.
UNIX_SOCKETS = ("unix@", "uxst@", "abns@", "/")
_SIZE_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


class Unknowable(Exception):
    """Raised if a word is a variable instead of a number. Only HAProxy knows the value of the variable."""


class ValueType:
    """The base class of value types. It accepts any word. `examples`: the example values in the schema of the property."""

    examples: tuple[Any, ...] = ()

    def read(self, word: str) -> Any:
        return word

    def write(self, value: Any) -> str:
        return str(value)

    def samples(self) -> list[Any]:
        return ["value"]


def _matched(pattern: re.Pattern[str], word: str) -> re.Match[str]:
    """Match a word, with or without its quotes. If the word does not match, raise Unknowable for a variable, and otherwise ValueError."""
    if match := pattern.fullmatch(word) or pattern.fullmatch(unquoted(word)):
        return match
    raise Unknowable if "$" in word else ValueError(word)


def one_word(text: str) -> str:
    """Return a text as one word of the configuration, quoted if necessary."""
    return text if is_word(text) else quoted(text)


def escaped_word(text: str) -> str:
    """Return the text as one word of the file, with line breaks as escapes. Escapes of the text stay escapes, with or without quotes."""
    text = text.replace("\r", "\\r").replace("\n", "\\n")
    pieces = _ESCAPES.split(text)
    return text if is_word(text) else '"' + "".join(piece if at % 2 else quoted(piece)[1:-1] for at, piece in enumerate(pieces)) + '"'


def many_words(text: str) -> str:
    """Return a text as words of the configuration, each quoted if necessary."""
    parts = split(text)
    if all(map(is_word, parts.words)):
        text_ = SplitLine(("", *parts.gaps[1:]), parts.words, "").join() if parts.words else ""
        rest = " ".join(map(one_word, parts.tail.split()))
        return text_ + (" " if text_ and rest and not parts.tail.startswith("#") else "") + rest
    return " ".join(one_word(piece) for piece in text.split())


class Text(ValueType):
    """A word, quoted if necessary."""

    def read(self, word: str) -> str:
        return normalized(word)

    def write(self, value: Any) -> str:
        return one_word(str(value))

    def samples(self) -> list[Any]:
        return ["sample", '"two words"', "with\\ blank"]


class Integer(ValueType):
    def read(self, word: str) -> int:
        return int(_matched(_INTEGER, word)[0])

    def samples(self) -> list[Any]:
        return [7, 100]


class Unquoted(Text):
    """A text that has double quotes in the file if it contains a blank. The API shows it without the quotes."""

    def read(self, word: str) -> str:
        inner = word[1:-1]
        return inner if len(word) > 1 and word == f'"{inner}"' and not is_word(inner) and one_word(inner) == word else normalized(word)

    def samples(self) -> list[Any]:
        return ["sample", "two words"]


class Address(Text):
    """An address, perhaps with a port. IPv6 addresses are written in brackets: otherwise HAProxy would read the last part as a port."""

    def read(self, word: str) -> str:
        text = normalized(word)
        host, port = split_address(text)
        return text if port is None or (address := bracketed(host)) == host else f"{address}:{port}"

    def write(self, value: Any) -> str:
        return one_word(bracketed(str(value)))

    def samples(self) -> list[Any]:
        return ["192.0.2.1", "[2001:db8::1]:80"]


class Escaped(Text):
    """A text whose line breaks are written as the escapes `\\r` and `\\n`. Reading returns the escapes, and bodies may have them too."""

    def write(self, value: Any) -> str:
        return escaped_word(str(value))


class Digits(ValueType):
    """A number in the file that is a string in the API."""

    def read(self, word: str) -> str:
        return _matched(_INTEGER, word)[0]

    def write(self, value: Any) -> str:
        if not _INTEGER.fullmatch(str(value)):
            raise ValueError(f"'{value}' is not a number")
        return str(value)

    def samples(self) -> list[Any]:
        return ["0", "2"]


@dataclass
class Duration(ValueType):
    """A time in milliseconds. `unit`: the unit of a bare number; `suffix`: the unit in which new times are written (`--time-suffix`)."""

    unit: str = "ms"
    suffix: str = "nearest"

    def read(self, word: str) -> int:
        match = _matched(_NUMBER_AND_UNIT, word)
        number, unit = int(match[1]), match[2] or self.unit
        if unit == "us":
            return max(number // 1000, 1) if number else 0
        if unit not in _TIME_UNITS:
            raise ValueError(word)
        return number * _TIME_UNITS[unit]

    def write(self, value: Any) -> str:
        if self.suffix == "none":
            return str(value) if self.unit == "ms" else f"{value}ms"
        if value == 0:
            return "0ms"
        names = list(_TIME_UNITS)
        start = 0 if self.suffix == "nearest" else names.index(self.suffix)
        unit = next(name for name in names[start:] if value % _TIME_UNITS[name] == 0)
        return f"{value // _TIME_UNITS[unit]}{unit}"

    def samples(self) -> list[Any]:
        return [1500, 60_000]


@dataclass
class Time(Integer):
    """A time that the API shows in `unit`. In the file, a time may have any unit; new values are written without a unit."""

    unit: str

    def read(self, word: str) -> int:
        value, rest = divmod(Duration(self.unit).read(word), _TIME_UNITS[self.unit])
        if rest:
            raise Unknowable
        return value


@dataclass
class Size(ValueType):
    """A size in bytes, or in units of `unit` bytes. `suffixed`: new values are written with the largest suffix that divides them."""

    suffixed: bool = True
    unit: int = 1

    def read(self, word: str) -> int:
        match = _matched(_NUMBER_AND_UNIT, word)
        if match[2].lower() not in _SIZE_UNITS:
            raise ValueError(word)
        return int(match[1]) * (_SIZE_UNITS[match[2].lower()] if match[2] else self.unit) // self.unit

    def write(self, value: Any) -> str:
        if not self.suffixed or value == 0:
            return str(value)
        size = value * self.unit
        unit = next(name for name in reversed(_SIZE_UNITS) if size % _SIZE_UNITS[name] == 0)
        return f"{size // _SIZE_UNITS[unit]}{unit}"

    def samples(self) -> list[Any]:
        return [2048, 1000]


@dataclass
class Choice(ValueType):
    """One of several values; `words` maps each value to its word. A strict choice refuses other words."""

    words: Mapping[Any, str]
    strict: bool = True
    by_word: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.by_word = {word: value for value, word in self.words.items()}

    def read(self, word: str) -> Any:
        key = word if word in self.by_word else unquoted(word)
        if key in self.by_word:
            return self.by_word[key]
        if self.strict or any(not isinstance(value, str) for value in self.words):
            raise ValueError(word)
        return normalized(word)

    def write(self, value: Any) -> str:
        return self.words.get(value) or one_word(str(value))

    def samples(self) -> list[Any]:
        return list(self.words)


@dataclass
class Listed(ValueType):
    """Several values in one word. A separator inside parentheses is part of a value."""

    item: ValueType
    separator: str
    # A value that excludes all others.
    alone: str = ""

    def read(self, word: str) -> list[Any]:
        return [self.item.read(part) for part in _split_outside_parentheses(word, self.separator)]

    def write(self, value: Any) -> str:
        items = [self.item.write(element) for element in value]
        if len(items) > 1 and self.alone in items:
            raise ValueError(f"'{self.alone}' cannot be combined with other values")
        for element, item in zip(value, items, strict=True):
            if len(_split_outside_parentheses(item, self.separator)) > 1:
                raise ValueError(f"'{element}' contains the separator '{self.separator}'")
        return self.separator.join(items)

    def samples(self) -> list[Any]:
        several = self.item.samples()
        return [several[:1], several[:2]]


def _split_outside_parentheses(word: str, separator: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, sign in enumerate(word):
        depth += (sign == "(") - (sign == ")")
        if sign == separator and depth == 0:
            parts.append(word[start:i])
            start = i + 1
    return [*parts, word[start:]]


def has_path(address: str) -> bool:
    """Return whether an address is a path, or has a family such as `unix@`. In such an address, a colon does not precede a port."""
    return address.startswith(FAMILIES_WITH_PATH)


def bracketed(address: str) -> str:
    """Return an address, with brackets if it is an IPv6 address: without brackets, HAProxy would read its last part as a port."""
    family, at, bare = address.rpartition("@")
    return f"{family}{at}[{bare}]" if is_ipv6(bare) and not has_path(address) else address


def is_ipv6(text: str) -> bool:
    try:
        return ":" in text and "%" not in text and bool(IPv6Address(text).packed)
    except AddressValueError:
        return False


def split_address(word: str) -> tuple[str, str | None]:
    """Return (address, port) of a word; the port is None if the word has no port.

    As in HAProxy, the last colon outside brackets precedes the port: `[::1]:80`, `::1:80`. `[::1]`, `/path`, `unix@...` and
    `${ADDRESS-127.0.0.1:80}` have no port.
    """
    address, colon, port = word.rpartition(":")
    if not colon or "]" in port or ("}" in port and "{" not in port) or has_path(word):
        return word, None
    return address, port


def type_of(schema: Mapping[str, Any], note: Mapping[str, Any], time_suffix: str = "nearest") -> ValueType:
    """Return the value type that a property's schema and note declare."""
    type_ = _type_of(schema, note, time_suffix)
    if "example" in schema:
        type_.examples = (schema["example"],)
    elif isinstance(type_, Integer):
        type_.examples = tuple(schema[bound] for bound in ("minimum", "maximum") if bound in schema)
    return type_


def _type_of(schema: Mapping[str, Any], note: Mapping[str, Any], time_suffix: str) -> ValueType:
    kind, words = schema.get("type", "string"), note.get("values", {})
    if kind == "array":
        separator = note.get("split") or note.get("separator") or " "
        return Listed(type_of(schema.get("items", {}), {"values": words}, time_suffix), separator, note.get("alone", ""))
    if schema.get("x-duration") and kind == "integer":
        return Duration(schema.get("x-default-unit", "ms"), time_suffix if note.get("suffixed", True) else "none")
    if schema.get("x-size") and kind == "integer":
        return Size(note.get("suffixed", True), _SIZE_UNITS[schema.get("x-default-unit", "")])
    if kind == "boolean" and words:
        return Choice({True: words.get("true", ""), False: words.get("false", "")})
    if schema.get("enum"):
        return Choice({value: words.get(str(value), str(value)) for value in schema["enum"] if value != ""}, note.get("strict", False))
    if kind == "integer":
        return Time(note["time"]) if "time" in note else Integer()
    if note.get("escaped"):
        return Escaped()
    if note.get("address"):
        return Address()
    return Digits() if note.get("digits") else Unquoted() if note.get("unquoted") else Text()


def agrees(value: Any, other: Any) -> bool:
    """Return whether `value`, which was written to a line, equals `other`, which was read from the line. Ignores quotes and brackets."""
    if isinstance(value, str) and isinstance(other, str):
        return (
            other in (value, one_word(value), escaped_word(value), unquoted(value), bracketed(value))
            or unquoted(other) == value
            or other == " ".join(words_of(many_words(value)))
        )
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return all(agrees(member_value, other.get(name)) for name, member_value in value.items())
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(agrees, value, other))
    return bool(value == other)


def refuse_line_breaks(value: Any, path: Sequence[str] = (), escaped: Collection[str] = ()) -> None:
    """Raise BadValue if a value has a line break or NUL at any depth. The error names the member.

    `escaped`: the members whose line breaks are written as escapes. They are dotted paths, with `*` for an index or a name.
    """
    if isinstance(value, str):
        unwritable = "\0" if ".".join(path) in escaped or ".".join((*path[:-2], "*", *path[-1:])) in escaped else "\n\r\0"
        if any(sign in value for sign in unwritable):
            member = ".".join(path)
            raise BadValue(f"{member} contains a line break or NUL, which would begin a new line of the file", place=Place(member=member))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            refuse_line_breaks(inner, (*path, str(name)), escaped)
    elif isinstance(value, Sequence):
        for i, inner in enumerate(value):
            refuse_line_breaks(inner, (*path, str(i)), escaped)
