"""Names of stored files: sanitised names of uploads, and the lookup of a name in a directory. Pure."""

import posixpath
import re

_OTHERS = re.compile(r"[^A-Za-z0-9_-]+")
_NO_SEGMENT = re.compile(r"[/\\\x00-\x1f\x7f-\x9f]")


def sanitised(name: str) -> str:
    """One path element; every run of characters other than letters, digits, `_` and `-` is one `_`, but for the last dot."""
    stem, dot, extension = name.rpartition(".")
    if not dot or "/" in extension:
        return _one(name) if name else ""
    extension = _OTHERS.sub("_", extension)
    return f"{_one(stem)}.{extension}" if stem else f"_{extension}"


def _one(path: str) -> str:
    return _OTHERS.sub("_", posixpath.normpath(path))


def uploaded(name: str) -> str:
    """The last element of the name that a client gives its file."""
    return sanitised(name.rpartition("/")[2])


def is_element(name: str) -> bool:
    """Whether a name can be that of a file in a directory: one segment of a path, without backslashes and control characters."""
    return name not in ("", ".", "..") and not _NO_SEGMENT.search(name)
