"""Complete copies of the configuration beside the real one: written atomically, with the owner and mode of what they are copies of."""

import os
import stat
import uuid
from contextlib import suppress
from pathlib import Path


def write_copy(path: Path, data: bytes, like: Path | None = None, *, durable: bool = True) -> None:
    """Replaces a file; `durable` waits for the disk. Raises OSError with the former content in place."""
    draft = path.with_name(f".{path.name}.{uuid.uuid4()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            _take_over(handle, like)
            file.write(data)
            file.flush()
            if durable:
                os.fsync(handle)
        draft.replace(path)
    except BaseException as error:
        with suppress(OSError):
            draft.unlink()
        if isinstance(error, OSError):
            # what goes wrong in an open file has no name
            error.filename = error.filename or str(path)
        raise


def mode_like(path: Path | None) -> int:
    """The permissions of a file that holds what another one holds."""
    with suppress(OSError):
        if path:
            return stat.S_IMODE(path.stat().st_mode) & 0o666
    return 0o600


def _take_over(handle: int, like: Path | None) -> None:
    with suppress(OSError):
        if like:
            owner = like.stat()
            os.fchown(handle, owner.st_uid, owner.st_gid)
    os.fchmod(handle, mode_like(like))
