"""The files that a configuration may name: by what is known that they are as they were, and which of them name others. Blocks."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from haproxy_native.text.document import Document

# Bytes of a file that may name others.
LARGEST = 1 << 20
_PATHS = re.compile(r"[^\s\"'(),=;]*[./][^\s\"'(),=;]*")


def named(document: Document, home: Path) -> Iterator[Path]:
    """What may be a path in it, each once; relative ones begin in `home`."""
    names: list[str] | None = document.cache.get(_PATHS)
    if names is None:
        names = document.cache[_PATHS] = sorted(set(_PATHS.findall(document.text)))
    return (home / name for name in names)


def naming(document: Document, home: Path, paths: Iterable[Path]) -> list[Path]:
    """The files named in it that name some of these in turn, as a list of certificates does."""
    if not (names := [re.escape(os.fsencode(path.name)) for path in paths]):
        return []
    pattern = re.compile(b"|".join(names))
    return [path for path in named(document, home) if pattern.search(_read(path))]


def stamps(document: Document, home: Path, files: Mapping[Path, Path | None]) -> list[str]:
    """Of all that it names, and of what is in the place of some."""
    there = [f"{path} {content and hashlib.sha256(content.read_bytes()).hexdigest()}" for path, content in files.items()]
    for path in named(document, home):
        with suppress(OSError, ValueError):
            seen = path.stat()
            there.append(f"{path} {seen.st_mtime_ns} {seen.st_size} {seen.st_ino}")
    return there


def _read(path: Path) -> bytes:
    """Empty for what is no file that may name others."""
    with suppress(OSError, ValueError):
        if path.is_file() and path.stat().st_size <= LARGEST:
            return path.read_bytes()
    return b""
