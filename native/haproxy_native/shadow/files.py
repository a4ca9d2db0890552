"""Find the files that a configuration refers to, detect that they have changed, and replace them for a shadow. All functions block.

A change may store files together with a configuration that refers to these files. The shadow of such a change has to read the new
contents, which are still drafts at other paths. So `with_files` rewrites the paths in the shadow's configuration.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from haproxy_native.check.whole_set import WholeSet, rewritten_into, working_directory_in
from haproxy_native.shadow.rewrite import rewrite_document
from haproxy_native.text.document import Document

# The most bytes of a file that is searched for the names of other files.
LARGEST = 1 << 20
_WORDS = re.compile(r"[^\s\"'(),=;]+")


def paths_in(document: Document, home: Path) -> Iterator[Path]:
    """Yield the path of each word in a document that may name a file. Relative paths begin in `home`."""
    names: list[str] | None = document.cache.get(_WORDS)
    if names is None:
        words = (match[0] for match in _WORDS.finditer(document.text))
        names = document.cache[_WORDS] = list(dict.fromkeys(word for word in words if "." in word or "/" in word))
    return (home / name for name in names)


def files_naming(document: Document, home: Path, paths: Iterable[Path]) -> list[Path]:
    """Return the files to which a document refers, and whose content names at least one of `paths`, as a crt-list names certificates.

    Skips files that are unreadable or larger than `LARGEST`.
    """
    names = [os.fsencode(path.name) for path in paths]
    naming: list[Path] = []
    for path in paths_in(document, home) if names else ():
        with suppress(OSError, ValueError):
            if path.is_file() and path.stat().st_size <= LARGEST:
                content = path.read_bytes()
                if any(name in content for name in names):
                    naming.append(path)
    return naming


def stamps(document: Document, home: Path, files: Mapping[Path, Path | None]) -> list[str]:
    """Return a text for each existing file that the document names, and for each entry of `files`.

    If a file changes, its text changes as well.
    """
    texts: list[str] = []
    for path, replacement in files.items():
        digest = None
        if replacement:
            with replacement.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        texts.append(f"{path} {digest}")
    for path in paths_in(document, home):
        with suppress(OSError, ValueError):
            status = path.stat()
            texts.append(f"{path} {status.st_mtime_ns} {status.st_size} {status.st_ino}")
    return texts


# Replacements: by the path in the configuration, the path of the file with the content; None if the file is not to exist.
Files = Mapping[Path, Path | None]
NONE: Files = {}


def with_files(document: Document, scratch: Path, home: Path, files: Files, directory: Path) -> tuple[str, Path]:
    """Lay out `files` in `scratch`. Return (text of a shadow that reads `files` from there, working directory of that shadow).

    `home`: the directory of the main file. `directory`: HAProxy's working directory.
    """
    tree, replacements = scratch / "set", {os.path.abspath(path): content for path, content in files.items()}
    contents = {path: content for path, content in replacements.items() if content}
    contents = {os.path.abspath(path): path for path in files_naming(document, directory, files)} | contents
    # Files that may be lists, in which paths have to be rewritten as well.
    lists = [path for path, content in contents.items() if content.stat().st_size <= LARGEST]
    gone = [path for path, content in replacements.items() if content is None]
    whole_set = WholeSet({}, contents, lists, gone, directory)
    document_in_tree = Document.parse(rewritten_into(tree, whole_set, document.text).encode("utf-8", "surrogateescape"))
    return rewrite_document(document_in_tree, scratch, tree / "root" / str(home).lstrip("/")).text, working_directory_in(tree, whole_set)
