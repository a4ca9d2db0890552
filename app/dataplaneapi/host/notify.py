"""Notify the service manager that the server is ready, what its status is, and that its event loop runs.

A notification is a datagram of `NAME=value` lines (sd_notify(3)). Without a service manager nothing is sent.
"""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import MutableMapping

# Environment variables from the service manager. They are for this process only, not for its children.
_ADDRESS, _INTERVAL, _PROCESS = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"
# Pings in one interval of the watchdog: more than one, so that a late ping does no harm.
_PINGS = 3


class Manager:
    """The service manager. `address` is the path of its socket, or `@` and an abstract name; empty if there is no manager.

    `watchdog` is the interval of the watchdog in seconds, 0 for none.
    """

    def __init__(self, address: str = "", watchdog: float = 0.0) -> None:
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self.watchdog, self._status = watchdog, ""

    def ready(self, status: str = "") -> None:
        """Report that the server is ready. An empty `status` means the same status as last time."""
        self._status = status or self._status
        self._tell(READY="1", STATUS=self._status)

    def reloading(self) -> None:
        self._tell(RELOADING="1", MONOTONIC_USEC=str(time.monotonic_ns() // 1000))

    def stopping(self) -> None:
        self._tell(STOPPING="1", STATUS="Finishing running requests")

    async def keep_watch(self) -> None:
        """Ping the watchdog until this is cancelled. A blocked event loop sends no pings, so the manager restarts the server."""
        while self.watchdog:
            self._tell(WATCHDOG="1")
            await asyncio.sleep(self.watchdog / _PINGS)

    def _tell(self, **lines: str) -> None:
        if not self._address:
            return
        # If the manager does not listen, the server goes on.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
            connection.connect(self._address)
            connection.sendall("\n".join(f"{name}={value}" for name, value in lines.items()).encode())


def manager(environ: MutableMapping[str, str]) -> Manager:
    """Return the service manager. Its variables are removed from `environ`, so that no child process can notify in the server's name."""
    address, interval, process = (environ.pop(name, "") for name in (_ADDRESS, _INTERVAL, _PROCESS))
    ours = not process or process == str(os.getpid())
    return Manager(address, int(interval) / 1e6 if interval.isdigit() and ours else 0.0)
