"""Find credentials: files that the service manager passes to this process only (`LoadCredential=`).

The server uses a credential if the settings name no file for the same purpose.
"""

import os
from pathlib import Path

USERS, CERTIFICATE, KEY = "users", "tls.crt", "tls.key"
# The file from which the unit loads the credential `users`.
UNIT_USERS = Path("/etc/dataplaneapi/users")


def path(name: str) -> str:
    """Return the path of a credential; empty if the credential was not passed or its file is empty."""
    directory = os.environ.get("CREDENTIALS_DIRECTORY", "")
    file = Path(directory, name)
    return str(file) if directory and file.is_file() and file.stat().st_size else ""
