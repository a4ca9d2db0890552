"""Open an `Engine` together with what it needs to reach HAProxy: the addresses of its sockets, and a strategy to reload it."""

import functools
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from haproxy_native.disk.files import ConfigFiles
from haproxy_native.engine import Engine, EngineSettings
from haproxy_native.errors import Unreadable
from haproxy_native.grammar.load import grammar
from haproxy_native.grammar.section_shape import SectionShape
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.reload.records import Records
from haproxy_native.reload.strategies import Reloading
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.socket import SocketAddress, parse_address
from haproxy_native.runtime.working_directory import WorkingDirectory
from haproxy_native.text.document import Document
from haproxy_native.text.words import expanded, has_variable, unquoted


@dataclass(frozen=True)
class Process:
    """How to reach and reload the HAProxy that runs a configuration. The configuration itself names the stats sockets."""

    # The path of the master's socket.
    master: str | None = None
    # Whether HAProxy is reloaded through the master's socket. If the master does not answer, `command` reloads.
    master_reloads: bool = True
    command: Sequence[str] = ()
    # Seconds between two reloads.
    delay: float = 5.0
    # Days for which the records of reloads are stored.
    remembered_days: float = 1


@asynccontextmanager
async def opened(settings: EngineSettings, process: Process) -> AsyncIterator[Engine]:
    """Yield a started engine and close it at the end, which performs a pending reload. Raises Unreadable.

    HAProxy may start later: every command connects to the socket again if necessary.
    """
    runtime = Runtime()
    files = ConfigFiles(settings.file, settings.storage, settings.before, settings.after)

    def sockets() -> None:
        use_sockets(runtime, process.master, files, settings.unit)

    # The engine queries the worker when it starts.
    sockets()
    strategy = Reloading(runtime, process.command, sockets, master_reloads=process.master_reloads)

    def reloads(engine: Engine) -> ReloadAgent:
        return ReloadAgent(strategy, runtime, process.delay, Records(engine.database, process.remembered_days), engine)

    engine = Engine(settings, runtime, reloads)
    await engine.start()
    sockets()
    try:
        yield engine
    finally:
        await engine.close()


def use_sockets(runtime: Runtime, master: str | None, files: ConfigFiles, unit: str) -> None:
    """Set the sockets that the client connects to: the master's, and the stats sockets that the files on disk open."""
    runtime.use(master, stats_sockets_in(files, unit))


GLOBAL, SOCKETS, VARIABLES = "global", "runtime_apis", "environment_options"


def stats_sockets(document: Document) -> list[str]:
    """Return the addresses of the Runtime API sockets that a configuration opens, in the order and spelling of the file, without quotes.

    One line may open several sockets, separated by commas. Variables have the values that the file sets, or the values in this process. An
    address with any other variable is returned unchanged.
    """
    values, sockets = dict(os.environ), list[str]()
    for section in document.sections:
        members = _socket_and_variable_shape().read(section) if section.kind == GLOBAL else {}
        set_here = [rows for rows in members.get(VARIABLES, {}).values() if isinstance(rows, list)]
        values.update({row["name"]: unquoted(row["value"]) for rows in set_here for row in rows})
        for word in [socket.get("address", "") for socket in members.get(SOCKETS, ())]:
            # HAProxy replaces variables of addresses outside quotes as well.
            in_quotes = word if has_variable(word) else f'"{word}"'
            sockets.append((expanded(in_quotes, values) if "$" in word else None) or unquoted(word))
    return [address for socket in sockets for address in socket.split(",") if address]


@functools.cache
def _socket_and_variable_shape() -> SectionShape:
    return grammar().members(GLOBAL, (SOCKETS, VARIABLES))


def stats_sockets_in(files: ConfigFiles, unit: str) -> list[str]:
    """Return the addresses of the stats sockets that the files on disk open; empty if the files cannot be read. Blocks.

    Relative paths begin in the working directory that the unit of this name sets for HAProxy. Without a unit, they stay relative.
    """
    try:
        addresses = stats_sockets(Document.parse(files.read()))
    except Unreadable:
        return []
    directory = WorkingDirectory(unit).find(None)
    return [_within(directory, address) for address in addresses] if directory else addresses


def _within(directory: Path, address: str) -> str:
    path = (parse_address(address) or SocketAddress()).path
    return str(directory / path) if path and not path.startswith("\0") else address
