"""When a file has to be read again: what stat(2) says of it, as one value to compare."""

import os

Stamp = tuple[int, ...]


def stamp(path: str | os.PathLike[str]) -> Stamp | None:
    """Differs after every write and exchange of the file, or of a link on the way to it; None where there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
