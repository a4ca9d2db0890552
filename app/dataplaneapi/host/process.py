"""The process as the operating system sees it: pid file, limits, user and group."""

import os
import pwd
import resource
from collections.abc import Callable
from pathlib import Path

from dataplaneapi.settings.table import SettingsError
from haproxy_native.disk.atomic import write_atomically

# The group may read, as the directories of the settings are made for it (0750); nobody else may anything.
UMASK = 0o027


def write_pid_file(path: str) -> None:
    """Writes the own pid; SettingsError when a live process owns the file or it holds something else."""
    target = Path(path)
    try:
        held = target.read_text(errors="replace") if target.exists() else ""
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


def limit_modes() -> None:
    """Tighten the umask, so that no file that is created from now on is open to other users."""
    os.umask(os.umask(UMASK) | UMASK)


def drop_privileges(uid: int, gid: int) -> None:
    """Takes on the groups, then the user; 0 leaves each as it is.

    A user gets its supplementary groups and, without a `gid`, its primary one: group 0 is not kept. Raises SettingsError.

    A process that is not root and already has that user and group keeps its groups, which it could not change.
    """
    if os.getuid() and uid in (0, os.getuid()) and gid in (0, os.getgid()):
        return
    steps: list[tuple[str, Callable[[], None]]] = []
    name = ""
    if uid:
        try:
            user = pwd.getpwuid(uid)
        except KeyError:
            if not gid:
                raise SettingsError(f"set uid: there is no user with the id {uid}, and so no group; name gid as well") from None
        else:
            name, gid = user.pw_name, gid or user.pw_gid
    if gid:
        groups = (lambda: os.initgroups(name, gid)) if name else (lambda: os.setgroups([]))
        steps += [("set groups", groups), ("set gid", lambda: os.setgid(gid))]
    if uid:
        steps += [("set uid", lambda: os.setuid(uid))]
    for name_of_step, step in steps:
        try:
            step()
        except OSError as error:
            raise SettingsError(f"{name_of_step}: {error.strerror}") from None
