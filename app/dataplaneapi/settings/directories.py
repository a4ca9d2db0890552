"""Return the directories that are configured in the settings, and report directories that cannot be used.

A directory that cannot be used does not prevent the start of the server. Only the operations that need the directory fail.
"""

import logging
from collections.abc import Iterable
from pathlib import Path

from dataplaneapi.settings.table import Settings
from haproxy_native.disk.directories import Directory

logger = logging.getLogger(__name__)
# The settings that name directories, with the mode of the directory if the server creates it.
NAMED = {
    "transaction_dir": 0o755,
    "maps_dir": 0o750,
    "acl_dir": 0o750,
    "ssl_certs_dir": 0o750,
    "general_storage_dir": 0o750,
    "dataplane_storage_dir": 0o750,
    "spoe_dir": 0o750,
    "spoe_transaction_dir": 0o755,
}
# Settings that may be empty.
OPTIONAL = ("acl_dir",)
# Directories that no other user may write to.
OWN = ("transaction_dir", "spoe_transaction_dir")


def directories(settings: Settings) -> dict[str, Directory]:
    """Return the configured directories by the names of their settings."""
    paths = {name: str(getattr(settings, name)) for name in NAMED}
    how = {"make": not settings.read_only}
    named = {name: path for name, path in paths.items() if path or name not in OPTIONAL}
    return {name: Directory(Path(path), name, NAMED[name], own=name in OWN, **how) for name, path in named.items()}


def unusable(named: Iterable[Directory]) -> list[str]:
    """Return the reason for each directory that cannot be used."""
    return [trouble for directory in named if (trouble := directory.why_unwritable())]


def log_unusable(named: Iterable[Directory]) -> None:
    for trouble in unusable(named):
        logger.warning("a directory cannot be used, and operations that need it fail: %s", trouble)
