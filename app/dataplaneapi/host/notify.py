"""Notify the service manager that the server is ready, what its status is, and that its event loop still runs.

A notification is a datagram of `NAME=value` lines (sd_notify(3)). If there is no service manager, the functions do nothing.
"""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import MutableMapping

# The environment variables from the service manager. Child processes must not inherit them.
_ADDRESS, _INTERVAL, _PROCESS = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"
# The pings in one interval of the watchdog. There are several, so that a late ping does not cause a restart.
_PINGS = 3


class Manager:
    """The service manager.

    `address`: the path of its socket, or `@` and an abstract name. Empty if there is no service manager. `watchdog`: the interval of the
    watchdog in seconds; 0 if there is no watchdog.
    """

    def __init__(self, address: str = "", watchdog: float = 0.0) -> None:
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self.watchdog, self._status = watchdog, ""

    def ready(self, status: str = "") -> None:
        """Report that the server is ready, and its status. If `status` is empty, repeat the previous status."""
        self._status = status or self._status
        self._notify(READY="1", STATUS=self._status)

    def reloading(self) -> None:
        self._notify(RELOADING="1", MONOTONIC_USEC=str(time.monotonic_ns() // 1000))

    def stopping(self) -> None:
        self._notify(STOPPING="1", STATUS="Finishing running requests")

    async def keep_watch(self) -> None:
        """Ping the watchdog until this task is cancelled. If the event loop blocks, the pings stop, and the manager restarts the server."""
        while self.watchdog:
            self._notify(WATCHDOG="1")
            await asyncio.sleep(self.watchdog / _PINGS)

    def _notify(self, **lines: str) -> None:
        if not self._address:
            return
        # A manager that does not listen is ignored.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
            connection.connect(self._address)
            connection.sendall("\n".join(f"{name}={value}" for name, value in lines.items()).encode())


def manager(environ: MutableMapping[str, str]) -> Manager:
    """Return the service manager. Removes its variables from `environ`, so that child processes cannot send notifications."""
    address, interval, process = (environ.pop(name, "") for name in (_ADDRESS, _INTERVAL, _PROCESS))
    ours = not process or process == str(os.getpid())
    return Manager(address, int(interval) / 1e6 if interval.isdigit() and ours else 0.0)
