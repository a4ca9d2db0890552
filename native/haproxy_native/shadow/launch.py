"""HAProxy, started for a shadow: without a network in a namespace of its own, where this process may make one, or by the service
manager, which hands each connection of dataplaneapi-shadow.socket to a unit that has none.

(systemd.socket(5), `Accept=`)
"""

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Protocol

from haproxy_native.check.run import Confinement
from haproxy_native.child import Child, read
from haproxy_native.errors import NoShadow, Unusable
from haproxy_native.scratch import Scratch
from haproxy_native.shadow.isolation import refuse_to_reach_out, without_network

# The unit's, and a directory in which both may write.
UNIT_SOCKET, UNIT_DIRECTORY = Path("/run/dataplaneapi-shadow.sock"), Path("/run/dataplaneapi-shadow")
NAMESPACE = "/proc/self/ns/net"
# What the unit reads in the directory that it is given.
COMMAND = "command"
# Seconds of the processor's time, and bytes that are kept of what it writes.
CPU_SECONDS, MOST_SAID = 60, 20_000


class Launched(Protocol):
    """A HAProxy that was started. What it writes is read while it runs, or it would stop at a full pipe."""

    @property
    def ended(self) -> bool: ...

    async def output(self) -> str:
        """What it has written, once it has ended."""

    async def end(self) -> None: ...


def new_scratch() -> Scratch:
    """Returns a directory in which HAProxy may write. Raises Unusable."""
    if without_network() is None:
        with suppress(Unusable):
            return Scratch("shadow", UNIT_DIRECTORY)
    return Scratch("shadow")


async def launch(words: Sequence[str], environment: Mapping[str, str], scratch: Path, home: Path | None, text: str) -> Launched:
    """`home` is its working directory, without it ours; `text` its configuration.

    Raises OSError; NoShadow where there is no such program, and for what could reach others, where none can be started without a network.
    """
    if not shutil.which(words[0]):
        raise NoShadow(f"{words[0]} is not found, or may not be executed: it is the program of HAProxy that a shadow is started with")
    isolated = await asyncio.to_thread(without_network)
    if isolated is None and scratch.parent == UNIT_DIRECTORY:
        with suppress(OSError):
            return await _Remote.start(words, environment, scratch, home or Path.cwd())
    if isolated is None:
        refuse_to_reach_out(text)
    start = Confinement(scratch, CPU_SECONDS).start
    return await _Own.start(partial(start, [*(isolated or ()), *words], environment, home, program=words[0]))


class _Own:
    """A child of this process."""

    def __init__(self, child: Child) -> None:
        assert child.stderr
        assert child.stdout
        self._child = child
        self._output = asyncio.gather(read(child.stderr, MOST_SAID), read(child.stdout, MOST_SAID))

    @classmethod
    async def start(cls, start: Callable[[], Child]) -> "_Own":
        """Raises what `start` raises. One that nobody waits for any more is ended."""
        starting = asyncio.ensure_future(asyncio.to_thread(start))
        try:
            return cls(await asyncio.shield(starting))
        except asyncio.CancelledError:
            with suppress(OSError):
                await cls(await starting).end()
            raise

    @property
    def ended(self) -> bool:
        return self._child.ended

    async def output(self) -> str:
        return (await self._output)[0]

    async def end(self) -> None:
        await self._child.kill()
        self._output.cancel()
        await asyncio.wait([self._output])
        self._child.close()


class _Remote:
    """One that the service manager has started; it ends with the connection, and the connection with it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._output = asyncio.create_task(_all(reader))

    @classmethod
    async def start(cls, words: Sequence[str], environment: Mapping[str, str], scratch: Path, home: Path) -> "_Remote":
        variables = [f"{name}={value}" for name, value in {**environment, "TMPDIR": str(scratch)}.items()]
        reader, writer = await asyncio.open_unix_connection(str(UNIT_SOCKET))
        (scratch / COMMAND).write_text("".join(f"{word}\0" for word in [f"--chdir={home}", *variables, *words]), errors="surrogateescape")
        writer.write(f"{scratch}\n".encode())
        if (await reader.readline()).decode().strip() in ("", os.readlink(NAMESPACE)):
            writer.transport.abort()
            raise OSError("the unit has no network namespace of its own")
        return cls(reader, writer)

    @property
    def ended(self) -> bool:
        return self._output.done()

    async def output(self) -> str:
        return await self._output

    async def end(self) -> None:
        self._writer.transport.abort()
        await asyncio.wait([self._output])


async def _all(reader: asyncio.StreamReader) -> str:
    """What comes until the end; of more than `MOST_SAID` bytes, these."""
    output = b""
    with suppress(ConnectionError):
        while part := await reader.read(65_536):
            output += part[: MOST_SAID - len(output)]
    return output.decode("utf-8", "replace")
