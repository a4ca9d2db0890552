"""Read systemd's units of services from their files, so that this works without a running systemd (systemd.unit(5))."""

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

# The first directory that has a unit takes precedence (systemd.unit(5)).
PLACES = tuple(
    map(
        Path,
        ("/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"),
    )
)
_YES = ("yes", "true", "1", "on", "connected", "disconnected")


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
