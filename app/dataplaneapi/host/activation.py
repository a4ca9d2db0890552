"""Accept listening sockets from the service manager.

The service manager keeps the sockets open while this process is replaced, so clients wait in the backlog meanwhile. It passes the sockets
as descriptors from 3 on, with their number and names in environment variables (sd_listen_fds(3)).
"""

import os
import socket
from collections.abc import MutableMapping

from dataplaneapi.settings.table import SettingsError

FIRST = 3


def sockets(environ: MutableMapping[str, str]) -> list[tuple[str, socket.socket]]:
    """Return (scheme, listening socket) for each socket from the service manager. Raises SettingsError.

    A socket serves TLS if its unit has `FileDescriptorName=https`. The environment variables that describe the sockets are removed from
    `environ`, and child processes do not inherit the descriptors.
    """
    process, number, names = (environ.pop(name, "") for name in ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"))
    if process != str(os.getpid()) or not number.isdigit():
        return []
    name_of = dict(enumerate(names.split(":"), FIRST))
    passed = []
    for descriptor in range(FIRST, FIRST + int(number)):
        try:
            os.set_inheritable(descriptor, False)
            listening = socket.socket(fileno=descriptor)
        except OSError as error:
            raise SettingsError(f"descriptor {descriptor} of the service manager: {error.strerror}") from None
        if listening.type != socket.SOCK_STREAM or not listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            listening.close()
            raise SettingsError(f"descriptor {descriptor} of the service manager does not listen for streams; use ListenStream=")
        scheme = "https" if name_of.get(descriptor) == "https" else "http"
        passed.append(("unix" if listening.family == socket.AF_UNIX else scheme, listening))
    return passed
