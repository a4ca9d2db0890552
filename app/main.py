"""Puts the parts together: the application around an engine, and the process that serves it until it is told to stop."""

import asyncio
import logging
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import uvloop
from fastapi import FastAPI

from app import errors, listeners, log, settings_file
from app.engine import open_engine
from app.guidance import Guide
from app.handlers.docs import page
from app.operations import operations
from app.pipeline import Pipeline
from app.process import drop_privileges, write_pid_file
from app.routes import RouteIndex, attach_handlers
from app.security import Gate
from app.settings import Settings, SettingsError
from app.shape import Schemas
from app.sidecar import Sidecar
from app.users import NoUsers, Users
from app.version import BUILD_DATE, COMMIT, REPOSITORY, VERSION
from native.config.editor import Editor
from native.engine import Engine
from native.errors import NativeError
from native.grammar.load import Grammar, bundle
from native.models import model

logger = logging.getLogger(__name__)
Reread = Callable[[], Settings]


def create_app(settings: Settings, engine: Engine) -> Pipeline:
    """The whole application; MissingHandler when the document declares an operation that nobody serves."""
    document = bundle()
    declared = tuple(operations(document))
    attach_handlers(declared, document["x-resources"])
    users = Users(settings, lambda: engine.read(None))
    sidecar = Sidecar(
        settings=settings,
        engine=engine,
        editor=Editor(Grammar(time_suffix=settings.time_suffix)),
        users=users,
        gate=Gate(users),
        bundle=document,
        index=RouteIndex(declared, Guide(document["paths"])),
        schemas=Schemas(document["components"]["schemas"]),
        model=model,
    )
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.router.routes[:] = [sidecar.index]
    app.state.sidecar = sidecar
    errors.install(app)
    return Pipeline(app, sidecar, page)


def serve(settings: Settings, reread: Reread) -> int:
    """Runs until SIGTERM or SIGINT; the exit status."""
    try:
        drop_privileges(settings.uid, settings.gid)
        if settings.pid_file:
            write_pid_file(settings.pid_file)
        log.setup(settings.log_targets)
        greet(settings)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(Program(settings, reread).run())
    except (SettingsError, NoUsers, NativeError, OSError) as error:
        # A fatal error is told even where no log target takes it.
        logger.error("%s", error)
        print(f"dataplaneapi: {error}", file=sys.stderr)
        return 1


def greet(settings: Settings) -> None:
    logger.info("HAProxy Data Plane API %s %s", VERSION, COMMIT)
    logger.info("Build from: %s", REPOSITORY)
    logger.info("Build date: %s", BUILD_DATE)
    logger.info("Reload strategy: %s", settings.reload_strategy)
    for warning in settings.warnings:
        logger.warning("%s", warning)
    if settings.file:
        try:
            settings_file.write_back(settings)
        except OSError as error:
            logger.warning("%s cannot be written, and stays as it is: %s", settings.file, error.strerror)


class Program:
    """The running server and what signals do to it."""

    def __init__(self, settings: Settings, reread: Reread) -> None:
        self.settings, self._reread = settings, reread
        self._stopping = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> int:
        opened = listeners.open_all(self.settings)
        try:
            async with open_engine(self.settings) as self.engine:
                self.app = create_app(self.settings, self.engine)
                self._take_signals()
                await self._serve(opened)
        finally:
            for each in opened:
                each.close()
        return 0

    async def _serve(self, opened: list[listeners.Listener]) -> None:
        servers = [listeners.server(self.app, self.settings) for _ in opened]
        running = [asyncio.ensure_future(each.serve(sockets=[listener.socket])) for each, listener in zip(servers, opened, strict=True)]
        for listener in opened:
            logger.info("Serving data plane at %s", listener.address)
        await self._stopping.wait()
        logger.info("HAProxy Data Plane API shutting down")
        addresses = [listener.address for listener in opened]
        for each in servers:
            each.should_exit = True
        await asyncio.gather(*running)
        for address in addresses:
            logger.info("Stopped serving data plane at %s", address)

    def _take_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        actions: dict[signal.Signals, Callable[[], Awaitable[None]]] = {
            signal.SIGHUP: self.restart,
            signal.SIGUSR1: self.renew_runtime,
            signal.SIGUSR2: self.reread_configuration,
        }
        for number, action in actions.items():
            loop.add_signal_handler(number, lambda action=action: self._start(self._survive(action)))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _survive(self, action: Callable[[], Awaitable[None]]) -> None:
        """What a signal asks for may fail, and the server goes on as it was."""
        try:
            await action()
        except (SettingsError, NoUsers, NativeError, OSError, SystemExit) as error:
            logger.error("%s", error)

    async def restart(self) -> None:
        """SIGHUP: settings, users, log targets and the configuration anew; listeners and engine keep what they were started with."""
        settings = self._reread()
        self.app.sidecar.users.read(settings)
        log.setup(settings.log_targets)
        greet(settings)
        if kept := _started_with(self.settings, settings):
            logger.warning("to take effect these settings need a new process: %s", ", ".join(kept))
        self.settings = self.app.sidecar.settings = settings
        await self.engine.reread()

    async def renew_runtime(self) -> None:
        """SIGUSR1."""
        await self.engine.renew_runtime()
        logger.info("Reloaded Data Plane API")

    async def reread_configuration(self) -> None:
        """SIGUSR2."""
        await self.engine.reread()
        self.app.sidecar.users.read(self.settings)
        logger.info("Rereading Configuration Files")
