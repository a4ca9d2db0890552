"""The unit files of this server and of HAProxy, read as files; systemd need not run."""

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

# The first that has a unit is in force (systemd.unit(5)).
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


@dataclass(frozen=True)
class Unit:
    """A service with the options of its section `[Service]`, those of drop-ins behind its own."""

    path: Path
    options: dict[str, list[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def command(self) -> list[str]:
        """The words that start it."""
        texts = self.options.get("ExecStart", [""])
        with suppress(ValueError):
            return shlex.split(texts[-1].lstrip("-@:+!"))
        return []

    @property
    def has_own_tmp(self) -> bool:
        return self.options.get("PrivateTmp", [""])[-1].lower() in _YES


def unit(name: str, places: Sequence[Path]) -> Unit | None:
    """The service of that name that is in force."""
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
    """Services beside ours that start a server of this API."""
    names = sorted({file.name for place in places for file in place.glob("*.service")} - {OURS})
    units = (unit(name, places) for name in names)
    return [unit for unit in units if unit and unit.command and _SERVER.search(os.path.basename(unit.command[0]))]


def is_wanted(name: str, places: Sequence[Path]) -> bool:
    """Whether the start of the machine starts it; `name` may be a pattern."""
    wanting = [path for place in places for kind in ("*.wants", "*.requires") for path in place.glob(kind)]
    return any(fnmatch.filter(os.listdir(directory), name) for directory in wanting)


def is_trying(name: str) -> bool:
    """Whether systemd runs it, or starts it again and again."""
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
