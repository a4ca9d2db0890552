"""Commit the services of all sources to the configuration, one source after the other.

Each poll compares the services with the file, so it also repairs an edit by hand, or a reload that failed. All backends of a poll are one
commit; if that is refused, each backend is a commit of its own, so that one of them does not prevent the others. A backend that was refused
is retried less and less often while the source wants the same (`Refusals`).
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from haproxy_native.discovery.backends import DesiredBackend, Growth
from haproxy_native.discovery.poller import Source, until_retry
from haproxy_native.discovery.services import Definition, ServiceCatalog
from haproxy_native.discovery.store import DiscoveryTable
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import Forbidden, NativeError, Refused
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document


@dataclass(frozen=True)
class RefusedBackend:
    """A backend that was refused, and when it is tried again."""

    wish: DesiredBackend
    text: str
    # How often in a row.
    times: int
    # The time of the next attempt, by the clock.
    until: float


class Refusals:
    """The last refusals, by backend. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, RefusedBackend] = {}

    def reason_to_wait(self, wish: DesiredBackend) -> str:
        """Return why it was refused until it may be retried, then an empty text."""
        known = self._known.get(wish.name)
        return known.text if known and known.wish.is_same(wish) and self._clock() < known.until else ""

    def note(self, wish: DesiredBackend, text: str, interval: float) -> None:
        known = self._known.get(wish.name)
        times = known.times + 1 if known and known.wish.is_same(wish) else 1
        self._known[wish.name] = RefusedBackend(wish, text, times, self._clock() + until_retry(interval, times))

    def settle(self, wish: DesiredBackend) -> None:
        """Forget the refusals of a backend that was accepted."""
        self._known.pop(wish.name, None)


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reconciled:
    """The operation that applies backends. Its result for one document (`before`) is prepared, since a large catalogue takes seconds."""

    wishes: Sequence[DesiredBackend]
    editor: Editor
    before: Document | None = None
    after: Document | None = None
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        if self.after is not None and document is self.before:
            return self.after
        return reduce(lambda now, wish: wish.apply(self.editor, now), self.wishes, document)


class Reconciler:
    """Applies what sources find. Owns the refusals."""

    def __init__(self, engine: Engine, editor: Editor, table: DiscoveryTable, refusals: Refusals | None = None) -> None:
        self._refusals = refusals or Refusals()
        self.engine, self.editor, self._table = engine, editor, table
        self._lock = asyncio.Lock()

    async def apply(
        self, definition: Definition, source: Source, services: ServiceCatalog, creator: Author
    ) -> tuple[list[str], str | None]:
        """Apply the services with the creator's rights. Return what failed, and the id of the reload. Raises what prevents any commit."""
        by = Author("discovery " + source.prefix.rstrip("-"), rights=creator.rights)
        async with self._lock:
            known = set(self._table.backends(definition["id"]))
            wishes = _wishes(definition, source.prefix, services, known)
            there = {wish.name for wish in wishes if wish.endpoints is not None}
            self._table.set_backends(definition["id"], known | there)
            troubles, reload_id = await self._commit(wishes, definition["retry_timeout"], by)
            gone = {wish.name for wish in wishes if wish.endpoints is None and wish.name not in troubles}
            self._table.set_backends(definition["id"], (known | there) - gone)
        problems = [f"{name}: {text}" for name, text in {**services.unknown, **troubles}.items()]
        return problems, reload_id

    async def _commit(self, wishes: Sequence[DesiredBackend], interval: float, by: Author) -> tuple[dict[str, str], str | None]:
        """Commit the backends, and return what failed, by backend, and the id of the reload."""
        troubles, together = await self._prepare(wishes)
        if len(together.wishes) > 1:
            with suppress(Refused, Forbidden):
                return troubles, await self._amend(together, by)
        reload_id = None
        for wish in together.wishes:
            try:
                reload_id = await self._amend(Reconciled([wish], self.editor), by) or reload_id
            except (Refused, Forbidden) as error:
                troubles[wish.name] = str(error)
                self._refusals.note(wish, str(error), interval)
        return troubles, reload_id

    async def _prepare(self, wishes: Sequence[DesiredBackend]) -> tuple[dict[str, str], Reconciled]:
        """Apply the backends to the document one by one, and return the errors by backend, and the operation for those that change it.

        Other tasks run between backends, since a large catalogue takes seconds.
        """
        troubles: dict[str, str] = {}
        changing: list[DesiredBackend] = []
        before = after = self.engine.document
        for wish in wishes:
            await asyncio.sleep(0)
            try:
                new = wish.apply(self.editor, after)
            except NativeError as error:
                troubles[wish.name] = str(error)
                continue
            if new is after:
                continue
            if trouble := self._refusals.reason_to_wait(wish):
                troubles[wish.name] = trouble
            else:
                changing.append(wish)
                after = new
        return troubles, Reconciled(changing, self.editor, before, after)

    async def _amend(self, change: Reconciled, by: Author) -> str | None:
        """Commit, and return the id of the reload if one is needed. Raises Refused and Forbidden."""
        outcome = await self.engine.amend([change], author=by)
        for wish in change.wishes:
            self._refusals.settle(wish)
        return outcome.reload_id


def _wishes(definition: Definition, prefix: str, found: ServiceCatalog, known: Iterable[str]) -> list[DesiredBackend]:
    """Return the backends of the services, then those of services that are gone."""
    growth, defaults = Growth.of(definition), definition.get("defaults")
    there = [DesiredBackend(prefix + service, endpoints, growth, defaults) for service, endpoints in sorted(found.services.items())]
    vanished = set(known) - {wish.name for wish in there} - {prefix + service for service in found.unknown}
    return [*there, *(DesiredBackend(name, None, growth) for name in sorted(vanished))]
