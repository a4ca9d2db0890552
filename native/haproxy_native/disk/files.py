"""Read and replace all files of a configuration together (HAProxy's option `-f`, given more than once or with a directory).

From a directory, HAProxy loads `*.cfg` in the order of their names (management guide, section 3, option -f). The texts of several files are
joined (haproxy_native.text.parts); a single file is read as it is. A commit that changes more than one file writes a manifest first.
"""

import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import md5
from pathlib import Path
from types import MappingProxyType
from typing import Any

from haproxy_native.check.check import Checked
from haproxy_native.disk.file import ConfigFile, Draft, FileStamp, latest
from haproxy_native.disk.journal import Manifest, ManifestEntry
from haproxy_native.errors import EditedMeanwhile, NativeError, NotFound, Unreadable, WriteFailed
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.text.parts import MAIN


@dataclass(frozen=True)
class FileStamps:
    """The stamps of several files."""

    each: tuple[tuple[str, FileStamp | None], ...]
    # The latest `FileStamp.written` of the files. Includes changes of the directories, where files may have been added or removed.
    written: int = field(compare=False)


class ConfigFiles:
    """The files of a configuration. `path`: the main file, which has the header. `before`, `after`: files or directories that HAProxy loads
    before and after it.
    """

    def __init__(
        self, path: str | os.PathLike[str], state: Path, before: Sequence[str] = (), after: Sequence[str] = (), system: Any = os
    ) -> None:
        self.path, self.state, self.system = Path(path), state, system
        self._before, self._after = before, after

    @property
    def manifest(self) -> Manifest:
        return Manifest(self.state / f"{self.path.name}.manifest", self.system)

    @property
    def main(self) -> ConfigFile:
        return ConfigFile(self.path, self.state, self.system)

    def names(self) -> list[str]:
        """Return the names of all files in the order in which HAProxy loads them: MAIN for the main file, else the path."""
        before, after = self._names_of(self._before), self._names_of(self._after)
        paths = [*before, *([] if MAIN in (*before, *after) else [MAIN]), *after]
        return list(dict.fromkeys(paths))

    def _names_of(self, given: Sequence[str]) -> list[str]:
        """Return the names of the files in `given`, which are files or directories."""
        paths: list[str] = []
        for entry in given:
            inside = sorted(Path(entry).glob("*.cfg"), key=lambda path: os.fsencode(path.name)) if Path(entry).is_dir() else [Path(entry)]
            paths += [str(path) for path in inside if not path.name.startswith(".") and not path.is_dir()]
        main = self.path.absolute()
        return [MAIN if Path(path).absolute() == main else path for path in paths]

    def file(self, name: str) -> ConfigFile:
        if name == MAIN:
            return self.main
        path = Path(name)
        return ConfigFile(path, self.state, self.system, label=f"{path.name}-{md5(name.encode(), usedforsecurity=False).hexdigest()[:8]}")

    def resolve_name(self, asked: str) -> str:
        """Return the name (as in `names`) of the file with the path or the base name `asked`. Raises NotFound if none or several match."""
        by_path = {str(self.path): MAIN, **{name: name for name in self.names() if name != MAIN}}
        paths = [asked] if asked in by_path else [path for path in by_path if asked == Path(path).name]
        if len(paths) != 1:
            raise NotFound(f"{asked} is {'more than' if paths else 'not'} one of the configuration's files: {', '.join(by_path)}")
        return by_path[paths[0]]

    def read(self) -> bytes:
        """Return the text of all files, joined. Raises Unreadable."""
        try:
            return parts.join([(name, self.file(name).read()) for name in self.names()])
        except ValueError as error:
            raise Unreadable(str(error)) from error

    def contains_only(self, document: Document) -> bool:
        """Return whether the configuration is one file that contains this document. Reads the file in pieces."""
        if self.names() != [MAIN] or parts.is_joined(document):
            return False
        try:
            with self.path.open("rb") as file:
                return all(file.read(len(piece)) == piece for piece in document.pieces()) and not file.read(1)
        except OSError:
            return False

    def read_stamp(self) -> FileStamp | FileStamps | None:
        """Return the stamp of all files; None if the main file does not exist."""
        names, main = self.names(), self.main.read_stamp()
        if len(names) == 1 or main is None:
            return main
        stamps = tuple((name, self.file(name).read_stamp()) for name in names)
        moments = [stamp.written for _, stamp in stamps if stamp]
        for directory in filter(os.path.isdir, (*self._before, *self._after)):
            moments.append(latest(os.stat(directory).st_mtime_ns))
        return FileStamps(stamps, max(moments))

    def recover(self) -> bool:
        """Finish the writes that a crash has interrupted. Return whether there were any."""
        completed = [self.file(name).recover() for name in self.names()]
        rest = self.manifest.rest()
        for entry in rest:
            self.put(entry.path, entry.new)
        self.manifest.end()
        return any(completed) or bool(rest)

    def restore_torn(self) -> bool:
        """Restore the old content of files that a failed write has overwritten in part, and return whether there were any.

        Raises Unreadable.
        """
        try:
            restored = [self.file(name).journal.undo() for name in self.names()]
        except OSError as error:
            text = f"{error.filename or self.path} is half written since a write failed, and cannot be put back: {error.strerror}"
            raise Unreadable(text) from error
        return any(restored)

    def checked(self, document: Document) -> list[Checked]:
        """Return the files on disk as input for a check. `document`: their joined text."""
        return Drafts(self, self.names(), {}).checked(document)

    def put(self, path: str, data: bytes) -> None:
        """Replace one file, without comparing its current content. Raises WriteFailed."""
        self.file(MAIN if path == str(self.path) else path).draft(data, str(uuid.uuid4())).install()

    def draft(self, document: Document, name: str) -> "Drafts":
        """Write drafts of the main file, and of each other file that a document changes. Raises WriteFailed."""
        names = self.names()
        if names == [MAIN] and not parts.is_joined(document):
            return Drafts(self, names, {MAIN: self.main.draft(document.pieces(), name)})
        texts = parts.split(document.data)
        if set(texts) != set(names):
            differ = ", ".join(sorted(name or str(self.path) for name in set(texts) ^ set(names)))
            raise WriteFailed(f"the configuration is no longer made of the same files: {differ}")
        drafts: dict[str, Draft] = {}
        try:
            for file_name in names:
                if file_name == MAIN or self.file(file_name).read() != texts[file_name]:
                    drafts[file_name] = self.file(file_name).draft(texts[file_name], name)
        except NativeError:
            for draft in drafts.values():
                draft.discard()
            raise
        return Drafts(self, names, drafts)


