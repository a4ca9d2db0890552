"""Start the HAProxy of a shadow. The sandbox permits no connections, so HAProxy reaches servers and log through its standard streams.

Standard input is a socket. For each connection to the server `sockpair@0`, HAProxy creates a pair of sockets, keeps the first and sends the
second over its standard input. This process answers on the second socket as the server. Standard output is a socket that receives
HAProxy's log, one line in each packet.
(HAProxy Configuration Manual, sections 3.1, `log`, and 5.2, `server`)
"""

import asyncio
import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from haproxy_native import seccomp
from haproxy_native.check.run import Confinement
from haproxy_native.child import Child, read, wait_readable
from haproxy_native.errors import NoShadow

# Limits of a shadow: seconds of CPU time, bytes of its error output that are stored, and bytes of a line of its log.
CPU_SECONDS, MOST_OUTPUT, LONGEST_LINE = 60, 20_000, 1 << 17


class Launched:
    """A running HAProxy, with this process's ends of its standard streams. The caller has to call `end`."""

    def __init__(self, child: Child, servers: socket.socket, log: socket.socket) -> None:
        assert child.stderr
        self._child, self._servers, self._log = child, servers, log
        # Read while HAProxy runs, since it would block on a full pipe.
        self._output = asyncio.create_task(read(child.stderr, MOST_OUTPUT))

    @property
    def ended(self) -> bool:
        return self._child.ended

    async def output(self) -> str:
        """Wait until HAProxy has ended, and return its error output."""
        return await self._output

    async def logged(self) -> bytes:
        """Wait for the next line of HAProxy's log and return it. Raises ConnectionError if HAProxy has ended."""
        if not (line := await asyncio.get_running_loop().sock_recv(self._log, LONGEST_LINE)):
            raise ConnectionResetError("its HAProxy has ended")
        return line

    async def connection(self) -> socket.socket:
        """Wait for HAProxy's next connection to a server and return it.

        Raises ConnectionError if HAProxy has ended, and OSError if it has sent something else.
        """
        await wait_readable(self._servers.fileno())
        data, descriptors, _, _ = socket.recv_fds(self._servers, 4096, 1)
        if not data:
            raise ConnectionResetError("its HAProxy has ended")
        if not descriptors:
            raise OSError("its HAProxy has sent no connection")
        try:
            return socket.socket(fileno=descriptors[0])
        except OSError:
            os.close(descriptors[0])
            raise

    async def end(self) -> None:
        """Kill HAProxy, wait until it has ended, and close its streams."""
        await self._child.kill()
        self._output.cancel()
        await asyncio.wait([self._output])
        self._child.close()
        self._servers.close()
        self._log.close()


async def launch(words: Sequence[str], environment: Mapping[str, str], scratch: Path, home: Path | None) -> Launched:
    """Start a command that may write and listen only in `scratch`. If the caller is cancelled, the command is killed.

    `home`: the working directory of the command; None for that of this process. Raises OSError if the command cannot be started, and
    NoShadow if the program is missing or this machine has no filter of system calls.
    """
    if not shutil.which(words[0]):
        raise NoShadow(f"{words[0]} is not found, or may not be executed: it is the program of HAProxy that a shadow is started with")
    if not seccomp.available():
        raise NoShadow(f"a shadow cannot be isolated from the network: there is no filter of system calls for {os.uname().machine}")
    starting = asyncio.ensure_future(asyncio.to_thread(_start, words, environment, scratch, home))
    try:
        return Launched(*await asyncio.shield(starting))
    except asyncio.CancelledError:
        with suppress(OSError):
            await Launched(*await starting).end()
        raise


def _start(
    words: Sequence[str], environment: Mapping[str, str], scratch: Path, home: Path | None
) -> tuple[Child, socket.socket, socket.socket]:
    servers, its_servers = socket.socketpair()
    # A datagram socket could send to other sockets.
    log, its_log = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its_servers, its_log:
        servers.setblocking(False)
        log.setblocking(False)
        try:
            within = Confinement(scratch, CPU_SECONDS, names=False)
            return within.start(words, environment, home, stdin=its_servers, stdout=its_log), servers, log
        except BaseException:
            servers.close()
            log.close()
            raise
