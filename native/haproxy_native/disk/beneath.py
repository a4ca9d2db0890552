"""Open files below a directory, and refuse links that lead out of it, even if one is replaced meanwhile.

Links that stay inside are followed, relative or absolute, since mounted secrets consist of them. openat2 with RESOLVE_BENEATH refuses
absolute links and is missing in some sandboxes, so the path is walked here with one descriptor for each directory.
"""

import errno
import os
from contextlib import ExitStack
from pathlib import Path, PurePosixPath

MOST_LINKS = 40
_CLOSED = os.O_CLOEXEC | os.O_NOFOLLOW
_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC


def opened(directory: Path, name: str, flags: int = os.O_RDONLY | os.O_NONBLOCK) -> int:
    """Return the descriptor of a file. Raises OSError, EXDEV for a link that leads out of the directory."""
    with ExitStack() as held:
        below = [_kept(held, os.open(directory, _DIRECTORY))]
        parts, links = list(PurePosixPath(name).parts), 0
        while True:
            part = parts.pop(0) if parts else "."
            if part == "..":
                below.pop()
            elif (target := _link(part, below[-1])) is not None:
                links += 1
                parts = [*_parts(target, directory, below), *parts]
            elif parts:
                below.append(_kept(held, os.open(part, _DIRECTORY | os.O_NOFOLLOW, dir_fd=below[-1])))
            else:
                return os.open(part, flags | _CLOSED, dir_fd=below[-1])
            if not below:
                raise OSError(errno.EXDEV, "a link leads out of the directory", str(directory / name))
            if links > MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(directory / name))


def _kept(held: ExitStack, descriptor: int) -> int:
    held.callback(os.close, descriptor)
    return descriptor


def _link(part: str, at: int) -> str | None:
    try:
        return os.readlink(part, dir_fd=at)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def _parts(target: str, directory: Path, below: list[int]) -> tuple[str, ...]:
    """Return the parts of a link's target, relative to the last directory in `below`.

    An absolute target within `directory` starts there again. Any other absolute target leads out of the directory.
    """
    if not target.startswith("/"):
        return PurePosixPath(target).parts
    del below[1:]
    for start in (directory, Path(os.path.realpath(directory))):
        if PurePosixPath(target).is_relative_to(start):
            return PurePosixPath(target).relative_to(start).parts
    return ("..",)
