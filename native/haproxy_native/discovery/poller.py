"""Polls one source, and records the outcome. Nothing but its end stops a poller.

A source that fails is asked less and less often, up to once a minute; one that reports changes is asked then.
"""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from haproxy_native.background import Background
from haproxy_native.discovery.backoff import rest, until_retry
from haproxy_native.discovery.services import Found, SourceFailed
from haproxy_native.errors import Forbidden, NativeError
from haproxy_native.request_context import NOBODY, Author

log = logging.getLogger(__name__)
STOPPED = "stopped"
# States in which nothing is found, each with what the log says at their end.
_SILENT = {"failing": "answers again", STOPPED: "goes on"}
# An id of no use here, which would make each repetition of an error a different one.
_CHANGING = re.compile(r"transactionId=\S+")


class Source(Protocol):
    """One definition's source. The name of a service's backend is the prefix and the service's own name."""

    prefix: str

    async def look(self) -> Found:
        """Raises SourceFailed."""

    async def changed(self, seconds: float) -> None:
        """Returns when there may be something new to see, after so many seconds at the latest."""

    async def close(self) -> None: ...


@dataclass(frozen=True)
class Applied:
    """What came of one answer: what could not be done, by service, and the reload that will make the rest live."""

    troubles: list[str] = field(default_factory=list)
    reload_id: str | None = None


# Commits what a source has found, with the rights of an author.
Apply = Callable[[Source, Found, Author], Awaitable[Applied]]


class Poller:
    """`start`, and `stop` at the end; the first look is after one interval (seconds), as is each next one at the latest.

    `standing` returns the author whose rights it acts with, or raises Forbidden: then nobody is asked, until it returns one again.
    """

    def __init__(self, name: str, interval: float, source: Source, apply: Apply, standing: Callable[[], Author] = lambda: NOBODY) -> None:
        self.name, self.interval, self.source, self._apply, self._standing = name, interval, source, apply, standing
        self._told: dict[str, Any] = {}
        self._next, self._failures = 0.0, 0
        self._background = Background(name)

    def start(self) -> None:
        self._background.begin(self._run())

    async def stop(self) -> None:
        """What is being written is finished."""
        await self._background.stop()
        await self.source.close()

    @property
    def status(self) -> dict[str, Any]:
        """Empty before the first look."""
        return {**self._told, "next_try": moment(self._next)} if self._told else {}

    async def _run(self) -> None:
        self._next = time.time() + self.interval
        await asyncio.sleep(self.interval)
        while True:
            await self.round()

    async def round(self) -> None:
        """A look, and the time until the next one."""
        began = time.monotonic()
        await self.look()
        resting = rest(self._pause, time.monotonic() - began)
        self._next = time.time() + self._pause
        await asyncio.sleep(resting)
        await self.source.changed(self._pause - resting)

    @property
    def _pause(self) -> float:
        return until_retry(self.interval, self._failures)

    async def look(self) -> None:
        """Polls once; a failure is logged and changes nothing."""
        try:
            standing = self._standing()
        except Forbidden as error:
            self._stopped(str(error))
            return
        self._failures += 1
        try:
            found = await self.source.look()
            applied = await self._apply(self.source, found, standing)
        except (SourceFailed, NativeError, OSError) as error:
            self._failed(str(error) or type(error).__name__)
        except Exception as error:
            log.exception("%s", self.name)
            self._failed(f"unexpected failure: {type(error).__name__}: {error}")
        else:
            self._failures = 0
            self._succeeded(found, applied)

    def _succeeded(self, found: Found, applied: Applied) -> None:
        if (former := self._told.get("state")) in _SILENT and not applied.troubles:
            log.info("%s %s", self.name, _SILENT[former])
        self._told |= {
            "state": "working",
            "last_success": moment(time.time()),
            "services": len(found.services) + len(found.unknown),
            "servers": sum(map(len, found.services.values())),
        }
        if applied.reload_id:
            self._told["reload_id"] = applied.reload_id
        if applied.troubles:
            self._failed("; ".join(applied.troubles))

    def _stopped(self, text: str) -> None:
        self._failures = 0
        if self._told.get("state") != STOPPED:
            log.warning("%s has stopped: %s", self.name, text)
        self._told |= {"state": STOPPED, "last_error": text, "last_error_at": moment(time.time())}

    def _failed(self, text: str) -> None:
        text = _CHANGING.sub("", text)
        known = self._told.get("state") == "failing" and self._told.get("last_error") == text
        log.log(logging.DEBUG if known else logging.WARNING, "%s: %s; tried again in %g s", self.name, text, self._pause)
        self._told |= {"state": "failing", "last_error": text, "last_error_at": moment(time.time())}


def moment(seconds: float) -> str:
    """Returns a time as the API writes it: UTC, with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
