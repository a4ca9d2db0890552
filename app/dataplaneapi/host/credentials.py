"""Files that the service manager passes privately (`LoadCredential=`): only this process can read them.

A credential stands in where the settings name no file of their own.
"""

import os
from pathlib import Path

USERS, CERTIFICATE, KEY = "users", "tls.crt", "tls.key"
# Where the unit takes the users from.
UNIT_USERS = Path("/etc/dataplaneapi/users")


def path(name: str) -> str:
    """Returns the path of a credential; empty if none of that name was handed over, or if it is empty."""
    directory = os.environ.get("CREDENTIALS_DIRECTORY", "")
    file = Path(directory, name)
    return str(file) if directory and file.is_file() and file.stat().st_size else ""
