"""Find credentials: files that the service manager passes only to this process (`LoadCredential=`).

If the settings name no file for a purpose, the server uses the credential for the same purpose.
"""

import os
from pathlib import Path

USERS, CERTIFICATE, KEY = "users", "tls.crt", "tls.key"
# The file from which the unit loads the credential `users`.
UNIT_USERS = Path("/etc/dataplaneapi/users")


def path(name: str) -> str:
    """Return the path of a credential. Empty if the service manager has not passed the credential, or if its file is empty."""
    directory = os.environ.get("CREDENTIALS_DIRECTORY", "")
    file = Path(directory, name)
    return str(file) if directory and file.is_file() and file.stat().st_size else ""
