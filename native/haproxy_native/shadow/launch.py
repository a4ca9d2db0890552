"""Start HAProxy for a shadow. The sandbox permits no connections, so it uses its standard input and output instead.

Standard input is a socket. For each connection to the server `sockpair@0`, HAProxy creates a pair of sockets, keeps one and sends the other
over its standard input; this process answers on it as the server. Standard output receives HAProxy's log, one message for each line.
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
from haproxy_native.child import Child, read, readable
from haproxy_native.errors import NoShadow

# Seconds of CPU time, bytes that are stored of its output, and bytes of a line of the log.
CPU_SECONDS, MOST_SAID, LONGEST_LINE = 60, 20_000, 1 << 17


class Launched:
    """A running HAProxy, with our ends of its standard input and output, until `end`."""

    def __init__(self, child: Child, servers: socket.socket, log: socket.socket) -> None:
        assert child.stderr
        self._child, self._servers, self._log = child, servers, log
        # Read while it runs: it would block on a full pipe.
        self._output = asyncio.create_task(read(child.stderr, MOST_SAID))

    @property
    def ended(self) -> bool:
        return self._child.ended

    async def output(self) -> str:
        """Return what it has written, once it has ended."""
        return await self._output

    async def logged(self) -> bytes:
        """Return the next line of its log. Raises ConnectionError if it has ended."""
        if not (line := await asyncio.get_running_loop().sock_recv(self._log, LONGEST_LINE)):
            raise ConnectionResetError("it has ended")
        return line

    async def connection(self) -> socket.socket:
        """Return the next connection to a server. Raises ConnectionError if it has ended, and OSError for anything else that it sends."""
        await readable(self._servers.fileno())
        data, descriptors, _, _ = socket.recv_fds(self._servers, 4096, 1)
        if not data:
            raise ConnectionResetError("it has ended")
        if not descriptors:
            raise OSError("it has sent no connection")
        try:
            return socket.socket(fileno=descriptors[0])
        except OSError:
            os.close(descriptors[0])
            raise

    async def end(self) -> None:
        await self._child.kill()
        self._output.cancel()
        await asyncio.wait([self._output])
        self._child.close()
        self._servers.close()
        self._log.close()


async def launch(words: Sequence[str], environment: Mapping[str, str], scratch: Path, home: Path | None) -> Launched:
    """Start a command that may write and listen only in `scratch`. `home` is its working directory; None for ours.

    If the caller is cancelled, the command is ended. Raises OSError, and NoShadow without the program or a filter of system calls.
    """
    if not shutil.which(words[0]):
        raise NoShadow(f"{words[0]} is not found, or may not be executed: it is the program of HAProxy that a shadow is started with")
    if not seccomp.available():
        raise NoShadow(f"a shadow cannot be kept off the network: there is no filter of system calls for {os.uname().machine}")
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
    # Not of datagrams, which could be sent to others.
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