class Drafts:
    """Drafts of files, which are installed together or not at all."""

    def __init__(self, files: ConfigFiles, names: Sequence[str], drafts: dict[str, Draft]) -> None:
        self.files, self._names, self._drafts = files, names, drafts

    @property
    def path(self) -> Path:
        """The path of the main file's draft."""
        return self._drafts[MAIN].path

    def checked(self, document: Document, sent: Mapping[str, int] = MappingProxyType({})) -> list[Checked]:
        """Return all files of the configuration as input for a check, in load order. HAProxy reads a draft instead of the file.

        `sent`: by file name, the number of lines of the text that the client sent, before the header was added.
        """
        documents, files = parts.parts(document), []
        for name in self._names:
            file = self.files.file(name).path
            path, new = self._drafts[name].path if name in self._drafts else file, documents.get(name)
            shift = new.text.count("\n") - sent[name] if new and name in sent else 0
            files.append(Checked(path, file, new, name == MAIN, shift))
        return files

    def is_installed_as(self, seen: FileStamp | FileStamps | None) -> bool:
        """Return whether a stamp has the modification time of the installed draft, which any later write changes."""
        return isinstance(seen, FileStamp) and seen.modified == self._drafts[MAIN].dated

    def sync(self) -> None:
        """Block until all drafts are on disk, so that `install` need not wait for that. Raises WriteFailed."""
        for draft in self._drafts.values():
            draft.sync()

    def discard(self) -> None:
        for draft in self._drafts.values():
            draft.discard()

    def install(self, untouched: Callable[[], bool] = lambda: True) -> None:
        """Replace the files by the drafts. Raises WriteFailed and EditedMeanwhile; all files then have their old contents."""
        try:
            self.files.manifest.end()
            if len(self._drafts) == 1:
                return self._drafts[MAIN].install(untouched)
            self._install_together(untouched)
        except OSError as error:
            raise self.files.main.failure(error) from error
        finally:
            self.discard()
        with suppress(OSError):
            self.files.manifest.end()

    def _install_together(self, untouched: Callable[[], bool]) -> None:
        stamps = [draft.file.read_stamp() for draft in self._drafts.values()]
        if not untouched():
            raise EditedMeanwhile(f"{self.files.path}, or a file loaded with it, has just been edited by another process")
        entries = [ManifestEntry(str(draft.file.path), draft.file.read(), draft.path.read_bytes()) for draft in self._drafts.values()]
        self.files.manifest.begin(entries)
        for number, (draft, stamp) in enumerate(zip(self._drafts.values(), stamps, strict=True)):
            try:
                draft.install(partial(draft.file.has_stamp, stamp))
            except NativeError:
                # If restoring the replaced files fails, the manifest stays, so that the next start completes the commit.
                for entry in entries[:number]:
                    self.files.put(entry.path, entry.old)
                with suppress(OSError):
                    self.files.manifest.end()
                raise
