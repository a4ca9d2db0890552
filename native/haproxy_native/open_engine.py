"""Opens a configuration together with the process that runs it: sockets, reload strategy, state directory."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from haproxy_native import stats_sockets
from haproxy_native.disk.files import ConfigFiles
from haproxy_native.engine import Engine
from haproxy_native.engine_settings import EngineSettings
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.reload.records import Records
from haproxy_native.reload.strategies import Reloading
from haproxy_native.runtime.client import Runtime


@dataclass(frozen=True)
class Process:
    """`master` is the path of its socket, and `master_reloads` says to reload through it; where it does not answer, `command` reloads.

    `delay`: seconds between two reloads. The stats sockets are those that the configuration opens.
    """

    master: str | None = None
    master_reloads: bool = True
    command: Sequence[str] = ()
    delay: float = 5.0
    remembered_days: float = 1


@asynccontextmanager
async def opened(settings: EngineSettings, process: Process) -> AsyncIterator[Engine]:
    """A started engine; at the end what is pending is carried out. Raises Unreadable.

    Does not wait for an HAProxy that does not run yet: every later use of the socket looks for it again.
    """
    runtime = Runtime()
    files = ConfigFiles(settings.file, settings.storage, settings.before, settings.after)

    def sockets() -> None:
        use_sockets(runtime, process.master, files)

    # The engine asks the worker at once what it has loaded.
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


def use_sockets(runtime: Runtime, master: str | None, files: ConfigFiles) -> None:
    """Lets the client choose among the master's socket and those that the files open, from now on."""
    runtime.use(master, stats_sockets.addresses_in(files))
