"""The programs that this server and its unit start, each with its use and its package in Debian."""

import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dataplaneapi.doctor import units
from dataplaneapi.open_engine import reload_command, status_command
from dataplaneapi.settings.table import Settings, SettingsError

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
class Program:
    """`name` is a path, or looked for along PATH; `key` is the setting or the place that names it."""

    name: str
    use: str
    key: str

    @property
    def path(self) -> str | None:
        """Returns the program's path; None if none of that name can be run."""
        return shutil.which(self.name)

    @property
    def remedy(self) -> str:
        package = PACKAGES.get(os.path.basename(self.name))
        return (f"apt-get install {package}, or " if package else "") + f"name another one in {self.key}"


def programs(settings: Settings, places: Sequence[Path]) -> list[Program]:
    """Return all programs that the settings and the unit name, each once for each use."""
    acme = [Program(program, "sets records for dns-01", "dataplaneapi.acme_programs") for program in settings.acme_programs]
    commands = [*_that_check(settings), *_that_reload(settings), *acme, *_of_the_unit(places)]
    return list(dict.fromkeys(commands))


def _that_check(settings: Settings) -> Iterator[Program]:
    use = "tells its version" if settings.validate_cmd else "checks every change"
    yield Program(settings.haproxy_bin, use, "haproxy.haproxy_bin")
    yield from _started(_words(settings.validate_cmd), "checks every change", "haproxy.reload.validate_cmd")


def _that_reload(settings: Settings) -> Iterator[Program]:
    with suppress(SettingsError):
        yield from _started(reload_command(settings), "reloads HAProxy", "haproxy.reload.reload_cmd")
    with suppress(ValueError):
        yield from _started(status_command(settings), "tells /v3/health whether HAProxy runs", "haproxy.reload.status_cmd")


def _of_the_unit(places: Sequence[Path]) -> Iterator[Program]:
    unit = units.unit(units.OURS, places)
    commands = unit.options.get("ExecReload", []) if unit else []
    for command in commands:
        words = _words(command.lstrip("-@:+!"))
        yield from _started(words, "is how systemctl reloads the server", f"ExecReload= of {units.OURS}")


def _started(words: Sequence[str], use: str, key: str) -> Iterator[Program]:
    """The first word; with sudo also what that starts."""
    for word in words[:1]:
        yield Program(word, use, key)
        if os.path.basename(word) == "sudo":
            yield from _started([word for word in words[1:] if not word.startswith("-")], use, key)


def _words(command: str) -> list[str]:
    """Returns the words of a command; None if it cannot be split, which its user reports."""
    with suppress(ValueError):
        return shlex.split(command)
    return []
