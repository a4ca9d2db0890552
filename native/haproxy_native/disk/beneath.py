"""Open files below a directory, and refuse links that lead out of the directory, even links that are replaced meanwhile.

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
    """Return the descriptor of a file. Raises OSError, with EXDEV for a link that leads out of the directory."""
    with ExitStack() as held:
        # The descriptors of `directory` and of the directories in it that lead to the current one.
        below = [_close_with(held, os.open(directory, _DIRECTORY))]
        parts, links = list(PurePosixPath(name).parts), 0
        while True:
            part = parts.pop(0) if parts else "."
            if part == "..":
                below.pop()
            elif (target := _read_link(part, below[-1])) is not None:
                links += 1
                parts = [*_parts_of_target(target, directory, below), *parts]
            elif parts:
                below.append(_close_with(held, os.open(part, _DIRECTORY | os.O_NOFOLLOW, dir_fd=below[-1])))
            else:
                return os.open(part, flags | _CLOSED, dir_fd=below[-1])
            if not below:
                raise OSError(errno.EXDEV, "a link leads out of the directory", str(directory / name))
            if links > MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(directory / name))


def _close_with(held: ExitStack, descriptor: int) -> int:
    held.callback(os.close, descriptor)
    return descriptor


def _read_link(name: str, directory: int) -> str | None:
    """Return the target of a link in an open directory; None if the name is not a link."""
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise


def _parts_of_target(target: str, directory: Path, below: list[int]) -> tuple[str, ...]:
    """Return the parts of a link's target, relative to the last directory in `below`.

    For an absolute target, shorten `below` to `directory`. If the target is outside `directory`, return `..`.
    """
    if not target.startswith("/"):
        return PurePosixPath(target).parts
    del below[1:]
    for start in (directory, Path(os.path.realpath(directory))):
        if PurePosixPath(target).is_relative_to(start):
            return PurePosixPath(target).relative_to(start).parts
    return ("..",)
