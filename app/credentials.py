"""Files that the service manager hands over privately (`LoadCredential=`): readable by this process alone, whoever owns the originals.

A credential stands in where the settings name no file of their own.
"""

import os
from pathlib import Path

USERS = "users"


def path(name: str) -> str:
    """Where a credential is; empty when none of that name was handed over."""
    directory = os.environ.get("CREDENTIALS_DIRECTORY", "")
    found = Path(directory, name)
    return str(found) if directory and found.is_file() else ""
