"""Check a configuration together with all files that it refers to, before any of them is stored.

The files are laid out in a temporary tree, with symbolic links to all other files in their directories. Paths in the configuration are
rewritten to point into the tree.
"""

import asyncio
import os
import re
from asyncio import to_thread
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from haproxy_native.check.check import Checked, CheckSettings, check
from haproxy_native.check.messages import Message
from haproxy_native.scratch import Scratch
from haproxy_native.text.document import Document
from haproxy_native.text.pieces import pieces


@dataclass(frozen=True)
class WholeSet:
    """A configuration and its files."""

    # The configuration files with which HAProxy is started, by path and in their order.
    configuration: Mapping[str, bytes]
    # The files to which they refer (maps, certificates, crt-lists, error pages), by the path in the configuration: the content, or the path
    # of a file with the content. A relative path starts at the working directory of HAProxy.
    files: Mapping[str, bytes | Path] = field(default_factory=dict)
    # The paths of those `files` that name further files, such as crt-lists.
    lists: Collection[str] = ()
    # The paths of files that exist on disk and that the set deletes.
    gone: Collection[str] = ()
    # The working directory of HAProxy on this host. If set, all paths are absolute, and HAProxy can read all other files of the host.
    home: Path | None = None


async def check_whole_set(whole_set: WholeSet, settings: CheckSettings, transaction_id: str | None = None) -> list[Message]:
    """Check a set. If HAProxy accepts the set, return its messages, such as warnings. Raises Refused, CheckImpossible and Unusable.

    HAProxy checks the set even if there is a `validate_cmd`, because the command cannot find the files in the temporary tree.
    """
    documents = await to_thread(lambda: {path: Document.parse(text) for path, text in whole_set.configuration.items()})
    scratch = await to_thread(Scratch, "set")
    tree = scratch.path
    checked: list[Checked] = []
    laying = asyncio.create_task(to_thread(_lay_out, tree, whole_set, documents))
    try:
        checked = await asyncio.shield(laying)
        return await check(
            checked,
            replace(settings, command=""),
            home=working_directory_in(tree, whole_set),
            transaction_id=transaction_id,
            shown=lambda text: text.replace(f"{tree}/root", "").replace(f"{tree}/home/", ""),
        )
    finally:
        # After a cancellation the thread continues, and would write into the removed directory.
        await asyncio.wait([laying])
        await to_thread(scratch.remove)


def _lay_out(tree: Path, whole_set: WholeSet, documents: Mapping[str, Document]) -> list[Checked]:
    working_directory_in(tree, whole_set).mkdir(parents=True)
    directories, pattern = _directories(whole_set), _pattern(whole_set)
    for path, content in whole_set.files.items():
        _write(_place(tree, path), _rewritten(pattern, tree, content) if path in whole_set.lists else content)
    gone = {_place(tree, path) for path in whole_set.gone}
    for place in gone:
        place.parent.mkdir(parents=True, exist_ok=True)
    checked = []
    for number, (path, document) in enumerate(documents.items()):
        # In the file's own directory, since `default-path config` makes relative paths begin there.
        directory = _place(tree, os.path.dirname(os.path.abspath(path))) if whole_set.home else tree
        copy = directory / f".{number}-{os.path.basename(path)}"
        _write(copy, _rewritten(pattern, tree, document.text.encode("utf-8", "surrogateescape")))
        checked.append(Checked(copy, Path(path), document, main=number == 0))
    for directory in [Path("/")] if whole_set.home else map(Path, directories):
        _link_others(directory, _place(tree, str(directory)), gone)
    return checked


def rewritten_into(tree: Path, whole_set: WholeSet, text: str) -> str:
    """Lay out the files of a set in a tree, and return `text` with its paths rewritten to point into the tree."""
    _lay_out(tree, whole_set, {})
    return _rewritten(_pattern(whole_set), tree, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _pattern(whole_set: WholeSet) -> re.Pattern[bytes] | None:
    """Return a pattern that matches the directories of the set at the beginning of a path; None if the set has no directories.

    If the set has a `home`, the pattern also matches a path that is exactly a parent of such a directory. The first group is the name of a
    crt-store before the path, such as `@store` in `@store/certs/site.pem`; the second is the directory.
    """
    directories = _directories(whole_set)
    parents: set[str] = set()
    if whole_set.home is not None:
        parents = {str(parent) for directory in directories for parent in PurePosixPath(directory).parents} - {"/", *directories}
    choices: list[bytes] = []
    for names, end in ((directories, rb"(?=[/\s\"',;)]|$)"), (parents, rb"(?=/?(?:[\s\"']|$))")):
        if names:
            longest_first = sorted(names, key=len, reverse=True)
            choices.append(b"(?:" + b"|".join(re.escape(os.fsencode(name)) for name in longest_first) + b")" + end)
    return re.compile(rb"(?<![\w./-])(@[\w.-]+)?(" + b"|".join(choices) + b")", re.MULTILINE) if choices else None


def _directories(whole_set: WholeSet) -> set[str]:
    return {os.path.dirname(os.path.normpath(path)) for path in (*whole_set.files, *whole_set.gone) if os.path.isabs(path)}


def working_directory_in(tree: Path, whole_set: WholeSet) -> Path:
    """Return the directory in the tree that HAProxy needs as its working directory."""
    return _place(tree, str(whole_set.home)) if whole_set.home else tree / "home"


def _rewritten(pattern: re.Pattern[bytes] | None, tree: Path, content: bytes | Path) -> bytes:
    """Return a text with its paths rewritten to point into the tree."""
    text = content.read_bytes() if isinstance(content, Path) else content
    root = os.fsencode(tree / "root")
    return (
        b"".join(pattern.sub(lambda match: (match[1] or b"") + root + match[2], text[start:end]) for start, end in pieces(text))
        if pattern
        else text
    )


def _place(tree: Path, path: str) -> Path:
    """Return the path in `tree` that stands for `path` in the configuration. `..` in `path` cannot lead out of the tree."""
    return tree / "root" / os.path.normpath(path).lstrip("/") if os.path.isabs(path) else tree / "home" / os.path.normpath("/" + path)[1:]


def _write(path: Path, content: bytes | Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, Path):
        path.symlink_to(content)
    else:
        path.write_bytes(content)


def _link_others(real: Path, copy: Path, gone: Collection[Path]) -> None:
    """Create symbolic links in the directory `copy` to the files in `real`, except to files that `copy` has already and to files in `gone`.

    Directories that this process may not list are skipped.
    """
    with suppress(PermissionError):
        for file in real.iterdir() if real.is_dir() else ():
            place = copy / file.name
            if place.is_dir() and not place.is_symlink() and file.is_dir():
                _link_others(file, place, gone)
            elif place not in gone and not os.path.lexists(place):
                place.symlink_to(file)
