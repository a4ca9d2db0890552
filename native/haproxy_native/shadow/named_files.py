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
_WORDS = re.compile(r"[^\s\"'(),=;]+")


def named(document: Document, home: Path) -> Iterator[Path]:
    """What may be a path in it, each once; relative ones begin in `home`."""
    names: list[str] | None = document.cache.get(_WORDS)
    if names is None:
        words = (match[0] for match in _WORDS.finditer(document.text))
        names = document.cache[_WORDS] = list(dict.fromkeys(word for word in words if "." in word or "/" in word))
    return (home / name for name in names)


def naming(document: Document, home: Path, paths: Iterable[Path]) -> list[Path]:
    """The files named in it that name some of these in turn, as a list of certificates does."""
    names = [os.fsencode(path.name) for path in paths]
    return [path for path in named(document, home) if names and _holds(_read(path), names)]


def stamps(document: Document, home: Path, files: Mapping[Path, Path | None]) -> list[str]:
    """Returns the stamps of all named files, and of files that replace some."""
    there = [f"{path} {content and _digest(content)}" for path, content in files.items()]
    for path in named(document, home):
        with suppress(OSError, ValueError):
            seen = path.stat()
            there.append(f"{path} {seen.st_mtime_ns} {seen.st_size} {seen.st_ino}")
    return there


def _holds(content: bytes, names: Iterable[bytes]) -> bool:
    return any(name in content for name in names)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(path: Path) -> bytes:
    """Empty for what is no file that may name others."""
    with suppress(OSError, ValueError):
        if path.is_file() and path.stat().st_size <= LARGEST:
            return path.read_bytes()
    return b""
