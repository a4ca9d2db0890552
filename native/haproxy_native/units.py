"""Read systemd's units of services from their files (systemd.unit(5)). systemd itself need not run."""

import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

# The first directory that has a unit takes precedence (systemd.unit(5)).
PLACES = (
    Path("/etc/systemd/system"),
    Path("/run/systemd/system"),
    Path("/usr/local/lib/systemd/system"),
    Path("/usr/lib/systemd/system"),
    Path("/lib/systemd/system"),
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
        """The words of the command that starts the service; empty if there is no command, or if its quotes are not balanced."""
        texts = self.options.get("ExecStart", [""])
        with suppress(ValueError):
            return shlex.split(texts[-1].lstrip("-@:+!"))
        return []

    @property
    def has_own_tmp(self) -> bool:
        return self.options.get("PrivateTmp", [""])[-1].lower() in _YES


def read_unit(name: str, places: Sequence[Path]) -> Unit | None:
    """Return a service with its drop-ins; None if no directory has a unit of this name. The first directory that has one is used."""
    path = next((place / name for place in places if (place / name).is_file()), None)
    if path is None:
        return None
    result = Unit(path)
    drop_ins = {file.name: file for place in reversed(places) for file in (place / f"{name}.d").glob("*.conf")}
    for file in (path, *(drop_ins[name] for name in sorted(drop_ins))):
        try:
            text = file.read_text("utf-8", "replace")
        except OSError:
            continue
        section = ""
        for line in map(str.strip, re.sub(r"\\\n", " ", text).splitlines()):
            if line.startswith("["):
                section = line
            elif section == "[Service]" and line[:1] not in ("#", ";", ""):
                key, _, value = line.partition("=")
                result.options.setdefault(key.strip(), []).append(value.strip())
    return result
