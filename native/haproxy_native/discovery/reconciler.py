"""Commits the services of all sources to the configuration, one source after the other.

The file itself is what is compared with: an edit by hand, or a reload that failed, is mended by the next look. What HAProxy
refuses is tried again less and less often.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

from haproxy_native.discovery.backends import DesiredBackend
from haproxy_native.discovery.poller import Applied, Source
from haproxy_native.discovery.refusals import Refusals
from haproxy_native.discovery.services import Definition, Found
from haproxy_native.discovery.slots import Growth
from haproxy_native.discovery.table import DiscoveryTable
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import Forbidden, NativeError, Refused
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reconciled:
    """Makes the backends as the services are. Prepared for one document, since a large catalogue takes seconds."""

    wishes: Sequence[DesiredBackend]
    editor: Editor
    before: Document | None = None
    after: Document | None = None
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        if self.after is not None and document is self.before:
            return self.after
        return reduce(lambda now, wish: wish.on(self.editor, now), self.wishes, document)


class Reconciler:
    """`table` remembers the backends of each definition, so that a service that vanishes while the server is down is noticed."""

    def __init__(self, engine: Engine, editor: Editor, table: DiscoveryTable, refusals: Refusals | None = None) -> None:
        self._refusals = refusals or Refusals()
        self.engine, self.editor, self._table = engine, editor, table
        self._lock = asyncio.Lock()

    async def apply(self, definition: Definition, source: Source, services: Found, standing: Author) -> Applied:
        """Applies the services with the rights of `standing`. Raises what prevents any commit."""
        by = Author("discovery " + source.prefix.rstrip("-"), rights=standing.rights)
        async with self._lock:
            known = set(self._table.backends(definition["id"]))
            wishes = _wishes(definition, source.prefix, services, known)
            there = {wish.name for wish in wishes if wish.endpoints is not None}
            self._table.set_backends(definition["id"], known | there)
            troubles, reload_id = await self._commit(wishes, definition["retry_timeout"], by)
            gone = {wish.name for wish in wishes if wish.endpoints is None and wish.name not in troubles}
            self._table.set_backends(definition["id"], (known | there) - gone)
        problems = [f"{name}: {text}" for name, text in {**services.unknown, **troubles}.items()]
        return Applied(problems, reload_id)

    async def _commit(self, wishes: Sequence[DesiredBackend], interval: float, by: Author) -> tuple[dict[str, str], str | None]:
        """What could not be done, by backend; what is refused in one of them does not keep the others back."""
        troubles, together = await self._sorted_out(wishes)
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

    async def _sorted_out(self, wishes: Sequence[DesiredBackend]) -> tuple[dict[str, str], Reconciled]:
        """Return the impossible backends with reasons, and what makes the others as they should be.

        Prepared one by one, since a large catalogue takes seconds.
        """
        troubles: dict[str, str] = {}
        changing: list[DesiredBackend] = []
        before = after = self.engine.document
        for wish in wishes:
            await asyncio.sleep(0)
            try:
                new = wish.on(self.editor, after)
            except NativeError as error:
                troubles[wish.name] = str(error)
                continue
            if new is after:
                continue
            if trouble := self._refusals.holds(wish):
                troubles[wish.name] = trouble
            else:
                changing.append(wish)
                after = new
        return troubles, Reconciled(changing, self.editor, before, after)

    async def _amend(self, change: Reconciled, by: Author) -> str | None:
        """The id of the reload that makes them live, if there is one. Raises Refused and Forbidden."""
        outcome = await self.engine.amend([change], author=by)
        for wish in change.wishes:
            self._refusals.settle(wish)
        return outcome.reload_id


def _wishes(definition: Definition, prefix: str, found: Found, known: Iterable[str]) -> list[DesiredBackend]:
    """Backends of services that are there, then those of services that are not any more."""
    growth, defaults = Growth.of(definition), definition.get("defaults")
    there = [DesiredBackend(prefix + service, endpoints, growth, defaults) for service, endpoints in sorted(found.services.items())]
    vanished = set(known) - {wish.name for wish in there} - {prefix + service for service in found.unknown}
    return [*there, *(DesiredBackend(name, None, growth) for name in sorted(vanished))]
