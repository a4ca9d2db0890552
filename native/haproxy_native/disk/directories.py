"""Check the directories that are configured in the settings, and create them on first use.

If a directory cannot be used, only the features that store something in it are disabled. Each use checks the directory again, so a repair
needs no restart.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from haproxy_native.disk import path_errors
from haproxy_native.errors import Unusable

_READ, _WRITE = os.R_OK | os.X_OK, os.R_OK | os.W_OK | os.X_OK
_REMEDIES = {
    **path_errors.REMEDIES,
    errno.ENOENT: "create it",
    errno.ENOTDIR: "remove the file at this path",
    errno.EPERM: "give the directory to the user of this process, or let the setting name another one",
    errno.EEXIST: "remove the file at this path",
}


@dataclass(frozen=True)
class Directory:
    """A directory that a setting names."""

    path: Path
    # The name of the setting.
    setting: str
    # The mode of a directory that is created here.
    mode: int = 0o750
    # Whether to refuse a directory whose owner is neither root nor the user of this process. Any user can create a directory in /tmp first.
    own: bool = False
    # Whether a missing directory is created.
    make: bool = True

    def readable(self) -> Path:
        """Return the path. Raises Unusable if the directory cannot be read or created."""
        return self._path_with(_READ)

    def writable(self) -> Path:
        """Return the path. Raises Unusable if the directory cannot be written or created."""
        return self._path_with(_WRITE)

    @contextmanager
    def used(self) -> Iterator[Path]:
        """Yield the path of the writable directory. Raises Unusable if it is not writable, or if the body raises OSError."""
        path = self.writable()
        try:
            yield path
        except OSError as error:
            raise self.unusable(error) from error

    def why_unwritable(self) -> str:
        """Return why the directory cannot be written or created; empty if it can. Changes nothing on the disk."""
        try:
            nearest = next(directory for directory in (self.path, *self.path.parents) if os.path.lexists(directory))
            self._check_owner(nearest)
            _check_rights(nearest, _WRITE)
            path_errors.check_space(nearest)
        except OSError as error:
            return str(self.unusable(error))
        return ""

    def unusable(self, error: OSError) -> Unusable:
        """Return an error with path, owner and remedy."""
        remedy = _REMEDIES.get(error.errno or 0) or f"give it write access to the directory, or let {self.setting} name another one"
        where = f" ({error.filename})" if error.filename and Path(error.filename) != self.path else ""
        facts = [f"{self.setting} {self.path} cannot be used: {error.strerror}{where}", path_errors.described(self.path), remedy]
        return Unusable("; ".join(filter(None, facts)))

    def _path_with(self, rights: int) -> Path:
        """Return the path. With `make`, create a missing directory. Raises Unusable without the permissions `rights` (as in os.access)."""
        try:
            if self.make:
                self.path.mkdir(mode=self.mode, parents=True, exist_ok=True)
            self._check_owner(self.path)
            _check_rights(self.path, rights)
        except OSError as error:
            raise self.unusable(error) from error
        return self.path

    def _check_owner(self, path: Path) -> None:
        if not self.own or path != self.path:
            return
        for status in (path.lstat(), path.stat()):
            if status.st_uid not in (0, os.geteuid()):
                raise OSError(errno.EPERM, "it belongs to another user", str(path))


def _check_rights(directory: Path, rights: int) -> None:
    """Raise OSError unless `directory` is a directory for which this process has all of these permissions (as in os.access)."""
    flags = os.statvfs(directory).f_flag
    if not directory.is_dir():
        number = errno.ENOTDIR
    elif not os.access(directory, rights, effective_ids=True):
        number = errno.EROFS if flags & os.ST_RDONLY and rights & os.W_OK else errno.EACCES
    else:
        return
    raise OSError(number, os.strerror(number), str(directory))
