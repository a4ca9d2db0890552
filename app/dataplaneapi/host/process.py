"""The process as the operating system sees it: pid file, limits, user and group."""

import os
import resource
from collections.abc import Callable
from pathlib import Path

from dataplaneapi.settings.table import SettingsError
from haproxy_native.disk.atomic import write_atomically


def write_pid_file(path: str) -> None:
    """Writes the own pid; SettingsError when a live process owns the file or it holds something else."""
    target = Path(path)
    try:
        held = target.read_text() if target.exists() else ""
        if held.strip():
            _check_owner(held)
        write_atomically(target, str(os.getpid()).encode(), mode=0o644, durable=False)
    except OSError as error:
        raise SettingsError(f"pid_file: {path} cannot be written: {error.strerror}") from None


def _check_owner(held: str) -> None:
    try:
        pid = int(held)
    except ValueError:
        raise SettingsError(f"error while parsing PID file content: {held.strip()[:40]!r} is not a number") from None
    if pid != os.getpid() and Path(f"/proc/{pid}").exists():
        raise SettingsError(f"process with PID {pid} already exists")


def allow_open_files(wanted: int) -> int:
    """Raises the soft limit on open files to `wanted`, or as near as the hard limit lets it; returns how many may be open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed


def drop_privileges(uid: int, gid: int) -> None:
    """Takes on the group, then the user; 0 leaves each as it is."""
    steps: list[tuple[str, Callable[[], None]]] = []
    if gid:
        steps += [("set groups", lambda: os.setgroups([])), ("set gid", lambda: os.setgid(gid))]
    if uid:
        steps += [("set uid", lambda: os.setuid(uid))]
    for name, step in steps:
        try:
            step()
        except OSError as error:
            raise SettingsError(f"{name}: {error.strerror}") from None
