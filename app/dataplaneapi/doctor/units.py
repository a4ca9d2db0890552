"""Read the systemd units of this server and of HAProxy, and list the programs that the settings and the server's unit start."""

import fnmatch
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dataplaneapi.open_engine import HAPROXY_UNIT, reload_command, status_command
from dataplaneapi.settings.table import Settings, SettingsError
from haproxy_native.units import Unit, read_unit

OURS, OUR_SOCKETS, HAPROXY = "dataplaneapi.service", "dataplaneapi*.socket", HAPROXY_UNIT
_SERVER = re.compile(r"data-?plane-?api")
_TRYING = ("active", "activating", "reloading")
# The Debian packages of programs.
PACKAGES = {
    "haproxy": "haproxy",
    "kill": "procps",
    "s6-svc": "s6",
    "s6-svstat": "s6",
    "service": "init-system-helpers",
    "sudo": "sudo",
    "systemctl": "systemd",
}


def other_servers(directories: Sequence[Path]) -> list[Unit]:
    """Return the units of other services that start a server of this API."""
    names = sorted({file.name for directory in directories for file in directory.glob("*.service")} - {OURS})
    units = (read_unit(name, directories) for name in names)
    return [unit for unit in units if unit and unit.command and _SERVER.search(os.path.basename(unit.command[0]))]


def is_enabled(name: str, directories: Sequence[Path]) -> bool:
    """Return whether another unit wants or requires the unit `name`.

    If `name` is a pattern, return whether this is so for any matching unit.
    """
    links = [path for directory in directories for kind in ("*.wants", "*.requires") for path in directory.glob(kind)]
    return any(fnmatch.filter(os.listdir(path), name) for path in links)


def is_active_or_starting(name: str) -> bool:
    """Return whether systemd reports that a unit is active, starting or reloading. False if systemd does not answer."""
    systemctl = shutil.which("systemctl")
    if systemctl is None:
        return False
    with suppress(OSError, subprocess.TimeoutExpired):
        words, environment = [systemctl, "is-active", name], {"PATH": os.environ.get("PATH", os.defpath)}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=10, check=False)
        return done.stdout.strip() in _TRYING
    return False


@dataclass(frozen=True)
class ExternalProgram:
    """A program that the server starts because the settings name it, or that systemd starts because the server's unit names it."""

    # A path, or a name to look up in PATH.
    name: str
    # What it does, as the end of a sentence: "reloads HAProxy".
    use: str
    # The setting, or the option of the unit, that names it.
    key: str

    @property
    def path(self) -> str | None:
        """The path of the program, or None if there is no such program or it cannot be run."""
        return shutil.which(self.name)

    @property
    def remedy(self) -> str:
        package = PACKAGES.get(os.path.basename(self.name))
        return (f"apt-get install {package}, or " if package else "") + f"name another one in {self.key}"


def programs(settings: Settings, directories: Sequence[Path]) -> list[ExternalProgram]:
    """Return the programs that the settings and the server's unit start. A program with several uses is returned once for each use.

    `directories`: the directories with systemd units.
    """
    found = [
        ExternalProgram(
            settings.haproxy_bin, "reports its version" if settings.validate_cmd else "checks every change", "haproxy.haproxy_bin"
        )
    ]
    found += _programs_of_command(_words(settings.validate_cmd), "checks every change", "haproxy.reload.validate_cmd")
    with suppress(SettingsError):
        found += _programs_of_command(reload_command(settings), "reloads HAProxy", "haproxy.reload.reload_cmd")
    with suppress(ValueError):
        found += _programs_of_command(status_command(settings), "reports to /v3/health whether HAProxy runs", "haproxy.reload.status_cmd")
    found += [ExternalProgram(program, "sets records for dns-01", "dataplaneapi.acme_programs") for program in settings.acme_programs]
    ours = read_unit(OURS, directories)
    for command in ours.options.get("ExecReload", []) if ours else []:
        words = _words(command.lstrip("-@:+!"))
        found += _programs_of_command(words, "is how systemctl reloads the server", f"ExecReload= of {OURS}")
    return list(dict.fromkeys(found))


def _programs_of_command(words: Sequence[str], use: str, key: str) -> Iterator[ExternalProgram]:
    """Yield the program that a command starts and, if that is sudo, the program that sudo starts."""
    for word in words[:1]:
        yield ExternalProgram(word, use, key)
        if os.path.basename(word) == "sudo":
            yield from _programs_of_command([word for word in words[1:] if not word.startswith("-")], use, key)


def _words(command: str) -> list[str]:
    """Split a command into words. Return an empty list if this is impossible, which other checks report."""
    with suppress(ValueError):
        return shlex.split(command)
    return []
