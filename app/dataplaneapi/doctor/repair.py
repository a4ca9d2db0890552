"""Write corrected settings next to the settings file (`dataplaneapi doctor --fix`).

The corrections: move misplaced keys to the right place, hash passwords in clear text, and set a fixed port instead of a random port.
"""

import difflib
import re
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

from dataplaneapi.auth import passwords
from dataplaneapi.settings import yaml_file as settings_file
from dataplaneapi.settings.table import at
from haproxy_native.disk.atomic import write_atomically

ENDING, PORT = ".fixed", 5555
_PASSWORD = re.compile(r"""(password['"]?\s*:\s*)("[^"\n]*"|'[^'\n]*'|\S.*?)(?=\s*[,}]|\s+#|\s*$)""", re.MULTILINE)
_ROUNDS = 10


def correct_text(text: str) -> str:
    """Return the text of a settings file with all corrections that need no decision by the operator."""
    data = settings_file.loaded(text)
    if not isinstance(data, MutableMapping):
        return text
    is_changed = _move_misplaced_keys(data)
    users = at(data, "dataplaneapi.user")
    for user in users if isinstance(users, list) else ():
        if not isinstance(user, MutableMapping):
            continue
        password = str(user.get("password", ""))
        if passwords.is_variable(password) or (passwords.is_usable(password) and not user.get("insecure")):
            continue
        if hashed := passwords.new_hash(password):
            user["password"] = hashed
            user.pop("insecure", None)
            is_changed = True
    schemes = at(data, "dataplaneapi.scheme") or ["http"]
    if "http" in schemes and not at(data, "dataplaneapi.port") and not at(data, "dataplaneapi.listeners"):
        settings_file.put(data, ["dataplaneapi", "port"], PORT)
        is_changed = True
    return settings_file.dumped(data, like=text) if is_changed else text


def write_corrected(file: Path) -> tuple[Path, str] | None:
    """Write corrected settings next to `file`. Return the path of the corrected file, and its difference from `file`.

    In the difference, passwords in clear text are masked. Return None if there is nothing to correct. Raises OSError.
    """
    old = file.read_text()
    new = correct_text(old)
    if new == old:
        return None
    corrected = file.with_name(file.name + ENDING)
    write_atomically(corrected, new.encode())

    def mask(match: re.Match[str]) -> str:
        # Hashes are not masked, so that the difference shows which passwords were hashed.
        return match[0] if passwords.is_usable(match[2].strip("'\"")) else f"{match[1]}***"

    before, after = (_PASSWORD.sub(mask, text).splitlines(keepends=True) for text in (old, new))
    return corrected, "".join(difflib.unified_diff(before, after, str(file), str(corrected), n=1))


def _move_misplaced_keys(data: MutableMapping[str, Any]) -> bool:
    """Move misplaced keys to the path where they belong, unless that path has a value already. Return whether a key was moved."""
    is_changed = False
    # A key that was moved may contain misplaced keys, which the next round moves.
    for _ in range(_ROUNDS):
        moved = [path for path, destination in list(settings_file.unknown(data)) if destination and _move(data, path, destination)]
        if not moved:
            break
        is_changed = True
    return is_changed


def _move(data: MutableMapping[str, Any], path: str, destination: str) -> bool:
    """Move the value at `path` to `destination`. If both are mappings, move the keys that `destination` does not have.

    Return whether anything was moved.
    """
    value, existing = at(data, path), at(data, destination)
    above, _, key = path.rpartition(".")
    holder = at(data, above) if above else data
    if isinstance(value, Mapping) and isinstance(existing, MutableMapping):
        free = [name for name in value if name not in existing]
        for name in free:
            existing[name] = value[name]
            del holder[key][name]
        if free and not holder[key]:
            del holder[key]
        return bool(free)
    if existing is not None:
        return False
    del holder[key]
    settings_file.put(data, destination.split("."), value)
    return True
