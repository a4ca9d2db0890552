"""Solve dns-01 challenges: set the record, wait until a name server of the zone returns it, notify HAProxy, and delete the record."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.acme.haproxy_output import Challenge
from haproxy_native.acme.providers import Provider, ProviderFailed, provider
from haproxy_native.acme.zones import Unresolved, Zones, last_labels
from haproxy_native.errors import RuntimeFailure
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.responses import refusal_error

log = logging.getLogger(__name__)
READY = "challenge(s) ready!"


@dataclass(frozen=True)
class ChallengeTimes:
    """The waiting times of a challenge, in seconds."""

    # The pause before the first query of the name servers, and the pause between two queries.
    delay: float = 0.0
    interval: float = 5.0
    # How long to query for the record; None to query no name servers.
    timeout: float | None = 3600.0
    # How long all queries may fail before the challenge fails.
    failure_timeout: float = 60.0
    # When the record is deleted after the challenge was solved, and after it failed.
    deletion_delay: float = 600.0
    deletion_delay_after_failure: float = 1.0

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "ChallengeTimes":
        """Return the times: two environment variables set `delay` and `timeout`. Values that are no numbers are ignored.

        A negative timeout stands for None.
        """
        delay = _number(environ.get("DPAPI_ACME_PROPAGDELAY_SEC"), 0.0)
        timeout = _number(environ.get("DPAPI_ACME_PROPAGTIMEOUT_SEC"), 3600.0)
        return cls(delay=max(delay, 0.0), timeout=None if timeout < 0 else timeout)


class Solver:
    """Solves challenges. `programs` are those that the provider EXEC may run. Owns the reasons of failures."""

    def __init__(self, runtime: Runtime, times: ChallengeTimes, zones: Zones, programs: Sequence[str] = ()) -> None:
        self.runtime, self.times, self.zones, self.programs = runtime, times, zones, tuple(programs)
        # Why the last challenge of a certificate was not solved.
        self.failures: dict[str, str] = {}

    async def solve(self, challenge: Challenge) -> None:
        """Solve a challenge: set its record, wait for the record, confirm the challenge to HAProxy, and later delete the record.

        Logs a failure, and stores its reason in `failures`. Waits until the record is deleted: `times.deletion_delay` seconds after a
        success, and `times.deletion_delay_after_failure` seconds after a failure.
        """
        name = challenge.name
        try:
            at = provider(challenge.provider, challenge.variables, self.programs)
            zone = last_labels(name) if self.times.timeout is None else await self.zones.find_zone(name)
            await at.set(zone, name, challenge.value, challenge.ttl)
        except (ProviderFailed, Unresolved) as error:
            self._fail(challenge, error)
            return
        deletion_delay = self.times.deletion_delay_after_failure
        try:
            await self._wait_for_record(zone, challenge)
            if self.runtime.capabilities.takes_challenge_ready:
                command = f"acme challenge_ready {argument(challenge.certificate)} domain {argument(challenge.domain)}"
                if READY not in (answer := await self.runtime.send(command)):
                    raise refusal_error(answer, command)
            self.failures.pop(challenge.certificate, None)
            log.info("challenge for %s of %s is deployed", challenge.domain, challenge.certificate)
            deletion_delay = self.times.deletion_delay
        except (Unresolved, RuntimeFailure) as error:
            self._fail(challenge, error)
        finally:
            await self._delete_record(at, zone, challenge, deletion_delay)

    def _fail(self, challenge: Challenge, error: Exception) -> None:
        self.failures[challenge.certificate] = f"{challenge.domain}: {error}"
        log.error("challenge for %s of %s: %s", challenge.domain, challenge.certificate, error)

    async def _wait_for_record(self, zone: str, challenge: Challenge) -> None:
        """Wait until a name server of the zone returns the record. Raises Unresolved after `times.timeout`, or after repeated failures.

        If `times.timeout` is None, only wait for `times.delay` seconds.
        """
        await asyncio.sleep(self.times.delay)
        if self.times.timeout is None:
            return
        clock = asyncio.get_running_loop().time
        began = last_answered = clock()
        while True:
            try:
                if await self.zones.has_record(zone, challenge.name, challenge.value):
                    return
                last_answered = clock()
            except Unresolved:
                if clock() - last_answered > self.times.failure_timeout:
                    raise
            if clock() - began > self.times.timeout:
                raise Unresolved(f"no name server of {zone} has had the record within {self.times.timeout:g} s")
            await asyncio.sleep(self.times.interval)

    async def _delete_record(self, at: Provider, zone: str, challenge: Challenge, deletion_delay: float) -> None:
        """Delete the record after `deletion_delay` seconds, or immediately if the task is cancelled. Logs a failure."""
        try:
            await asyncio.sleep(deletion_delay)
        finally:
            try:
                await asyncio.shield(at.delete(zone, challenge.name, challenge.value, challenge.ttl))
            except ProviderFailed as error:
                log.warning("deleting the record %s failed: %s", challenge.name, error)


def _number(text: Any, default: float) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        return default
