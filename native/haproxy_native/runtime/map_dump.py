"""`show map <name>` as JSON, converted in pieces: a map may have a million entries.

An entry is `<reference> <key> <value>`; keys hold no blank, values may (HAProxy Management Guide, section 9.3).
"""

import json
from collections.abc import Iterator
from itertools import repeat
from operator import contains

# Bytes that stand in JSON as they are.
_PLAIN = bytes(set(range(32, 128)) - set(b'"\\'))
_ID, _KEY, _VALUE, _END = b'{"id":"', b'","key":"', b'","value":"', b'"},'
_quoted = json.JSONEncoder(ensure_ascii=False).encode


class MapDump:
    """Takes the answer as it comes; `body` is the JSON array of all entries."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self._pieces: list[bytes] = []
        self._rest = b""

    def take(self, data: bytes) -> None:
        whole, sign, rest = data.rpartition(b"\n")
        if not sign:
            self._rest += data
            return
        lines, self._rest = (self._rest + whole).strip(b"\n"), rest
        if lines:
            self._pieces.append(_at_once(lines) or b"".join(_one_by_one(lines)))

    @property
    def body(self) -> bytes:
        last = [piece.removesuffix(b",") for piece in self._pieces[-1:]]
        return b"".join([b"[", *self._pieces[:-1], *last, b"]\n"])


def _at_once(lines: bytes) -> bytes:
    """Nothing where an entry is more than three words of which JSON escapes no sign."""
    count = lines.count(b"\n") + 1
    if len(lines.translate(None, _PLAIN)) != count - 1 or lines.count(b" ") != 2 * count:
        return b""
    words = lines.split(b" ")
    # A line's end is in the word that holds a value and the next reference, and in no other.
    if not lines.startswith(b"0x") or lines.count(b"\n0x") != count - 1 or not all(map(contains, words[2:-1:2], repeat(b"\n"))):
        return b""
    woven = [_KEY] * (4 * count + 1)
    woven[::2] = words
    woven[3::4] = [_VALUE] * count
    return b"".join([_ID, b"".join(woven).replace(b"\n", _END + _ID), _END])


def _one_by_one(lines: bytes) -> Iterator[bytes]:
    for line in lines.decode("utf-8", "surrogateescape").split("\n"):
        if line.startswith("0x"):
            reference, key, value = (*line.split(" ", 2), "", "")[:3]
            entry = f'{{"id":{_quoted(reference)},"key":{_quoted(key)},"value":{_quoted(value)}}},'
            yield entry.encode("utf-8", "backslashreplace")
