"""Lints a configuration together with the files that it names. Waits for the disk.

`Linting` is for the configuration of an engine; `gather_facts` reads the files for a configuration without one.
"""

import os
import posixpath
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from haproxy_native.beside import beside
from haproxy_native.editing.file_references import unreferenced
from haproxy_native.editing.object_names import spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import NativeError, Unusable
from haproxy_native.features.lint.files import CERTIFICATE, LIST, MAP, OTHER, named_files
from haproxy_native.features.lint.finding import Finding
from haproxy_native.features.lint.lint import Origin, findings
from haproxy_native.features.lint.view import Facts, File, View
from haproxy_native.storage import list_files
from haproxy_native.storage.certificate import holds_key, parse_certificates
from haproxy_native.text.document import Document

# HAProxy loads `site.pem.rsa` and its like if a line names `site.pem` (HAProxy Configuration Manual, section 5.1, crt).
BUNDLED = (".rsa", ".ecdsa", ".dsa")
# The largest file that is read, in bytes, and the most files of a directory that are.
LARGEST, MOST = 1 << 23, 10_000


class Linting:
    """Lints the configuration of one engine. `used` are the backends that service discovery keeps up to date."""

    def __init__(self, engine: Engine, used: Iterable[str] = ()) -> None:
        self._engine, self._used = engine, frozenset(used)

    async def findings(self, transaction_id: str | None = None, may_read: Callable[[str], bool] | None = None) -> list[Finding]:
        """Return the findings whose objects the caller may all read. Raises NoTransaction."""
        document = self._engine.read(transaction_id)
        staged = self._engine.context.transactions.staged(transaction_id).files if transaction_id else {}
        findings_ = await beside(self._found, document, {str(path): file.is_there for path, file in staged.items()})
        return [finding for finding in findings_ if may_read is None or all(map(may_read, (finding.object, *finding.others)))]

    def _found(self, document: Document, staged: Mapping[str, bool]) -> list[Finding]:
        """Return all findings. `staged` are the files of the transaction, and whether each will exist; their content is not read."""
        main = os.path.abspath(self._engine.context.current.path)
        # A configuration may name any file, but clients can read stored ones only: no values of others are quoted.
        facts = gather_facts(document, posixpath.dirname(main), lambda path: bool(self._object_of(path)))
        changed = {path: File(exists) for path, exists in staged.items()}
        unused = self._unused(document, facts, posixpath.dirname(main))
        facts = replace(facts, files={**facts.files, **changed}, unused=unused, used_backends=self._used | facts.used_backends)
        return findings(document, facts, Origin(main, self._object_of))

    def _unused(self, document: Document, facts: Facts, directory: str) -> list[str]:
        """Return the stored files that neither a line nor a list of certificates names."""
        paths = list[str]()
        for store in self._engine.stores.values():
            with suppress(Unusable):
                paths += [str(path) for path in store.files()]
        listed = {path for file in facts.files.values() for path in file.files}
        # A line names a certificate by its own name or by that of its bundle.
        named = {path: next((path.removesuffix(end) for end in BUNDLED if path.endswith(end)), path) for path in sorted(set(paths))}
        unnamed = set(unreferenced(document, [*named, *set(named.values())], directory))
        return [path for path, bundle in named.items() if {path, bundle} <= unnamed and path not in listed]

    def _object_of(self, path: str) -> str:
        store = self._engine.stores.of(Path(path))
        return spelled(store.kind, posixpath.basename(path)) if store else ""


def gather_facts(document: Document, directory: str, quotable: Callable[[str], bool] = lambda path: True) -> Facts:
    """Return what is known of the files that a document names. `directory` is that of the main file.

    Findings quote values of maps, so only maps whose path is `quotable` are read.
    """
    view = View(document, Facts(directory))
    files: dict[str, File] = {}
    for named in named_files(view):
        for path in named.paths:
            if path not in files or (named.kind == MAP and files[path].text is None):
                files[path] = _file(path, OTHER if named.kind == MAP and not quotable(path) else named.kind)
            for file in files[path].files:
                if file not in files:
                    files[file] = _file(file, CERTIFICATE)
    splits = (list_files.parse_split(file.text) for file in files.values() if file.text is not None)
    used = frozenset(name for split in splits if split for name in split.weights)
    return Facts(directory, datetime.now(UTC), files, used_backends=used)


def _file(path: str, kind: str) -> File:
    """Return what is known of a file. One that cannot be read counts as existing."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            files = tuple(sorted(entry.path for entry in os.scandir(path) if entry.is_file())[:MOST]) if kind == CERTIFICATE else ()
            return File(True, files=files)
        if kind not in (CERTIFICATE, LIST, MAP) or not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return File(True, status.st_mode)
        return _read(path, kind, status.st_mode)
    except FileNotFoundError:
        return File(False)
    except (OSError, ValueError):
        return File(True)


def _read(path: str, kind: str, mode: int) -> File:
    data = Path(path).read_bytes()
    if kind == MAP:
        return File(True, mode, text=data.decode("utf-8", "surrogateescape"))
    if kind == LIST:
        return File(True, mode, files=tuple(_listed(data.decode("utf-8", "surrogateescape"), posixpath.dirname(path))))
    return File(True, mode, holds_key(data), _end(data))


def _listed(text: str, directory: str) -> Iterator[str]:
    for line in text.splitlines():
        name = line.split("[")[0].split()[:1]
        if name and not name[0].startswith(("#", "@")):
            yield posixpath.normpath(posixpath.join(directory, name[0]))


def _end(data: bytes) -> datetime | None:
    try:
        return parse_certificates(data).served.not_valid_after_utc
    except (NativeError, ValueError):
        return None
