"""When a file has to be read again: what stat(2) says of it, as one value to compare."""

import os

Stamp = tuple[int, ...]


def stamp(path: str | os.PathLike[str]) -> Stamp | None:
    """Differs after every write and exchange of the file, or of a link on the way to it; None where there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
