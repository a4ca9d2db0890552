"""Commit the services of all sources to the configuration, one source after the other.

Each poll compares the services with the current configuration, so it also corrects an edit by hand. The backends of a poll are one commit.
If HAProxy or the permissions refuse that commit, each backend is committed alone, so that one backend does not block the others. While the
source reports the same endpoints for a refused backend, the backend is retried less and less often (`Refusals`).
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from haproxy_native.discovery.backends import DesiredBackend, Growth
from haproxy_native.discovery.definitions import Definition, DiscoveryTable
from haproxy_native.discovery.poller import ServiceCatalog, Source, until_retry
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import Forbidden, NativeError, Refused
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document


@dataclass(frozen=True)
class RefusedBackend:
    """A backend whose commit was refused."""

    backend: DesiredBackend
    # The reason.
    text: str
    # The number of refusals in a row.
    times: int
    # The earliest time of the next attempt, in seconds of the clock of `Refusals`.
    until: float


class Refusals:
    """The last refusals, by backend. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, RefusedBackend] = {}

    def reason_to_wait(self, backend: DesiredBackend) -> str:
        """Return why a backend was refused; empty if the backend may be committed now."""
        known = self._known.get(backend.name)
        return known.text if known and known.backend.is_same(backend) and self._clock() < known.until else ""

    def note(self, backend: DesiredBackend, text: str, interval: float) -> None:
        known = self._known.get(backend.name)
        times = known.times + 1 if known and known.backend.is_same(backend) else 1
        self._known[backend.name] = RefusedBackend(backend, text, times, self._clock() + until_retry(interval, times))

    def forget(self, backend: DesiredBackend) -> None:
        """Delete the refusals of a backend, since a commit has accepted it."""
        self._known.pop(backend.name, None)


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reconciled:
    """The operation that applies backends to a document.

    Applying a large catalogue takes seconds. So the result is computed in advance: `after` is the result for the document `before`.
    """

    desired: Sequence[DesiredBackend]
    editor: Editor
    before: Document | None = None
    after: Document | None = None
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        if self.after is not None and document is self.before:
            return self.after
        for backend in self.desired:
            document = backend.apply(self.editor, document)
        return document


class Reconciler:
    """Commits the services of sources, and owns the refusals."""

    def __init__(self, engine: Engine, editor: Editor, table: DiscoveryTable, refusals: Refusals | None = None) -> None:
        self._refusals = refusals or Refusals()
        self.engine, self.editor, self._table = engine, editor, table
        self._lock = asyncio.Lock()

    async def apply(
        self, definition: Definition, source: Source, services: ServiceCatalog, creator: Author
    ) -> tuple[list[str], str | None]:
        """Commit the services with the creator's rights. Return (errors, id of the reload if the commit needs one).

        Raises NativeError if no commit is possible.
        """
        author = Author("discovery " + source.prefix.rstrip("-"), rights=creator.rights)
        async with self._lock:
            former = set(self._table.backends(definition["id"]))
            growth, defaults = Growth.from_definition(definition), definition.get("defaults")
            # First the backends of all services with known endpoints, and then those of services that are gone.
            desired = [
                DesiredBackend(source.prefix + service, endpoints, growth, defaults)
                for service, endpoints in sorted(services.services.items())
            ]
            current = {backend.name for backend in desired}
            vanished = former - current - {source.prefix + service for service in services.unknown}
            desired += [DesiredBackend(name, None, growth) for name in sorted(vanished)]
            self._table.set_backends(definition["id"], former | current)
            errors, reload_id = await self._commit(desired, definition["retry_timeout"], author)
            self._table.set_backends(definition["id"], (former | current) - (vanished - errors.keys()))
        problems = [f"{name}: {text}" for name, text in {**services.unknown, **errors}.items()]
        return problems, reload_id

    async def _commit(self, desired: Sequence[DesiredBackend], interval: float, author: Author) -> tuple[dict[str, str], str | None]:
        """Commit the backends together. If the commit is refused, commit each backend alone.

        Return (errors by backend, id of the last reload that the commits need).
        """
        errors, together = await self._prepare(desired)
        if len(together.desired) > 1:
            with suppress(Refused, Forbidden):
                return errors, await self._amend(together, author)
        reload_id = None
        for backend in together.desired:
            try:
                reload_id = await self._amend(Reconciled([backend], self.editor), author) or reload_id
            except (Refused, Forbidden) as error:
                errors[backend.name] = str(error)
                self._refusals.note(backend, str(error), interval)
        return errors, reload_id

    async def _prepare(self, desired: Sequence[DesiredBackend]) -> tuple[dict[str, str], Reconciled]:
        """Apply the backends to the document one by one. Return (errors by backend, operation that applies the backends that change).

        Other tasks run between backends, since a large catalogue takes seconds.
        """
        errors: dict[str, str] = {}
        changing: list[DesiredBackend] = []
        before = after = self.engine.document
        for backend in desired:
            await asyncio.sleep(0)
            try:
                new = backend.apply(self.editor, after)
            except NativeError as error:
                errors[backend.name] = str(error)
                continue
            if new is after:
                continue
            if reason := self._refusals.reason_to_wait(backend):
                errors[backend.name] = reason
            else:
                changing.append(backend)
                after = new
        return errors, Reconciled(changing, self.editor, before, after)

    async def _amend(self, change: Reconciled, author: Author) -> str | None:
        """Commit `change`, and return the id of the reload if the commit needs one. Raises Refused and Forbidden."""
        outcome = await self.engine.amend([change], author=author)
        for backend in change.desired:
            self._refusals.forget(backend)
        return outcome.reload_id
