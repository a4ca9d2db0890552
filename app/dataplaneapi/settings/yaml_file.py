"""Read the settings file, report unknown keys with a similar known key, and complete the file without losing comments.

The server writes the file only if a required key is missing or has another value than the settings.
"""

import contextlib
import functools
import io
import os
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from dataplaneapi.did_you_mean import nearest
from dataplaneapi.settings import yaml_text as settings_text
from dataplaneapi.settings.table import Settings, SettingsError, at, table
from haproxy_native.disk.atomic import write_atomically

# Known keys that have no entry in the table of settings.
_MORE = (
    "config_version name dataplaneapi.user dataplaneapi.listeners dataplaneapi.advertised.api_address dataplaneapi.advertised.api_port "
    "dataplaneapi.roles dataplaneapi.role_of dataplaneapi.jwt dataplaneapi.audit "
    "service_discovery.consuls service_discovery.aws_regions log_targets fleet"
)
_OURS = re.compile(rb"^(?:dataplaneapi|haproxy|config_version|log_targets) *:", re.MULTILINE)


def is_settings_file(path: str) -> bool:
    """Return whether a file is a settings file rather than an HAProxy configuration, according to its content."""
    try:
        with open(path, "rb") as file:
            return _OURS.search(file.read(1 << 16)) is not None
    except OSError:
        return False


def read(path: str) -> Any:
    """Return the data of the file. Return an empty map for an empty file, and None if the file does not exist. Raises SettingsError.

    The data is cached and shared, so the caller must not modify it.
    """
    from ruamel.yaml.error import YAMLError

    try:
        text = Path(path).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError(f"configuration file {path} cannot be read: {error.strerror}") from None
    try:
        data = _parse(text.decode())
    except (ValueError, YAMLError) as error:
        raise _not_valid(path, " ".join(str(error).split())) from None
    data = {} if data is None else data
    if not isinstance(data, Mapping):
        raise _not_valid(path, "it contains no map")
    return data


@functools.lru_cache(maxsize=2)
def _parse(text: str) -> Any:
    """Parse only the values, which takes half as long as `loaded`. Raises YAMLError and ValueError.

    If the text contains tags, which the safe loader refuses, parse it like `loaded`. The result is cached, because the server reads the
    file twice when it starts: for its settings, and to complete it.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import ConstructorError

    try:
        return YAML(typ="safe", pure=True).load(text)
    except ConstructorError:
        return _yaml().load(text)


def _not_valid(path: str, detail: str) -> SettingsError:
    text = f"configuration file {path} not valid (only yaml format is supported): {detail}"
    return SettingsError(f"{text}; if it is an HAProxy configuration, pass it with -c")


def unknown_keys(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning for each unknown key, with the known key that was probably meant."""
    for path, place in unknown(data):
        yield f"unknown key {path} in the settings file" + (f"; did you mean {place}?" if place else "")


