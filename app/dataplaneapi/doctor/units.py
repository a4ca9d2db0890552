"""Read the systemd units of this server and of HAProxy, and list the programs that the settings and the unit start."""

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
from haproxy_native.units import Unit, unit

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


def other_servers(places: Sequence[Path]) -> list[Unit]:
    """Return the services other than ours that start a server of this API."""
    names = sorted({file.name for place in places for file in place.glob("*.service")} - {OURS})
    units = (unit(name, places) for name in names)
    return [unit for unit in units if unit and unit.command and _SERVER.search(os.path.basename(unit.command[0]))]


def is_wanted(name: str, places: Sequence[Path]) -> bool:
    """Return whether a unit is enabled, because another unit wants or requires it. `name` may be a pattern."""
    wanting = [path for place in places for kind in ("*.wants", "*.requires") for path in place.glob(kind)]
    return any(fnmatch.filter(os.listdir(directory), name) for directory in wanting)


def is_active_or_starting(name: str) -> bool:
    """Return whether systemd reports that a unit is active, starting or reloading."""
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
    """A program that the settings or the unit start."""

    # A path, or a name to look up in PATH.
    name: str
    # What it does, as the end of a sentence: "reloads HAProxy".
    use: str
    # The setting, or the option of the unit, that names it.
    key: str

    @property
    def path(self) -> str | None:
        """The path of the program, or None if it cannot be run."""
        return shutil.which(self.name)

    @property
    def remedy(self) -> str:
        package = PACKAGES.get(os.path.basename(self.name))
        return (f"apt-get install {package}, or " if package else "") + f"name another one in {self.key}"


def programs(settings: Settings, places: Sequence[Path]) -> list[ExternalProgram]:
    """Return the programs that the settings and the unit name, once for each use."""
    acme = [ExternalProgram(program, "sets records for dns-01", "dataplaneapi.acme_programs") for program in settings.acme_programs]
    commands = [*_checking_programs(settings), *_reloading_programs(settings), *acme, *_unit_programs(places)]
    return list(dict.fromkeys(commands))


def _checking_programs(settings: Settings) -> Iterator[ExternalProgram]:
    use = "reports its version" if settings.validate_cmd else "checks every change"
    yield ExternalProgram(settings.haproxy_bin, use, "haproxy.haproxy_bin")
    yield from _programs_of_command(_words(settings.validate_cmd), "checks every change", "haproxy.reload.validate_cmd")


def _reloading_programs(settings: Settings) -> Iterator[ExternalProgram]:
    with suppress(SettingsError):
        yield from _programs_of_command(reload_command(settings), "reloads HAProxy", "haproxy.reload.reload_cmd")
    with suppress(ValueError):
        yield from _programs_of_command(status_command(settings), "reports to /v3/health whether HAProxy runs", "haproxy.reload.status_cmd")


def _unit_programs(places: Sequence[Path]) -> Iterator[ExternalProgram]:
    ours = unit(OURS, places)
    commands = ours.options.get("ExecReload", []) if ours else []
    for command in commands:
        words = _words(command.lstrip("-@:+!"))
        yield from _programs_of_command(words, "is how systemctl reloads the server", f"ExecReload= of {OURS}")


def _programs_of_command(words: Sequence[str], use: str, key: str) -> Iterator[ExternalProgram]:
    """Yield the program of a command. If that is sudo, also yield the program that sudo starts."""
    for word in words[:1]:
        yield ExternalProgram(word, use, key)
        if os.path.basename(word) == "sudo":
            yield from _programs_of_command([word for word in words[1:] if not word.startswith("-")], use, key)


def _words(command: str) -> list[str]:
    """Return the words of a command. Return none if it cannot be split, which other checks report."""
    with suppress(ValueError):
        return shlex.split(command)
    return []
