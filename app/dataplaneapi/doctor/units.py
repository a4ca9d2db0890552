"""Read the systemd units of this server and of HAProxy, and list the programs that the settings and the unit start.

The units are read from their files, which works without a running systemd.
"""

import fnmatch
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from dataplaneapi.open_engine import reload_command, status_command
from dataplaneapi.settings.table import Settings, SettingsError

# The first directory that has a unit takes precedence (systemd.unit(5)).
PLACES = tuple(
    map(
        Path,
        ("/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"),
    )
)
OURS, OUR_SOCKETS, HAPROXY = "dataplaneapi.service", "dataplaneapi*.socket", "haproxy.service"
_SERVER = re.compile(r"data-?plane-?api")
_YES = ("yes", "true", "1", "on", "connected", "disconnected")
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


@dataclass(frozen=True)
class Unit:
    """A systemd service. `options` has the values of each key in the section `[Service]`, those of drop-ins last."""

    path: Path
    options: dict[str, list[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def command(self) -> list[str]:
        """The words of the command that starts the service. Empty if there is no command, or if it cannot be split into words."""
        texts = self.options.get("ExecStart", [""])
        with suppress(ValueError):
            return shlex.split(texts[-1].lstrip("-@:+!"))
        return []

    @property
    def has_own_tmp(self) -> bool:
        return self.options.get("PrivateTmp", [""])[-1].lower() in _YES


def unit(name: str, places: Sequence[Path]) -> Unit | None:
    """Return the service of this name from the first directory that has it, with its drop-ins, or None if there is none."""
    path = next((place / name for place in places if (place / name).is_file()), None)
    if path is None:
        return None
    result = Unit(path)
    dropped = {file.name: file for place in reversed(places) for file in (place / f"{name}.d").glob("*.conf")}
    for file in (path, *(dropped[name] for name in sorted(dropped))):
        for key, value in _options(file):
            result.options.setdefault(key, []).append(value)
    return result


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


def _options(file: Path) -> Iterator[tuple[str, str]]:
    try:
        text = file.read_text("utf-8", "replace")
    except OSError:
        return
    section = ""
    for line in re.sub(r"\\\n", " ", text).splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line
        elif section == "[Service]" and line[:1] not in ("#", ";", ""):
            key, _, value = line.partition("=")
            yield key.strip(), value.strip()


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
