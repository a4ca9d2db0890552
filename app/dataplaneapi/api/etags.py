"""Compute strong entity tags (RFC 9110, section 8.8.3) from response bodies and files, and compare them with conditional headers."""

import hashlib
import os
import re
import time
from typing import BinaryIO

SIZE = 16
ANY = "*"
PIECE = 1 << 20
# The most files whose tags are cached.
MOST_FILES = 1000
# Nanoseconds. Two writes to a file within this time may set the same timestamps, so the tag of a younger file is not cached.
UNSETTLED = 1_000_000_000
_TAG = r'(W/)?("[\x21\x23-\x7e\x80-\xff]*")'
_LIST = re.compile(rf"[ \t,]*{_TAG}(?:[ \t]*,(?:[ \t]*{_TAG})?)*[ \t]*")
_EACH = re.compile(_TAG)
_Stamp = tuple[int, int, int, int, int]


def tag_of(body: bytes | memoryview) -> str:
    return f'"{hashlib.blake2b(body, digest_size=SIZE).hexdigest()}"'


def is_well_formed(header: str) -> bool:
    """Return whether a header is `*` or a list of entity tags."""
    return header.strip() == ANY or _LIST.fullmatch(header) is not None


def holds(header: str, tag: str, *, weakly: bool = False) -> bool:
    """Return whether a header matches an entity tag. `If-Match` is compared strongly, and `If-None-Match` weakly (section 8.8.3.2)."""
    return header.strip() == ANY or any(tag_ == tag and (weakly or not weak_mark) for weak_mark, tag_ in _EACH.findall(header))


class FileTags:
    """A cache of the tags of files. The key is device, inode, size and timestamps, so a file that has changed is hashed again."""

    def __init__(self) -> None:
        self._tags: dict[_Stamp, str] = {}

    def of(self, file: BinaryIO) -> str:
        """Return the tag of an open file, whose position is its beginning before and after. Blocks for the disk. Raises OSError."""
        stamp = _stamp(file)
        if (cached := self._tags.get(stamp)) is not None:
            return cached
        digest = hashlib.blake2b(digest_size=SIZE)
        while piece := file.read(PIECE):
            digest.update(piece)
        file.seek(0)
        tag = f'"{digest.hexdigest()}"'
        if time.time_ns() - stamp[-1] > UNSETTLED and _stamp(file) == stamp:
            self._tags[stamp] = tag
            if len(self._tags) > MOST_FILES:
                del self._tags[next(iter(self._tags))]
        return tag


def _stamp(file: BinaryIO) -> _Stamp:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
