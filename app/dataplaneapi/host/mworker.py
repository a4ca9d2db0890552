"""Adapt the settings to HAProxy's master if it has started this server (section `program`, up to HAProxy 3.2)."""

import dataclasses
import os
from collections.abc import Mapping

from dataplaneapi.settings.table import Settings, SettingsError


def adapt_to_master(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """Return the settings with the socket of HAProxy's master if the master has started this server. Otherwise, return them unchanged.

    Adds a warning for each file that HAProxy loads but the settings do not name. Raises SettingsError if HAProxy does not load the
    configuration file or the userlist file that the settings name.
    """
    if environ.get("HAPROXY_MWORKER") != "1":
        return settings
    loaded = {path: os.path.realpath(path) for path in environ.get("HAPROXY_CFGFILES", "").split(";") if path}
    for name, file in (("configuration", settings.config_file), ("userlist", settings.userlist_file)):
        if loaded and file and os.path.realpath(file) not in loaded.values():
            raise SettingsError(f"The {name} file is not declared in the HAPROXY_CFGFILES environment variable, cannot start.")
    named = [settings.config_file, settings.userlist_file, *settings.config_files_before, *settings.config_files_after]
    # The settings name files, or directories of files.
    known = {os.path.realpath(path) for path in named if path}
    warnings = [
        f"HAProxy also loads {path}, which config_files_before and config_files_after do not name"
        for path, real in loaded.items()
        if not {real, os.path.dirname(real)} & known
    ]
    sockets = [address.removeprefix("unix@") for address in environ.get("HAPROXY_MASTER_CLI", "").split(";")]
    socket = next((path for path in sockets if path.startswith("/")), settings.master_runtime)
    return dataclasses.replace(settings, master_runtime=socket, warnings=(*settings.warnings, *warnings))
