"""`Delivery`: sends what waits for one webhook, one event after the other, each until it is taken."""

import asyncio
import logging
import random
import sqlite3
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from haproxy_native.webhooks.pace import ATTEMPTS, GONE, Answer, until_retry
from haproxy_native.webhooks.queue import Queue, Waiting
from haproxy_native.webhooks.webhook import Webhook

log = logging.getLogger(__name__)
# Between attempts to use a disk that is full.
PAUSE = 1.0
Result = TypeVar("Result")


class Ask(Protocol):
    def __call__(self, work: Callable[[Queue], Result], /) -> Awaitable[Result]: ...


class Sends(Protocol):
    async def send(self, waiting: Waiting) -> Answer: ...

    async def close(self) -> None: ...


@dataclass
class Delivery:
    """`ask` runs work on the queue, in its thread. Counters begin with the process.

    `status`: of the last answer, 0 where there was none. `refused` counts the events that were given up, since the receiver refuses them.
    """

    webhook: Webhook
    sender: Sends
    ask: Ask
    delivered: int = 0
    failed: int = 0
    refused: int = 0
    status: int = 0
    error: str = ""
    is_stopped: bool = False
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    # What was delivered already, though the queue may still have it.
    _done: int = 0

    def wake(self) -> None:
        """There is something to send."""
        self._wake.set()

    async def run(self) -> None:
        """Delivers until it is cancelled, or the receiver is gone for good."""
        try:
            while not self.is_stopped:
                self._wake.clear()
                if waiting := await self._next():
                    await self._deliver(waiting)
                else:
                    await self._wake.wait()
        finally:
            await self.sender.close()

    async def _next(self) -> Waiting | None:
        while True:
            try:
                return await self.ask(lambda queue: queue.next(self.webhook.name, self._done, time.time()))
            except (sqlite3.Error, OSError) as error:
                self._report(f"the queue cannot be read: {error}", PAUSE)
            await asyncio.sleep(PAUSE)

    async def _deliver(self, waiting: Waiting) -> None:
        failures = refusals = 0
        while True:
            answer = await self.sender.send(waiting)
            self.status = answer.status
            refusals += answer.is_refusal
            if answer.is_taken or refusals >= ATTEMPTS:
                await self._over(waiting, answer)
                return
            failures, self.failed = failures + 1, self.failed + 1
            if answer.status == GONE:
                self._stop(answer)
                return
            pause = until_retry(failures, answer.retry_after, random.random)
            self._report(_words(answer), pause)
            await asyncio.sleep(pause)

    async def _over(self, waiting: Waiting, answer: Answer) -> None:
        self._done = waiting.sequence
        if answer.is_taken:
            self.delivered += 1
            if self.error:
                log.info("webhook %s: %s takes events again", self.webhook.name, self.webhook.url)
            self.error = ""
        else:
            self.refused += 1
            log.error("webhook %s: event %d is given up: %s", self.webhook.name, waiting.sequence, _words(answer))
        try:
            await self.ask(lambda queue: queue.remove(self.webhook.name, self._done))
        except (sqlite3.Error, OSError) as error:
            log.warning("webhook %s: it is not on disk that event %d was sent: %s", self.webhook.name, waiting.sequence, error)

    def _stop(self, answer: Answer) -> None:
        self.is_stopped, self.error = True, _words(answer)
        again = "nothing is sent until the settings are read again (SIGHUP)"
        log.error("webhook %s: %s wants no events any more, 410; %s", self.webhook.name, self.webhook.url, again)

    def _report(self, error: str, pause: float) -> None:
        """The first of a kind of failures is a warning."""
        log.log(
            logging.DEBUG if error == self.error else logging.WARNING,
            "webhook %s: %s; tried again in %.1f s",
            self.webhook.name,
            error,
            pause,
        )
        self.error = error


def _words(answer: Answer) -> str:
    return f"{answer.status} {answer.error}".strip() if answer.status else answer.error
