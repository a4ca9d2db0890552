"""Write corrected settings next to the settings file (`dataplaneapi doctor --fix`).

Move misplaced keys to the right place, hash passwords in clear text, and set a fixed port instead of a random one.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from dataplaneapi.auth import passwords
from dataplaneapi.settings import yaml_file as settings_file
from dataplaneapi.settings.table import at
from haproxy_native.disk.atomic import write_atomically

ENDING, PORT = ".fixed", 5555
_PASSWORD = re.compile(r"""(password['"]?\s*:\s*)("[^"\n]*"|'[^'\n]*'|\S.*?)(?=\s*[,}]|\s+#|\s*$)""", re.MULTILINE)
_ROUNDS = 10


def corrected_text(text: str) -> str:
    """Return the text of a settings file with all corrections that need no decision by the operator."""
    data = settings_file.loaded(text)
    if not isinstance(data, MutableMapping):
        return text
    changes = [*_move_misplaced_keys(data), *_hash_passwords(data), *_set_port(data)]
    return settings_file.dumped(data, like=text) if changes else text


def write_beside(file: Path) -> tuple[Path, str] | None:
    """Write corrected settings next to `file`. Return their path, and the difference without passwords in clear text.

    Return None if there is nothing to correct. Raises OSError.
    """
    old = file.read_text()
    new = corrected_text(old)
    if new == old:
        return None
    beside = file.with_name(file.name + ENDING)
    write_atomically(beside, new.encode())
    before, after = (_masked(text).splitlines(keepends=True) for text in (old, new))
    return beside, "".join(difflib.unified_diff(before, after, str(file), str(beside), n=1))


def _masked(text: str) -> str:
    """Return a text with its passwords masked, except hashes, which show that a password was hashed."""
    return _PASSWORD.sub(lambda match: match[0] if passwords.is_usable(match[2].strip("'\"")) else f"{match[1]}***", text)


def _move_misplaced_keys(data: MutableMapping[str, Any]) -> Iterator[str]:
    """Move misplaced keys to the right place, and yield their paths. Since a moved key may contain misplaced keys, repeat this."""
    for _ in range(_ROUNDS):
        moved = [path for path, place in list(settings_file.unknown(data)) if place and _move(data, path, place)]
        if not moved:
            return
        yield from moved


def _move(data: MutableMapping[str, Any], path: str, place: str) -> bool:
    """Move a key from `path` to `place` without overwriting values there. Return whether anything was moved."""
    value, there = at(data, path), at(data, place)
    if isinstance(value, Mapping) and isinstance(there, MutableMapping):
        free = [key for key in value if key not in there]
        for key in free:
            there[key] = value[key]
        return bool(free) and _remove(data, path, free)
    if there is not None:
        return False
    _remove(data, path, None)
    settings_file.put(data, place.split("."), value)
    return True


def _remove(data: MutableMapping[str, Any], path: str, keys: list[Any] | None) -> bool:
    above, _, key = path.rpartition(".")
    holder = at(data, above) if above else data
    for name in keys or ():
        del holder[key][name]
    if keys is None or not holder[key]:
        del holder[key]
    return True


def _hash_passwords(data: Mapping[str, Any]) -> Iterator[str]:
    users = at(data, "dataplaneapi.user")
    for user in users if isinstance(users, list) else ():
        if not isinstance(user, MutableMapping) or passwords.is_variable(str(user.get("password", ""))):
            continue
        if user.get("insecure") or not passwords.is_usable(str(user.get("password", ""))):
            made = passwords.new_hash(str(user.get("password", "")))
            if made:
                user["password"] = made
                user.pop("insecure", None)
                yield str(user.get("name"))


def _set_port(data: MutableMapping[str, Any]) -> Iterator[str]:
    schemes = at(data, "dataplaneapi.scheme") or ["http"]
    if "http" in schemes and not at(data, "dataplaneapi.port") and not at(data, "dataplaneapi.listeners"):
        settings_file.put(data, ["dataplaneapi", "port"], PORT)
        yield "dataplaneapi.port"
