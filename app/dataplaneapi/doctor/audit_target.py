"""Whether the audit log can be written. Nothing is."""

import os
import socket
import stat
from pathlib import Path

from dataplaneapi.settings.audit import COLLECTOR, AuditSettings


def trouble(settings: AuditSettings, collector: str = COLLECTOR) -> str:
    """Why it cannot be written by this user; empty where it can."""
    return _of_collector(collector) if settings.path is None else _of_file(settings.path)


def _of_collector(path: str) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        try:
            end.connect(path)
        except OSError as error:
            return f"nothing reads {path}: {error.strerror}"
    return ""


def _of_file(path: Path) -> str:
    """The log is made with its directories, which those above them must permit."""
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        above = next(parent for parent in path.parents if parent.exists())
        return "" if above.is_dir() and os.access(above, os.W_OK | os.X_OK) else f"{path} cannot be made: {above} cannot be written"
    except OSError as error:
        return f"{path}: {error.strerror}"
    if not stat.S_ISREG(there.st_mode):
        return f"{path} is no file; a link is not followed"
    return "" if os.access(path, os.W_OK) else f"{path} cannot be written"
