"""Find the files that a configuration refers to, detect that they have changed, and replace them for a shadow. All functions block.

A change may store files together with a text that refers to them. Its shadow has to read the new contents, which are still drafts at other
paths. So `with_files` rewrites the paths in the shadow's text.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from haproxy_native.check.whole_set import WholeSet, rewritten_into, working_directory_in
from haproxy_native.shadow.rewrite import rewritten
from haproxy_native.text.document import Document

# The most bytes of a file that is searched for the names of other files.
LARGEST = 1 << 20
_WORDS = re.compile(r"[^\s\"'(),=;]+")


def paths_in(document: Document, home: Path) -> Iterator[Path]:
    """Yield every word of a document that may be a path, once. Relative paths begin in `home`."""
    names: list[str] | None = document.cache.get(_WORDS)
    if names is None:
        words = (match[0] for match in _WORDS.finditer(document.text))
        names = document.cache[_WORDS] = list(dict.fromkeys(word for word in words if "." in word or "/" in word))
    return (home / name for name in names)


def files_naming(document: Document, home: Path, paths: Iterable[Path]) -> list[Path]:
    """Return those files of a document that themselves name some of `paths`, such as a list of certificates."""
    names = [os.fsencode(path.name) for path in paths]
    return [path for path in paths_in(document, home) if names and any(map(_read(path).__contains__, names))]


def stamps(document: Document, home: Path, files: Mapping[Path, Path | None]) -> list[str]:
    """Return a text for each file that the document names, and for each replacement in `files`. It differs once the file has changed."""
    there = [f"{path} {content and _digest(content)}" for path, content in files.items()]
    for path in paths_in(document, home):
        with suppress(OSError, ValueError):
            seen = path.stat()
            there.append(f"{path} {seen.st_mtime_ns} {seen.st_size} {seen.st_ino}")
    return there


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(path: Path) -> bytes:
    """Return the content of a file; empty if the file is too large or unreadable."""
    with suppress(OSError, ValueError):
        if path.is_file() and path.stat().st_size <= LARGEST:
            return path.read_bytes()
    return b""


# Replacements: by the path in the configuration, the path of the file with the content; None if the file is not to exist.
Files = Mapping[Path, Path | None]
NONE: Files = {}


def with_files(document: Document, scratch: Path, home: Path, files: Files, directory: Path) -> tuple[str, Path]:
    """Lay out `files` in `scratch`. Return the text of a shadow that reads them there, and the working directory that it needs.

    `directory`: HAProxy's working directory.
    """
    tree, there = scratch / "set", {os.path.abspath(path): content for path, content in files.items()}
    contents = {path: content for path, content in there.items() if content}
    contents = {os.path.abspath(path): path for path in files_naming(document, directory, files)} | contents
    # Files that may be lists, in which paths have to be rewritten as well.
    lists = [path for path, content in contents.items() if content.stat().st_size <= LARGEST]
    whole_set = WholeSet({}, contents, lists, [path for path, content in there.items() if content is None], directory)
    document_in_tree = Document.parse(rewritten_into(tree, whole_set, document.text).encode("utf-8", "surrogateescape"))
    return rewritten(document_in_tree, scratch, tree / "root" / str(home).lstrip("/")).text, working_directory_in(tree, whole_set)
