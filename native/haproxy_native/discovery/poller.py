"""Poll one source, commit the services that the source reports, and record the outcome.

A poller polls once an interval, and earlier if the source reports a change. While polls fail, the interval doubles up to a minute. A
failure does not end the poller; only `stop` does.
"""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from haproxy_native.background import Background
from haproxy_native.discovery.backends import ServiceEndpoint
from haproxy_native.errors import Forbidden, NativeError
from haproxy_native.request_context import NOBODY, Author

# Seconds: the longest pause after failures, and the shortest pause.
LONGEST = 60.0
SHORTEST = 1.0
# The largest part of the time that polls may take, however often the source reports changes.
SHARE = 0.1


def until_retry(interval: float, failures: int) -> float:
    """Return the seconds until a retry: `interval`, doubled for each failure after the first, up to LONGEST, but at least `interval`."""
    doubled = interval * 2.0 ** min(max(failures - 1, 0), 16)
    return max(interval, min(doubled, LONGEST))


def least_pause(interval: float, took: float) -> float:
    """Return the seconds that must pass after a poll of `took` seconds, even if the source reports a change earlier."""
    return min(interval, max(SHORTEST, took / SHARE))


log = logging.getLogger(__name__)
STOPPED = "stopped"
# The states in which a poller has no results, each with the words that are logged when it ends.
_SILENT = {"failing": "answers again", STOPPED: "polls again"}
# The part of an error's text that differs each time, and would hide that the error is the same.
_CHANGING = re.compile(r"transactionId=\S+")


class SourceFailed(Exception):
    """Raised if a source gives no valid answer. Nothing is changed then. The text is for the operator."""


@dataclass(frozen=True)
class ServiceCatalog:
    """The services that a source has found."""

    # Endpoints by service.
    services: Mapping[str, tuple[ServiceEndpoint, ...]]
    # Services whose endpoints could not be queried, each with the reason.
    unknown: Mapping[str, str] = field(default_factory=dict)


class Source(Protocol):
    """The source of a definition, such as a Consul agent."""

    # The name of a service's backend is this prefix and the name of the service.
    prefix: str

    async def poll(self) -> ServiceCatalog:
        """Return the services. Raises SourceFailed."""

    async def wait_for_change(self, seconds: float) -> None:
        """Wait up to `seconds` until something may have changed."""

    async def close(self) -> None: ...


# Commits the services of a source with the rights of an author. Returns the errors, and the id of the reload if one is needed.
Apply = Callable[[Source, ServiceCatalog, Author], Awaitable[tuple[list[str], str | None]]]


class Poller:
    """Polls a source every `interval` seconds from `start` until `stop`, the first time after one interval.

    `author` returns the author of the changes. While it raises Forbidden, the source is not polled.
    """

    def __init__(self, name: str, interval: float, source: Source, apply: Apply, author: Callable[[], Author] = lambda: NOBODY) -> None:
        self.name, self.interval, self.source, self._apply, self._author = name, interval, source, apply, author
        self._status: dict[str, Any] = {}
        self._next, self._failures = 0.0, 0
        self._background = Background(name)

    def start(self) -> None:
        async def run() -> None:
            self._next = time.time() + self.interval
            await asyncio.sleep(self.interval)
            while True:
                await self.round()

        self._background.begin(run())

    async def stop(self) -> None:
        """Stop polling. A change that is being committed is completed first."""
        await self._background.stop()
        await self.source.close()

    @property
    def status(self) -> dict[str, Any]:
        """The state, the last success and the last error; empty before the first poll."""
        return {**self._status, "next_try": moment(self._next)} if self._status else {}

    async def round(self) -> None:
        """Poll once, and wait until the next poll is due."""
        began = time.monotonic()
        await self.poll()
        least = least_pause(self._pause, time.monotonic() - began)
        self._next = time.time() + self._pause
        await asyncio.sleep(least)
        await self.source.wait_for_change(self._pause - least)

    @property
    def _pause(self) -> float:
        return until_retry(self.interval, self._failures)

    async def poll(self) -> None:
        """Poll the source and commit its services. Logs a failure, and records it in the status."""
        try:
            author = self._author()
        except Forbidden as error:
            self._failures = 0
            if self._status.get("state") != STOPPED:
                log.warning("%s has stopped: %s", self.name, error)
            self._status |= {"state": STOPPED, "last_error": str(error), "last_error_at": moment(time.time())}
            return
        self._failures += 1
        try:
            catalog = await self.source.poll()
            errors, reload_id = await self._apply(self.source, catalog, author)
        except (SourceFailed, NativeError, OSError) as error:
            self._record_failure(str(error) or type(error).__name__)
            return
        except Exception as error:
            log.exception("%s", self.name)
            self._record_failure(f"unexpected failure: {type(error).__name__}: {error}")
            return
        self._failures = 0
        if (former := self._status.get("state")) in _SILENT and not errors:
            log.info("%s %s", self.name, _SILENT[former])
        self._status |= {
            "state": "working",
            "last_success": moment(time.time()),
            "services": len(catalog.services) + len(catalog.unknown),
            "servers": sum(map(len, catalog.services.values())),
        }
        if reload_id:
            self._status["reload_id"] = reload_id
        if errors:
            self._record_failure("; ".join(errors))

    def _record_failure(self, text: str) -> None:
        text = _CHANGING.sub("", text)
        is_same = self._status.get("state") == "failing" and self._status.get("last_error") == text
        log.log(logging.DEBUG if is_same else logging.WARNING, "%s: %s; next attempt in %g s", self.name, text, self._pause)
        self._status |= {"state": "failing", "last_error": text, "last_error_at": moment(time.time())}


def moment(seconds: float) -> str:
    """Return a time as the API writes it: UTC, with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