def unknown(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the path of each unknown key, and the path that was probably meant, which is empty if no known key is similar."""
    known = {source.yaml for _, source, _ in table() if source.yaml} | set(_MORE.split())
    yield from _unknown_below("", data, known)


def _unknown_below(prefix: str, data: Mapping[str, Any], known: set[str]) -> Iterator[tuple[str, str]]:
    siblings = {path[len(prefix) :].partition(".")[0] for path in known if path.startswith(prefix)}
    for key, value in data.items():
        path = f"{prefix}{key}"
        if str(key) not in siblings:
            # The key may be known elsewhere, as a setting or as a map of settings.
            maps = {known_path.rpartition(".")[0] for known_path in known}
            elsewhere = next((known_path for known_path in sorted(known | maps) if known_path.rpartition(".")[2] == str(key)), None)
            similar = nearest(str(key), siblings)
            yield path, elsewhere or (prefix + similar if similar else "")
        elif isinstance(value, Mapping) and path not in known:
            yield from _unknown_below(path + ".", value, known)


def required(settings: Settings) -> dict[str, Any]:
    """Return the keys and values that the file must contain after a start."""
    return {
        "config_version": 2,
        "name": settings.name,
        "dataplaneapi.advertised.api_address": settings.advertised.get("api_address") or "",
        "dataplaneapi.advertised.api_port": settings.advertised.get("api_port") or 0,
        "dataplaneapi.userlist.userlist": settings.userlist,
        "dataplaneapi.userlist.userlist_file": settings.userlist_file,
        "haproxy.reload.reload_strategy": settings.reload_strategy,
    }


def write_back(settings: Settings) -> bool:
    """Write the required keys to the file if it lacks any. Return whether the file was written. Raises OSError."""
    target = Path(os.path.realpath(settings.file))
    old = target.read_bytes().decode() if target.exists() else ""
    data = read(settings.file) or {}
    # The new value of each key to change, by its path. None removes the key.
    changes: dict[str, Any] = {}
    if "log_targets" in data and not data["log_targets"]:
        changes["log_targets"] = None
    if settings.scheme == ["http"] and not at(data, "dataplaneapi.scheme") and not settings.listeners:
        changes["dataplaneapi.scheme"] = ["http"]
    changes |= {path: value for path, value in required(settings).items() if at(data, path) != value}
    if not changes:
        return False
    _replace(target, _with_changes(old, changes))
    return True


def remove(file: str, path: str) -> None:
    """Remove a top-level key from the file, if the file contains it. Raises OSError if the file cannot be written."""
    target = Path(os.path.realpath(file))
    if path in (read(file) or {}):
        _replace(target, _with_changes(target.read_bytes().decode(), {path: None}))


def _with_changes(old: str, changes: Mapping[str, Any]) -> str:
    """Return the text with the changes, edited in place. If the result does not parse to the changed values, let ruamel write the text."""
    from ruamel.yaml.error import YAMLError

    values, new = deepcopy(_values(old)), old
    with contextlib.suppress(YAMLError):
        for path in [path for path, value in changes.items() if value is None]:
            new = settings_text.without(new, path)
        new = settings_text.with_values(new, {path: value for path, value in changes.items() if value is not None})
    _apply(changes, values)
    if _values(new) == values:
        return new
    data = loaded(old)
    data = {} if data is None else data
    _apply(changes, data)
    return dumped(data)


def _values(text: str) -> Any:
    """Return the values of a text, or an empty map if the text is not YAML."""
    from ruamel.yaml.error import YAMLError

    try:
        values = _parse(text)
    except (ValueError, YAMLError):
        values = None
    return {} if values is None else values


def _apply(changes: Mapping[str, Any], data: Any) -> None:
    for path, value in changes.items():
        if value is None:
            del data[path]
        else:
            put(data, path.split("."), value)


def put(data: Any, keys: list[str], value: Any) -> None:
    """Set a value at the path `keys`, and create missing maps on the path."""
    *above, key = keys
    for line in above:
        if not isinstance(data.get(line), Mapping):
            data[line] = {}
        data = data[line]
    data[key] = value


def loaded(text: str) -> Any:
    """Parse a text to ruamel's round-trip data, which contains the comments. Return None if the text is not YAML."""
    from ruamel.yaml.error import YAMLError

    try:
        return _yaml().load(text)
    except (ValueError, YAMLError):
        return None


def dumped(data: Any, *, like: str = "") -> str:
    """Return the text that ruamel writes for round-trip data, with the indentation of the text `like`."""
    from ruamel.yaml.util import load_yaml_guess_indent

    out, yaml = io.StringIO(), _yaml()
    _, sequence, offset = load_yaml_guess_indent(like) if like else (None, None, None)
    yaml.indent(mapping=2, sequence=sequence or 2, offset=offset or 0)
    yaml.dump(data, out)
    return out.getvalue()


def _replace(target: Path, text: str) -> None:
    """Replace the file, and keep its owner and mode. Only the owner can read a new file, because it may contain users."""
    write_atomically(target, text.encode(), like=target)


def _yaml() -> Any:
    from ruamel.yaml import YAML  # Imported here, because the import takes 40 ms and `--help` does not need it.

    yaml = YAML()
    yaml.preserve_quotes, yaml.width = True, 4096
    return yaml
