"""Where the file of shapes stands: in the last directory that HAProxy loads, as the last file of it."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from haproxy_native.disk.atomic import write_atomically
from haproxy_native.text.parts import SHAPES

log = logging.getLogger(__name__)
HEADER = b"# Defaults sections from which backends are added without a reload. Written by dataplaneapi with reloads; do not edit.\n\n"


def missing(after: Sequence[str], number: int = 1) -> str:
    """Why there is no place for so many shapes, where HAProxy loads these files and directories last; empty where there is one."""
    if not number:
        return ""
    if not after or not Path(after[-1]).is_dir():
        return "the last file that HAProxy loads is in no directory that config_files_after names last"
    names = [path.name for path in Path(after[-1]).glob("*.cfg") if not path.name.startswith(".")]
    last = max(names, key=os.fsencode, default="")
    return f"{last} in {after[-1]} is loaded after {SHAPES}" if os.fsencode(last) > os.fsencode(SHAPES) else ""


def made(after: Sequence[str], like: Path, number: int) -> int:
    """Makes an empty file where there is none; 0, with a warning in the log, where there is no place for that number of shapes."""
    trouble = missing(after, number)
    try:
        if number and not trouble and not (path := Path(after[-1]) / SHAPES).exists():
            write_atomically(path, HEADER, like=like)
    except OSError as error:
        trouble = f"{error.filename}: {error.strerror}"
    if trouble:
        log.warning("shapes are off: %s", trouble)
    return 0 if trouble else number
