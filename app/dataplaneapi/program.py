"""The server's process: start, serve until it is stopped, and handle signals."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

import uvloop

from dataplaneapi.assembly import open_application
from dataplaneapi.auth.users import NoUsers, Users
from dataplaneapi.host import notify
from dataplaneapi.host.process import drop_privileges, limit_modes, write_pid_file
from dataplaneapi.open_engine import look_for_sockets
from dataplaneapi.server import debug_socket, listeners
from dataplaneapi.server.endpoint import OF_LISTENERS, endpoints
from dataplaneapi.server.hot_swap import Doorway
from dataplaneapi.server.serving import Serving
from dataplaneapi.settings import yaml_file as settings_file
from dataplaneapi.settings.audit import read_audit
from dataplaneapi.settings.jwt import read_jwt
from dataplaneapi.settings.migration import migrate
from dataplaneapi.settings.proxies import read_proxies
from dataplaneapi.settings.roles import read_roles
from dataplaneapi.settings.table import Settings, SettingsError, table
from dataplaneapi.telemetry import log
from dataplaneapi.version import BUILD_DATE, COMMIT, REPOSITORY, VERSION
from haproxy_native.errors import NativeError, RuntimeFailure
from haproxy_native.request_context import NOBODY
from haproxy_native.scratch import remove_leftovers
from haproxy_native.threads import tune_interpreter

logger = logging.getLogger(__name__)
Reread = Callable[[], Settings]
# Settings that SIGHUP changes in the running application, like those of listeners. Other changes need a new application and engine.
TAKEN_OVER = frozenset(
    (
        "userlist",
        "userlist_file",
        "show_system_info",
        "max_body_size",
        "status_cmd",
        "pid_file",
        "cors_origins",
        "trusted_proxies",
        "on_conflict",
        "tests",
    )
)
# Settings that only a new process can apply.
IDENTITY = frozenset(name for name, source, _ in table() if source.yaml in ("dataplaneapi.uid", "dataplaneapi.gid"))
FATAL = (SettingsError, NoUsers, NativeError, OSError)


def serve(settings: Settings, reread: Reread) -> int:
    """Run the server until SIGTERM or SIGINT. Return the exit status."""
    try:
        drop_privileges(settings.uid, settings.gid)
        limit_modes()
        if settings.pid_file:
            write_pid_file(settings.pid_file)
        log.setup(settings.log_targets)
        greet(settings)
        tune_interpreter()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(Program(settings, reread).run())
    except FATAL as error:
        text = f"Error initiating users: {error}" if isinstance(error, NoUsers) else str(error)
        logger.error("%s", text)
        # A fatal error is printed even where no log target accepts it.
        if not log.is_on_standard_output():
            print(f"dataplaneapi: {text}", file=sys.stderr)
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
            logger.warning("writing %s failed: %s", settings.file, error.strerror)


async def _remove_leftovers() -> None:
    """Remove the temporary files that killed processes have left."""
    if removed := await asyncio.to_thread(remove_leftovers):
        logger.info("removed the temporary files of a former process: %s", ", ".join(map(str, removed)))


class Program:
    """The running server, and its reactions to signals."""

    def __init__(self, settings: Settings, reread: Reread) -> None:
        self.settings, self._reread = settings, reread
        self._manager = notify.manager(os.environ)
        self._stopping, self._changing = asyncio.Event(), asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._doorway, self._parts = Doorway(), contextlib.AsyncExitStack()
        self._failure: Exception | None = None

    async def run(self) -> int:
        """Serve until SIGTERM or SIGINT, and return 0. Raises the exceptions in FATAL."""
        inherited = listeners.inherited_listeners(self.settings, os.environ)
        for address in listeners.unserved_addresses(endpoints(self.settings), inherited) if inherited else ():
            logger.warning("not listening on %s: the service manager passes other sockets; change its socket unit or disable it", address)
        opened = inherited or listeners.open_all(endpoints(self.settings))
        try:
            await self._assemble(self.settings)
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self._stopping.set)
            actions = {signal.SIGHUP: self.restart, signal.SIGUSR1: self.renew_runtime, signal.SIGUSR2: self.reread_configuration}
            for number, action in actions.items():
                loop.add_signal_handler(number, partial(self._start_action, action))
            self._serving = Serving(self._doorway, self.settings, opened, inherited=bool(inherited))
            self._manager.ready(self._status())
            self._start(self._manager.keep_watch())
            await self._stopping.wait()
            self._manager.stopping()
            logger.info("HAProxy Data Plane API shutting down")
            await self._serving.stop()
        finally:
            async with self._changing:
                await self._parts.aclose()
            for listener in opened:
                listener.close()
        if self._failure:
            raise self._failure
        return 0

    async def _assemble(self, settings: Settings) -> None:
        """Start the application and the debug socket with the given settings. Raises the exceptions in FATAL."""
        async with contextlib.AsyncExitStack() as parts:
            app = await parts.enter_async_context(open_application(settings))
            commands = debug_socket.Commands(app.services.engine, lambda: self.settings)
            await parts.enter_async_context(debug_socket.serve_commands(settings.debug_socket_path, commands))
            self._parts = parts.pop_all()
        self.settings, self.engine, self.app = settings, app.services.engine, app
        self._start(self._warn_if_refused())
        self._start(_remove_leftovers())
        self._doorway.open(app)

    def _status(self) -> str:
        return f"Serving at {', '.join(self._serving.addresses)}"

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _warn_if_refused(self) -> None:
        """Log a warning if HAProxy refuses the configuration.

        The server runs nevertheless, but refuses changes until the file is corrected.
        """
        try:
            await self.engine.validate(self.engine.raw(), author=NOBODY)
        except NativeError as error:
            logger.warning("HAProxy rejects %s, and changes are refused until it is fixed: %s", self.settings.config_file, error)

    def _start_action(self, action: Callable[[], Awaitable[None]]) -> None:
        """Start the action of a signal in the background. If it fails, log the error."""

        async def run() -> None:
            try:
                async with self._changing:
                    await action()
            except (*FATAL, SystemExit) as error:
                logger.error("%s", error)
            except Exception:
                logger.exception("handling a signal failed")

        self._start(run())

    async def restart(self) -> None:
        """Handle SIGHUP: read the settings, users and configuration again, and apply them.

        If settings change that a running application cannot apply, the engine and the application are replaced.
        """
        self._manager.reloading()
        try:
            former, settings = self.settings, self._reread()
            # Unreadable users fail before anything is changed: without users, no application could start, not even the former one.
            Users(settings, lambda: self.engine.read(None))
            changed = {name for name, _, _ in table() if getattr(former, name) != getattr(settings, name)}
            try:
                await self._serving.change(settings)
                if changed - TAKEN_OVER - OF_LISTENERS - IDENTITY:
                    await self._replace_application(settings)
                else:
                    await self._change_application(settings)
            except Exception:
                await self._serving.change(former)
                raise
            log.setup(settings.log_targets)
            greet(settings)
            if changed & IDENTITY:
                logger.warning("these settings take effect only after a restart: %s", ", ".join(sorted(changed & IDENTITY)))
            if settings.pid_file:
                write_pid_file(settings.pid_file)
            logger.info("Reread %s", settings.file or "the settings")
        finally:
            self._manager.ready(self._status())

    async def _change_application(self, settings: Settings) -> None:
        # These steps come first, because no other can fail. Until both have succeeded, the former users are in effect.
        await self.engine.reread()
        self.app.services.users.read(settings)
        self.app.services.proxies = read_proxies(settings.trusted_proxies)
        self.app.services.roles = read_roles(settings.roles, settings.role_of, settings.users, settings.userlist)
        self.app.services.audit.change(read_audit(settings.audit))
        await self.app.services.bearers.change(read_jwt(settings.jwt, settings.role_of))
        self.app.services.streams.review(self.app.services.roles)
        migrate(settings, self.app.services.discovery)
        self.settings = self.app.services.settings = settings

    async def _replace_application(self, settings: Settings) -> None:
        """Replace the engine and the application. Requests wait meanwhile.

        If the new settings are unusable, start both with the previous settings, and raise. If that fails as well, end the process.
        """
        former = self.settings
        await self._doorway.close(settings.graceful_timeout)
        try:
            await self._parts.aclose()
            await self._assemble(settings)
        except Exception:
            try:
                await self._assemble(former)
            except Exception as error:  # noqa: BLE001 - run() raises it
                self._failure = error
                self._stopping.set()
            raise

    async def renew_runtime(self) -> None:
        """Handle SIGUSR1: search for HAProxy's sockets again."""
        look_for_sockets(self.engine.runtime, self.settings)
        with contextlib.suppress(RuntimeFailure):
            await self.engine.runtime.refresh()
        logger.info("Reloaded Data Plane API")

    async def reread_configuration(self) -> None:
        """Handle SIGUSR2: read the configuration and the users again."""
        await self.engine.reread()
        self.app.services.users.read(self.settings)
        self.app.services.streams.review(self.app.services.roles)
        logger.info("Rereading Configuration Files")
