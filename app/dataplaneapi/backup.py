"""The commands `dataplaneapi backup` and `dataplaneapi restore`: save the stored data of the server in one file, and restore it.

A backup has the files of the directory `dataplane_storage_dir`, and a consistent snapshot of the SQLite databases in this directory.
Because the snapshot is consistent, the server may run during a backup.
"""

import argparse
import gzip
import os
import shutil
import sqlite3
import stat
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, NoReturn, cast

from dataplaneapi import cli
from dataplaneapi.settings.table import SettingsError
from haproxy_native.disk.atomic import is_draft, move, write_atomically
from haproxy_native.disk.database import KEYS, STATE

COMMANDS = {
    "backup": "Back up the data of the server itself: history, owners, tests, tokens, open transactions. The server may run meanwhile.",
    "restore": "Restore a backup. Stop the server first, and move its directory (dataplane_storage_dir) aside, unless it is empty.",
}
# The directory of the databases.
_DATABASES = Path("engine/state")


def parser(command: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog=f"dataplaneapi {command}", description=COMMANDS[command], allow_abbrev=False)
    made.add_argument("file", metavar="FILE", help="the backup, a tar archive; it contains passwords and private keys")
    made.add_argument("-f", dest="settings_file", metavar="FILE", help=f"settings file; empty for none (default {cli.SETTINGS_FILE})")
    made.epilog = "Exit status: 0, or 1 with the reason on standard error."
    return made


def main(command: str, argv: Sequence[str]) -> NoReturn:
    """Run the command, and end the process with its status."""
    given = parser(command).parse_args(argv)
    flags = [] if given.settings_file is None else ["-f", given.settings_file]
    try:
        directory = Path(cli.settings(["check", *flags], os.environ).dataplane_storage_dir)
        (backup if command == "backup" else restore)(directory, Path(given.file))
    except (SettingsError, tarfile.TarError, sqlite3.Error) as error:
        sys.exit(f"dataplaneapi {command}: {error}")
    except OSError as error:
        sys.exit(f"dataplaneapi {command}: {error.filename or given.file}: {error.strerror}")
    sys.exit(0)


main_of_backup, main_of_restore = partial(main, "backup"), partial(main, "restore")


def backup(directory: Path, file: Path) -> None:
    """Write a backup of `directory` to `file`. If it raises OSError, sqlite3.Error or TarError, `file` is unchanged."""
    os.scandir(directory).close()
    if directory.resolve() in file.resolve().parents:
        raise OSError(0, f"it would be part of the next backup; put it outside of {directory}", str(file))
    with tempfile.TemporaryDirectory(prefix=f".{file.name}.", dir=file.parent) as scratch:
        made = Path(scratch, "backup")
        made.touch(mode=0o600)
        with tarfile.open(made, "w:gz") as archive:
            for path in sorted(directory.rglob("*")):
                is_plain = path.is_dir() or (path.is_file() and path.parent != directory / _DATABASES and not is_draft(path.name))
                if is_plain and not path.is_symlink():
                    with suppress(FileNotFoundError):
                        archive.add(path, str(path.relative_to(directory)), recursive=False)
            with _snapshots(directory / _DATABASES) as databases:
                for name, database in databases.items():
                    _copy_database(database, directory / _DATABASES / name, Path(scratch, name))
                    archive.add(Path(scratch, name), str(_DATABASES / name))
        with made.open("rb") as archived:
            write_atomically(file, _pieces(archived), mode=0o600)


def _pieces(source: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: source.read(1 << 20), b"")


@contextmanager
def _snapshots(directory: Path) -> Iterator[dict[str, sqlite3.Connection]]:
    """Yield connections to the databases in a directory, by file name.

    All of them read from one consistent snapshot while the body runs.
    """
    with ExitStack() as open_:
        names = [name for name in (STATE, KEYS) if (directory / name).exists()]
        if not names:
            yield {}
            return
        paths = [directory / name for name in (STATE, *names)]
        writer, *readers = (open_.enter_context(closing(sqlite3.connect(path, isolation_level=None))) for path in paths)
        # Writes to both databases happen while state.db is locked, so the readers start under this lock. On a read-only disk the lock
        # fails, but nothing is written either.
        with suppress(sqlite3.OperationalError):
            writer.execute("BEGIN IMMEDIATE")
        for reader in readers:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if writer.in_transaction:
            writer.execute("ROLLBACK")
        yield dict(zip(names, readers, strict=True))


def _copy_database(source: sqlite3.Connection, database: Path, copy: Path) -> None:
    copy.touch(mode=0o600)
    with closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    shutil.copystat(database, copy)
    with suppress(PermissionError):
        os.chown(copy, database.stat().st_uid, database.stat().st_gid)


def restore(directory: Path, file: Path) -> None:
    """Restore a backup to a directory that is missing or empty. If it raises OSError or TarError, the directory is unchanged."""
    if directory.exists() and any(directory.iterdir()):
        raise OSError(0, "it is not empty; stop the server and move it aside", str(directory))
    try:
        with (
            tarfile.open(file, "r:gz") as archive,
            tempfile.TemporaryDirectory(prefix=f".{directory.name}.", dir=directory.parent) as scratch,
        ):
            root = Path(scratch, "restored")
            root.mkdir(mode=0o750)
            if directory.exists():
                status = directory.stat()
                root.chmod(stat.S_IMODE(status.st_mode))
                with suppress(PermissionError):
                    os.chown(root, status.st_uid, status.st_gid)
            for member in archive:
                _extract(archive, member, root)
            # Read to the end of the file, where gzip verifies the checksum.
            for _ in _pieces(cast(IO[bytes], archive.fileobj)):
                pass
            if directory.exists():
                directory.rmdir()
            move(root, directory)
    except (EOFError, gzip.BadGzipFile, zlib.error, tarfile.TarError) as error:
        raise tarfile.TarError(f"{file} is no backup, or is damaged: {error}") from None


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, root: Path) -> None:
    parts = Path(member.name).parts
    if not (member.isfile() or member.isdir()) or Path(member.name).is_absolute() or ".." in parts:
        raise tarfile.TarError(f"{member.name} is no file of a backup")
    path = root / member.name
    if member.isdir():
        path.mkdir(parents=True, exist_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        source = archive.extractfile(member)
        assert source
        write_atomically(path, _pieces(source))
    with suppress(LookupError, PermissionError):
        shutil.chown(path, member.uname or member.uid, member.gname or member.gid)
    path.chmod(stat.S_IMODE(member.mode))
