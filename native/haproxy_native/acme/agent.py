"""React to HAProxy's ACME events: store each renewed certificate, and solve each challenge. Every event is handled in its own task."""

import logging
from types import TracebackType
from typing import Self

from haproxy_native.acme.dns_challenge import Solver
from haproxy_native.acme.haproxy_output import HEAD, Challenge, parse_challenge, parse_status
from haproxy_native.acme.keeper import Keeper
from haproxy_native.background import Background
from haproxy_native.commit.events import Event, WorkerChanged
from haproxy_native.errors import RuntimeFailure
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.events import LONGEST_PAUSE, EventListener, HAProxyEvent

log = logging.getLogger(__name__)
AT_WORK = "Running"


class Acme:
    """Listens to ACME events of HAProxy within `async with`."""

    def __init__(self, runtime: Runtime, keeper: Keeper, solver: Solver, *, longest_pause: float = LONGEST_PAUSE) -> None:
        self.runtime, self.keeper, self.solver = runtime, keeper, solver
        self._listener = EventListener(runtime, self.hear, longest_pause=longest_pause)
        self._background = Background("handling an ACME event")

    async def __aenter__(self) -> Self:
        def leave_former_worker(event: Event) -> None:
            if isinstance(event, WorkerChanged):
                self._listener.leave_worker()

        self.keeper.context.events.listen(leave_former_worker)
        self._listener.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._listener.stop()
        await self._background.stop()

    def hear(self, event: HAProxyEvent) -> None:
        """Start the task for an event `acme newcert` or `acme deploy`. Other events are ignored."""
        words = event.text.split(maxsplit=3)
        if event.category != "acme" or len(words) < 3:
            return
        if words[1] == "newcert":
            self._background.begin(self.keeper.keep(words[2], event.at))
        elif words[1] == "deploy":
            try:
                self._background.begin(self._solve_if_running(parse_challenge(event.text)))
            except (ValueError, KeyError, TypeError) as error:
                log.error("parsing an ACME challenge failed: %s", error)

    async def _solve_if_running(self, received: Challenge) -> None:
        """Solve a challenge if HAProxy is renewing its certificate. HAProxy's ring of events also contains old challenges."""
        try:
            rows = list(parse_status(await self.runtime.read_dump("acme status", HEAD)))
        except RuntimeFailure as error:
            log.error("challenge for %s: %s", received.domain, error)
            return
        for unknown in self.solver.failures.keys() - {row["certificate"] for row in rows}:
            del self.solver.failures[unknown]
        if any(row["certificate"] == received.certificate and row["state"] == AT_WORK for row in rows):
            await self.solver.solve(received)
