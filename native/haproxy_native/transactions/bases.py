"""The base documents of transactions, on disk and in memory, each stored once however many transactions share it."""

from contextlib import suppress
from hashlib import md5
from pathlib import Path

from haproxy_native.disk.atomic import write_atomically
from haproxy_native.text.document import CONFIGURATION, Document
from haproxy_native.text.outline import Outline


class Bases:
    """Documents by a key of their content; `file` is the configuration whose mode and owner they take."""

    def __init__(self, directory: Path, file: Path, outline: Outline = CONFIGURATION) -> None:
        self.directory, self._file, self._outline = directory, file, outline
        self._documents: dict[str, Document] = {}

    def store(self, document: Document) -> str:
        """Its key. Raises OSError."""
        for key, known in self._documents.items():
            if known is document:
                return key
        key = md5(document.data, usedforsecurity=False).hexdigest()
        if not self._path(key).exists():
            self.directory.mkdir(mode=0o755, parents=True, exist_ok=True)
            write_atomically(self._path(key), document.data, like=self._file, durable=False)
        self._documents[key] = document
        return key

    def load(self, key: str) -> Document:
        """Raises OSError when the file is gone."""
        if key not in self._documents:
            self._documents[key] = Document.parse(self._path(key).read_bytes(), outline=self._outline)
        return self._documents[key]

    def keep_only(self, keys: set[str]) -> None:
        """Forgets what no transaction starts from any more."""
        for key in set(self._documents) - keys:
            del self._documents[key]
        with suppress(OSError):
            for path in self.directory.iterdir():
                file, _, key = path.name.rpartition(".")
                if file == self._file.name and key not in keys:
                    path.unlink(missing_ok=True)
            self.directory.rmdir()

    def _path(self, key: str) -> Path:
        return self.directory / f"{self._file.name}.{key}"
