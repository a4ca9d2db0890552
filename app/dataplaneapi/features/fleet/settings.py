"""The settings of a fleet: the member `fleet` of the settings file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dataplaneapi.settings.table import SettingsError
from haproxy_native.features.fleet.bundle import KINDS
from haproxy_native.features.fleet.etcd import EtcdSettings
from haproxy_native.features.fleet.sealing import read_secret

EXAMPLE = "{group: edge, node: lb1, endpoints: [https://etcd1:2379], keys: [/etc/dataplaneapi/fleet.key]}"
TEXTS = ("group", "node", "prefix", "ca_file", "certificate", "key", "user", "password_file", "local_changes")
LISTS = ("endpoints", "keys")
# A list that may be missing: the kinds of stored files in releases.
FILES = "files"
# The values of `local_changes`: while this node cannot release changes, it refuses them, or accepts them and drifts from the fleet.
REFUSE, DRIFT = "refuse", "drift"
NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True)
class FleetSettings:
    group: str
    node: str
    # The prefix of the group's keys in the store.
    path: str
    secrets: Sequence[bytes]
    etcd: EtcdSettings
    refuses_local: bool
    # The kinds of stored files in releases.
    files: Sequence[str]


def read_fleet(given: Mapping[str, Any], name: str) -> FleetSettings | None:
    """Parse the settings of a fleet. Return None if `given` is empty. Raises SettingsError.

    `name` is the name of this server, which is the default of `node`.
    """
    if not given:
        return None
    try:
        return _parse_fleet(given, name)
    except ValueError as error:
        raise SettingsError(f"fleet: {error}") from None


def _parse_fleet(given: Mapping[str, Any], name: str) -> FleetSettings:
    if unknown := next((each for each in given if each not in (*TEXTS, *LISTS, FILES)), None):
        raise ValueError(f"unknown key {str(unknown)[:40]!r}; expected keys as in {EXAMPLE}")
    for each in LISTS:
        if not isinstance(given.get(each), list) or not given[each]:
            raise ValueError(f"{each} must be a list, as in {EXAMPLE}")
    files = given.get(FILES) or []
    if not isinstance(files, list) or any(each not in KINDS for each in files):
        raise ValueError(f"{FILES} must be a list of {', '.join(KINDS)}")
    texts = {each: str(given.get(each) or "") for each in TEXTS}
    group, node, prefix = texts["group"], texts["node"] or name, texts["prefix"] or "/dataplaneapi"
    for each, value in (("group", group), ("node", node)):
        if not NAME.fullmatch(value):
            raise ValueError(f"{each} must consist of letters, digits, `_`, `.` and `-`, not {value[:70]!r}")
    if not re.fullmatch(r"(/[A-Za-z0-9_.-]+)+", prefix):
        raise ValueError(f"prefix must be as in /dataplaneapi, not {prefix[:70]!r}")
    endpoints = [str(each).rstrip("/") for each in given["endpoints"]]
    if wrong := next((each for each in endpoints if not re.fullmatch(r"https?://[^/\s]+", each)), None):
        raise ValueError(f"an endpoint must be as in https://etcd1:2379, not {wrong[:70]!r}")
    if (local := texts["local_changes"] or REFUSE) not in (REFUSE, DRIFT):
        raise ValueError(f"local_changes must be {REFUSE} or {DRIFT}, not {local[:40]!r}")
    password = _read_text(texts["password_file"]).rstrip("\n") if texts["password_file"] else ""
    etcd = EtcdSettings(endpoints, texts["ca_file"], texts["certificate"], texts["key"], texts["user"], password)
    secrets = [_read_key_file(str(path)) for path in given["keys"]]
    return FleetSettings(group, node, f"{prefix}/{group}", secrets, etcd, local == REFUSE, files)


def _read_key_file(path: str) -> bytes:
    text = _read_text(path)
    if Path(path).stat().st_mode & 0o007:
        raise ValueError(f"{path} is readable by everybody on this machine; chmod o= {path}")
    try:
        return read_secret(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
