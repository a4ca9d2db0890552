"""Notifies the service manager: the server is ready, its status, and that its event loop runs.

The protocol of sd_notify(3) is one datagram of `NAME=value` lines; without a manager all of it does nothing.
"""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import MutableMapping

# What a manager gives to the process it started and to none of that one's children.
_ADDRESS, _INTERVAL, _PROCESS = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"
# Pings in one interval of the watchdog: one may be late without being missed.
_PINGS = 3


class Manager:
    """`address` is a path, or `@` and an abstract name; empty for none. `watchdog` is in seconds, 0 for none."""

    def __init__(self, address: str = "", watchdog: float = 0.0) -> None:
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self.watchdog, self._status = watchdog, ""

    def ready(self, status: str = "") -> None:
        """`status` is kept for the next time."""
        self._status = status or self._status
        self._tell(READY="1", STATUS=self._status)

    def reloading(self) -> None:
        self._tell(RELOADING="1", MONOTONIC_USEC=str(time.monotonic_ns() // 1000))

    def stopping(self) -> None:
        self._tell(STOPPING="1", STATUS="Answering what is under way")

    async def keep_watch(self) -> None:
        """Pings until it is cancelled; a blocked event loop does not, and the manager starts the server anew."""
        while self.watchdog:
            self._tell(WATCHDOG="1")
            await asyncio.sleep(self.watchdog / _PINGS)

    def _tell(self, **lines: str) -> None:
        if not self._address:
            return
        # A manager that does not listen is no reason to stop serving.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
            connection.connect(self._address)
            connection.sendall("\n".join(f"{name}={value}" for name, value in lines.items()).encode())


def manager(environ: MutableMapping[str, str]) -> Manager:
    """Takes the manager's variables out of the environment, so that no child speaks in the server's name."""
    address, interval, process = (environ.pop(name, "") for name in (_ADDRESS, _INTERVAL, _PROCESS))
    ours = not process or process == str(os.getpid())
    return Manager(address, int(interval) / 1e6 if interval.isdigit() and ours else 0.0)
