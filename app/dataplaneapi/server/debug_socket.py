"""Answer diagnostic commands on a Unix socket that only its owner can open. Each connection sends one command."""

import asyncio
import contextlib
import dataclasses
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from dataplaneapi.server.listeners import open_unix
from dataplaneapi.settings.table import Settings, table
from dataplaneapi.version import COMMIT, VERSION
from haproxy_native.engine import Engine
from haproxy_native.errors import NativeError

LONGEST, PATIENCE = 512, 10.0
HELP = """\
help                               this list
conf [raw [version [transaction]]] the HAProxy configuration, a backup of it, or that of a transaction
version                            version of this server
dapiconf                           its settings, without users
"""


class Commands:
    """The commands of the debug socket. Each public method except `answer` is the command that has its name."""

    def __init__(self, engine: Engine, settings: Callable[[], Settings]) -> None:
        self._engine, self._settings = engine, settings

    def answer(self, line: str) -> str:
        """Return the output of a command line. For an invalid command, return the help."""
        name, *words = line.split() or ["help"]
        command = getattr(self, name, None) if not name.startswith("_") and name != "answer" else None
        try:
            return str(command(*words)) if command else HELP
        except TypeError:
            return HELP
        except NativeError as error:
            return str(error)

    def help(self, *_: str) -> str:
        return HELP

    def conf(self, kind: str = "raw", version: str = "0", transaction: str = "") -> str:
        if kind == "structured":
            return "structured not implemented in community edition"
        if not version.isdigit():
            return HELP
        return self._engine.raw(0 if transaction else int(version), transaction).decode("utf-8", "replace")

    def version(self) -> str:
        return f"{VERSION} {COMMIT}"

    def dapiconf(self) -> str:
        values = dataclasses.asdict(self._settings())
        return "".join(f"{source.yaml}: {values[name]}\n" for name, source, _ in table())


@asynccontextmanager
async def serve_commands(path: str, commands: Commands) -> AsyncIterator[None]:
    """Answer commands on a Unix socket at `path` while the body runs. Do nothing if `path` is empty. Raises SettingsError."""
    if not path:
        yield
        return

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, ValueError):
            line = await asyncio.wait_for(reader.readline(), PATIENCE)
            writer.write(commands.answer(line.decode("utf-8", "replace")).rstrip("\n").encode() + b"\n")
            await asyncio.wait_for(writer.drain(), PATIENCE)
        writer.close()

    own = open_unix(path, 0o600)
    inode = os.stat(path).st_ino
    server = await asyncio.start_unix_server(talk, sock=own, limit=LONGEST)
    try:
        yield
    finally:
        server.close()
        # Another server may be at the path already.
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path).st_ino == inode:
                os.unlink(path)
