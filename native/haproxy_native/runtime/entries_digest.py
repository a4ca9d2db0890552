"""A digest of `show map <name>` or `show acl <name>`, made in pieces: a list may have a million entries."""

import hashlib
import re

# What stands before an entry is its place in memory, which is another one after each reload.
_PLACE = re.compile(rb"^0x[0-9a-f]+ ", re.MULTILINE)


class EntriesDigest:
    """Takes the answer as it comes; `value` is the digest of all entries in their order."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self._hash, self._rest = hashlib.sha256(), b""

    def take(self, data: bytes) -> None:
        whole, sign, rest = data.rpartition(b"\n")
        if not sign:
            self._rest += data
            return
        if entries := _PLACE.sub(b"", self._rest + whole).strip(b"\n"):
            self._hash.update(entries + b"\n")
        self._rest = rest

    @property
    def value(self) -> str:
        return self._hash.hexdigest()[:16]
