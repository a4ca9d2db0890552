"""`show map <name>` as JSON, piece by piece: a map may have a million entries, and most of them become JSON many at once.

An entry is `<reference> <key> <value>`; keys hold no blank, values may (HAProxy Management Guide, section 9.3).
"""

import json
from collections.abc import Iterator

# Bytes that stand in JSON as they are.
_PLAIN = bytes(set(range(32, 128)) - set(b'"\\'))
_ENTRY = b'{"id":"%b","key":"%b","value":"%b"},'
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
        return b"[%b]\n" % b"".join(self._pieces)[:-1]


def _at_once(lines: bytes) -> bytes:
    """Nothing where an entry is more than three words of which JSON escapes no sign."""
    count = lines.count(b"\n") + 1
    if len(lines.translate(None, _PLAIN)) != count - 1 or lines.count(b" ") != 2 * count:
        return b""
    words = lines.split()
    if len(words) != 3 * count or b"\n".join([b"", lines]).count(b"\n0x") != count:
        return b""
    return _ENTRY * count % tuple(words)


def _one_by_one(lines: bytes) -> Iterator[bytes]:
    for line in lines.decode("utf-8", "surrogateescape").split("\n"):
        if line.startswith("0x"):
            reference, key, value = (*line.split(" ", 2), "", "")[:3]
            said = f'{{"id":{_quoted(reference)},"key":{_quoted(key)},"value":{_quoted(value)}}},'
            yield said.encode("utf-8", "backslashreplace")
