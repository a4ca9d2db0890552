"""Adapt the settings to HAProxy's master if it has started this server (section `program`, up to HAProxy 3.2)."""

import dataclasses
import os
from collections.abc import Mapping

from dataplaneapi.settings.table import Settings, SettingsError


def adapt_to_master(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """Return the settings with the socket of the master that has started this server, or unchanged if no master has.

    Raises SettingsError if HAProxy does not load the configuration file or the userlist file that the settings name.
    """
    if environ.get("HAPROXY_MWORKER") != "1":
        return settings
    warnings = _compare(settings, [word for word in environ.get("HAPROXY_CFGFILES", "").split(";") if word])
    socket = next((path for path in map(_path, environ.get("HAPROXY_MASTER_CLI", "").split(";")) if path), settings.master_runtime)
    return dataclasses.replace(settings, master_runtime=socket, warnings=(*settings.warnings, *warnings))


def _path(address: str) -> str:
    """Return the path of a Unix socket, or an empty text for any other address."""
    path = address.removeprefix("unix@")
    return path if path.startswith("/") else ""


def _compare(settings: Settings, loaded: list[str]) -> list[str]:
    """Return a warning for each file that HAProxy loads but the settings do not name. Raises SettingsError (see `adapt_to_master`)."""
    if not loaded:
        return []
    there = {os.path.realpath(path) for path in loaded}
    for name, file in (("configuration", settings.config_file), ("userlist", settings.userlist_file)):
        if file and os.path.realpath(file) not in there:
            raise SettingsError(f"The {name} file is not declared in the HAPROXY_CFGFILES environment variable, cannot start.")
    named = [settings.config_file, settings.userlist_file, *settings.config_files_before, *settings.config_files_after]
    places = [os.path.realpath(path) for path in named if path]
    unknown = [path for path in loaded if not any(os.path.realpath(path) == place or _is_in(path, place) for place in places)]
    return [f"HAProxy also loads {path}, which config_files_before and config_files_after do not name" for path in unknown]


def _is_in(file: str, place: str) -> bool:
    return os.path.dirname(os.path.realpath(file)) == place
