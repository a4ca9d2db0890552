"""Set the properties of the server's process in the operating system: pid file, limit of open files, umask, user and group."""

import os
import pwd
import resource
from collections.abc import Callable
from pathlib import Path

from dataplaneapi.settings.table import SettingsError
from haproxy_native.disk.atomic import write_atomically

# The group may read, as in the directories of the settings (0750). Other users have no access.
UMASK = 0o027


def write_pid_file(path: str) -> None:
    """Write the pid of this process to the file at `path`.

    Raises SettingsError if the file cannot be written, contains the pid of another running process, or contains something else than a pid.
    """
    target = Path(path)
    try:
        stored_pid = target.read_text(errors="replace") if target.exists() else ""
        pid = int(stored_pid) if stored_pid.strip() else os.getpid()
        if pid != os.getpid() and Path(f"/proc/{pid}").exists():
            raise SettingsError(f"process with PID {pid} already exists")
        write_atomically(target, str(os.getpid()).encode(), mode=0o644, durable=False)
    except ValueError:
        raise SettingsError(f"error while parsing PID file content: {stored_pid.strip()[:40]!r} is not a number") from None
    except OSError as error:
        raise SettingsError(f"pid_file: {path} cannot be written: {error.strerror}") from None


def allow_open_files(number: int) -> int:
    """Raise the soft limit of open files to `number`, or to the hard limit if the hard limit is lower.

    Return how many files may be open, at most `number`.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= number:
        return number
    allowed = number if hard == resource.RLIM_INFINITY else min(number, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed


def limit_modes() -> None:
    """Tighten the umask, so that other users have no access to new files."""
    os.umask(os.umask(UMASK) | UMASK)


def drop_privileges(uid: int, gid: int) -> None:
    """Change the groups of this process, then its user. 0 means no change. Raises SettingsError.

    If `uid` is set, the process gets the supplementary groups of that user. If `gid` is 0 as well, it also gets the primary group of the
    user, so that it leaves the group of root. A process that is not root keeps its groups if it already has the user and the group.
    Otherwise, the change fails.
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
                raise SettingsError(f"set uid: there is no user with the id {uid} whose group could be used; set gid as well") from None
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
