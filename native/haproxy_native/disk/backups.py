"""Store numbered copies of former versions of a file, `<file>.<version>`, and delete the oldest copies."""

import re
from contextlib import suppress
from pathlib import Path

from haproxy_native.disk.atomic import write_atomically
from haproxy_native.errors import Missing, Unreadable


class Backups:
    """At most `number` copies in `directory`, by default the directory of the file. If `number` is 0, no copies are kept."""

    def __init__(self, file: Path, number: int, directory: Path | None = None) -> None:
        self.file, self.number = file, number
        self._own_directory = directory is not None
        self.directory = directory or file.parent

    def for_file(self, name: str) -> "Backups":
        """Return the backups of the file with the path `name`; those of the main file if `name` is empty.

        If a directory for backups was given, the backups of another file are in its subdirectory with the name of that file's directory.
        """
        if not name:
            return self
        file = Path(name)
        return Backups(file, self.number, self.directory / file.parent.name if self._own_directory else None)

    def keep(self, version: int, data: bytes) -> None:
        """Store a version, and delete the oldest ones if there are more than `number`. Raises OSError."""
        if self.number <= 0:
            return
        if self._own_directory:
            self.directory.mkdir(mode=0o750, parents=True, exist_ok=True)
        write_atomically(self._path(version), data, like=self.file)
        name = re.compile(rf"{re.escape(self.file.name)}\.(\d+)")
        copies = []
        for path in self.directory.iterdir():
            with suppress(FileNotFoundError):
                if match := name.fullmatch(path.name):
                    copies.append((path.stat().st_mtime_ns, int(match[1]), path))
        # The order of time counts, since a push without a version check may lower the version.
        for _, _, path in sorted(copies)[: -self.number]:
            with suppress(FileNotFoundError):
                path.unlink()

    def read(self, version: int) -> bytes:
        """Return the text of a version. Raises Missing and Unreadable."""
        try:
            return self._path(version).read_bytes()
        except FileNotFoundError as error:
            raise Missing(f"backup file for version {version} does not exist") from error
        except OSError as error:
            raise Unreadable(f"Cannot read {self._path(version)}: {error.strerror}") from error

    def _path(self, version: int) -> Path:
        return self.directory / f"{self.file.name}.{version}"
