"""Serve the listeners, each with its own uvicorn server in the same event loop, and apply changed settings.

When the settings change, a listener whose address remains keeps its socket and its connections. New listeners are opened before removed
ones are drained.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Iterator
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp

from dataplaneapi.host.process import allow_open_files
from dataplaneapi.server.acceptor import RESERVED, AcceptedConnection, Acceptor
from dataplaneapi.server.endpoint import Endpoint, endpoint_of_scheme, endpoints
from dataplaneapi.server.head import HalfHeads
from dataplaneapi.server.listeners import Listener, open_all
from dataplaneapi.server.protocol import ListenerState, Protocol
from dataplaneapi.settings.table import Settings

logger = logging.getLogger(__name__)
BACKLOG = 2048
# The open files needed in addition to connections, and the connections assumed for a listener without a limit.
OTHER_FILES, UNLIMITED = 512, 16384


class ListenerServer(uvicorn.Server):
    """A uvicorn server that gets its connections from an Acceptor. It handles no signals: the program does.

    uvicorn wakes up ten times a second to check `should_exit` and to update the date header. This server sleeps until it is stopped.
    """

    server_state: ListenerState

    def __init__(self, app: ASGIApp, listener: Listener, graceful_timeout: float, half_heads: HalfHeads | None = None) -> None:
        self._stopped = asyncio.Event()
        config = uvicorn.Config(
            app,
            http=Protocol,
            loop="uvloop",
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=int(graceful_timeout),
        )
        super().__init__(config)
        self.server_state = ListenerState(half_heads or HalfHeads())
        self.listener = listener
        self.servers: list[Acceptor] = []  # type: ignore[assignment]

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    @property
    def should_exit(self) -> bool:
        return self._stopped.is_set()

    @should_exit.setter
    def should_exit(self, value: bool) -> None:
        """Stop the server. Not thread-safe."""
        if value:
            self._stopped.set()

    async def main_loop(self) -> None:
        await self._stopped.wait()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self.lifespan.startup()
        listener = self.listener

        def protocol(accepted: AcceptedConnection) -> Protocol:
            about = {"config": self.config, "server_state": self.server_state, "app_state": self.lifespan.state}
            return Protocol(listener.endpoint, accepted, **about)

        self.servers = [Acceptor(listener.socket, protocol, lambda: listener.endpoint.limit, listener.context)]
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish the requests on all accepted connections.

        Connections in the backlog stay there for the next server if the service manager has the socket open too. Otherwise, they are
        accepted and served first.
        """
        self.server_state.stopping = True
        if not self.listener.is_inherited:
            for server in self.servers:
                server.drain()
        await super().shutdown(sockets)

    async def _wait_tasks_to_complete(self) -> None:
        # uvicorn does not yet know connections whose handshake is in progress.
        for server in self.servers:
            await server.wait_closed()
        await super()._wait_tasks_to_complete()

    def follow(self, graceful_timeout: float) -> None:
        """Apply a new `graceful_timeout`, and the present limit of the listener."""
        self.config.timeout_graceful_shutdown = int(graceful_timeout)
        for server in self.servers:
            server.watch()


@dataclass
class Served:
    """A listener, its server, and the task in which the server runs."""

    listener: Listener
    server: ListenerServer
    task: asyncio.Task[None]


class Serving:
    """All listeners of the process.

    `inherited`: whether their sockets come from the service manager, so that only the options of a listener can change.
    """

    def __init__(self, app: ASGIApp, settings: Settings, opened: list[Listener], *, inherited: bool) -> None:
        self._app, self._settings, self._inherited = app, settings, inherited
        self._half_heads = HalfHeads()
        _raise_file_limit([listener.endpoint for listener in opened])
        self._served = [self._serve(listener) for listener in opened]

    @property
    def addresses(self) -> list[str]:
        return [served.listener.address for served in self._served]

    def _serve(self, listener: Listener) -> Served:
        server = ListenerServer(self._app, listener, self._settings.graceful_timeout, self._half_heads)
        # From now on clients can connect. Until uvicorn has started, their connections wait in the backlog.
        listener.socket.listen(BACKLOG)
        logger.info("Serving data plane at %s", listener.address)
        return Served(listener, server, asyncio.ensure_future(server.serve(sockets=[listener.socket])))

    async def change(self, settings: Settings) -> None:
        """Apply new settings, and wait until removed listeners are drained.

        Raises SettingsError and changes nothing if a new listener cannot be opened or served.
        """
        new_endpoints = endpoints(settings)
        remaining: list[tuple[Served, Endpoint]] = []
        for served in self._served:
            old = served.listener.endpoint
            if self._inherited:
                remaining.append((served, endpoint_of_scheme(old.scheme, settings)))
            else:
                remaining += [(served, new) for new in new_endpoints if new.socket_address == old.socket_address][:1]
        identities = [served.listener.identity(endpoint) for served, endpoint in remaining]
        addresses = [served.listener.endpoint.socket_address for served, _ in remaining]
        added = [] if self._inherited else open_all(endpoint for endpoint in new_endpoints if endpoint.socket_address not in addresses)
        for (served, endpoint), identity in zip(remaining, identities, strict=True):
            served.listener.apply(endpoint, identity)
            served.server.follow(settings.graceful_timeout)
        self._settings = settings
        staying = [served for served, _ in remaining]
        removed = [served for served in self._served if served not in staying]
        self._served = [*staying, *(self._serve(listener) for listener in added)]
        _raise_file_limit([served.listener.endpoint for served in self._served])
        await _drain(removed)

    async def stop(self) -> None:
        """Close all listeners, and wait at most `graceful_timeout` seconds for the requests in progress."""
        await _drain(self._served)


def _raise_file_limit(endpoints: list[Endpoint]) -> None:
    """Raise the limit of open files to the number that all connections and their requests need.

    Logs a warning if the system does not permit that.
    """
    needed = OTHER_FILES + sum((endpoint.limit or UNLIMITED) + RESERVED for endpoint in endpoints)
    if (allowed := allow_open_files(needed)) < OTHER_FILES + sum(endpoint.limit + RESERVED for endpoint in endpoints):
        logger.warning("this process may open %d files (ulimit -n), which is not enough for listen_limit: %d are needed", allowed, needed)


async def _drain(removed: list[Served]) -> None:
    addresses = [served.listener.address for served in removed]
    for served in removed:
        served.server.should_exit = True
    await asyncio.gather(*(served.task for served in removed))
    for served, address in zip(removed, addresses, strict=True):
        served.listener.close()
        logger.info("Stopped serving data plane at %s", address)
