"""Prepare the edits of stored files for the renaming of a stored file, or of an object that stored files refer to."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from haproxy_native.changes.file_operations import Contents, EditFiles
from haproxy_native.editing.file_references import is_same_file
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BadValue, Exists, Place
from haproxy_native.references.lookups import LIST, ReferringEntry
from haproxy_native.references.object_references import with_name_at
from haproxy_native.references.pattern import NAME
from haproxy_native.storage import list_files
from haproxy_native.storage.certificate_store import EXTRA_FILES, CertificateStore
from haproxy_native.storage.crt_list import lines_naming
from haproxy_native.storage.store import Store, is_file_name, uploaded_name
from haproxy_native.text.document import Document
from haproxy_native.text.pieces import split_lines

# The extensions of files that HAProxy reads together with a certificate.
ALONG = (".key", *EXTRA_FILES)


@dataclass(frozen=True)
class StoredFile:
    store: Store
    path: Path


def check_name(file: StoredFile, name: str) -> None:
    """Check the new name of a stored file.

    Raises BadValue if the store does not accept the name, and Exists if another file has the name.
    """
    stored_name = file.store.name_of(name) or uploaded_name(name)
    if name != stored_name or not is_file_name(name):
        text = f"to in body: {name[:100]!r} is not a valid name for a stored file"
        raise BadValue(f"{text}; expected {stored_name!r}" if stored_name else text, place=Place(member="to"))
    if name != file.path.name and os.path.lexists(file.path.with_name(name)):
        raise Exists(f"{spelled(file.store.kind, name)} already exists")


def suggestion(store: Store, name: str) -> str:
    """Return a suggestion to append to an error, such as `; the nearest is map/hosts.map`; empty if no stored file has a similar name."""
    close = get_close_matches(name[:100], [path.name for path in store.files()], 1, 0.5)
    return f"; the nearest is {spelled(store.kind, close[0])}" if close else ""


def crt_list_entries(file: StoredFile, document: Document, directory: str) -> list[ReferringEntry]:
    """Return the entries of crt-lists that refer to a stored certificate. Empty if the file is not a certificate."""
    if not isinstance(file.store, CertificateStore):
        return []
    entries = []
    for line in lines_naming(document, file.path, directory):
        text = Path(line.section).read_bytes().decode("utf-8", "surrogateescape")
        lines = split_lines(text)
        start = sum(map(len, lines[: line.line - 1])) + lines[line.line - 1].index(line.keyword) + len(line.keyword)
        entries.append(ReferringEntry(line.section, line.line, line.text, start - len(file.path.name), start, LIST))
    return entries


def edits_to_move(file: StoredFile, name: str, lists: Sequence[Path]) -> EditFiles:
    """Return the edits that rename a stored file.

    If the file is a certificate, the edits also rename the files that HAProxy reads together with the certificate. `lists`: the crt-lists
    in which to replace the name of the certificate.
    """
    old, new = file.path, file.path.with_name(name)
    ends = [end for end in ALONG if isinstance(file.store, CertificateStore) and _beside(old, end).exists()]
    moves = {old: new} | {_beside(old, end): _beside(new, end) for end in ends}

    def edit(before: Contents) -> Contents:
        after: dict[Path, bytes | None] = {}
        for source, destination in moves.items():
            after |= {source: None, destination: before[source]}
        for path in lists:
            if (data := before[path]) is None:
                after[path] = None
            else:
                lines = split_lines(data.decode("utf-8", "surrogateescape"))
                after[path] = "".join(_rename_in_line(line, old, name) for line in lines).encode("utf-8", "surrogateescape")
        return after

    return EditFiles(dict.fromkeys([*moves, *moves.values(), *lists], file.store), edit, is_checked=False)


def _beside(path: Path, end: str) -> Path:
    return path.with_name(f"{path.name}{end}")


def _rename_in_line(line: str, certificate: Path, name: str) -> str:
    """Return a line of a crt-list. If the line refers to `certificate`, the file name in the line is replaced by `name`."""
    file = line.split("[")[0].split()[:1]
    if not file or not is_same_file(os.path.join(certificate.parent, file[0]), str(certificate)):
        return line
    end = line.index(file[0]) + len(file[0])
    return with_name_at(line, [(end - len(certificate.name), end, NAME)], name)


# Returns the references to an object in a file, given its path and text.
Find = Callable[[str, str], Iterable[ReferringEntry]]


def edits_to_rename(stores: Mapping[Path, Store], find: Find, old: str, new: str) -> EditFiles:
    """Return the edits that replace the name `old` of an object by `new` in maps and crt-lists.

    `stores`: the store of each file to edit, by the path of the file.
    """

    def edit(before: Contents) -> Contents:
        after: dict[Path, bytes | None] = {}
        for path in stores:
            if (data := before[path]) is None:
                after[path] = None
                continue
            text = data.decode("utf-8", "surrogateescape")
            text = with_name_at(text, [(entry.start, entry.end, entry.form) for entry in find(str(path), text)], new)
            after[path] = list_files.rename_backend(text, old, new).encode("utf-8", "surrogateescape")
        return after

    return EditFiles(stores, edit, is_checked=False)
