"""`Drift`: finds differences between the file, the loaded configuration and the worker in service.

The file is compared with what the worker has loaded; that with what was changed in the process alone; and stored files, such as maps and
certificates, with what the worker has of them.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from haproxy_native.beside import beside
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import NativeError, RuntimeDenied, RuntimeFailure
from haproxy_native.features.overrides.ledger import Override
from haproxy_native.features.overrides.overrides import Overrides, as_override, object_of_server
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.planning.observed import ServerDifference

# The member of a stored file. Its values are digests, or fingerprints of certificates.
CONTENT = "content"
# Why two values differ: a reload is pending; none is; there is an override; others have changed the process; HAProxy has read a
# server-state file.
PENDING, NOT_LOADED, OVERRIDE, OUTSIDE, STATE_FILE = "pending", "not_loaded", "override", "outside", "state_file"


@dataclass(frozen=True)
class Difference:
    """A member of an object that differs; the whole object if `member` is empty."""

    object: str
    member: str
    # Which two differ: file and running, running and worker, or for a stored file file and worker.
    between: tuple[str, str]
    # Their values in this order; None if it does not exist.
    values: tuple[Any, Any]
    cause: str


@dataclass(frozen=True)
class DriftReport:
    """The differences, and what could not be compared."""

    differences: Sequence[Difference]
    # Whether it is known what the worker has loaded.
    is_known: bool
    # Whether HAProxy answers.
    answers: bool
    # Changes of the process alone that no object expresses.
    notes: Sequence[str]


class Drift:
    """Compares the file and the process of one engine."""

    def __init__(self, engine: Engine, editor: Editor, overrides: Overrides) -> None:
        self._engine, self._editor, self._overrides = engine, editor, overrides

    async def find(self) -> DriftReport:
        """Return all differences. Never raises because HAProxy does not answer."""
        with suppress(NativeError):
            await self._engine.notice()
        running, document = self._engine.running, self._engine.document
        cause = PENDING if self._engine.context.has_unloaded else NOT_LOADED
        differences: list[Difference] = []
        if running is not None:
            differences += await beside(lambda: [_of_file(effect, cause) for effect in effects(self._editor, running, document)])
        answers = True
        try:
            differences += await self._of_servers()
            differences += await self._of_files()
        except RuntimeFailure:
            answers = False
        context = self._engine.context
        shown = {difference.object for difference in differences}
        notes = [what for what in context.running.state.drift if _server(what) not in shown]
        return DriftReport(differences, running is not None and not context.running.is_doubtful, answers, notes)

    async def _of_servers(self) -> list[Difference]:
        """Return the differences of servers from the loaded configuration. Raises RuntimeFailure."""
        made, found = await self._overrides.compared()
        loaded = await self._overrides.loaded_from_files(found)
        causes = [STATE_FILE if each in loaded else OUTSIDE for each in found]
        others = [difference for each, cause in zip(found, causes, strict=True) for difference in _of_server(each, cause)]
        return [*_of_worker(made, OVERRIDE), *others]

    async def _of_files(self) -> list[Difference]:
        """Return the differences of stored files that the worker has loaded, as far as the level of the socket permits.

        Raises RuntimeFailure.
        """
        context = self._engine.context
        cause = PENDING if context.pending else OUTSIDE
        found: list[tuple[str, str, str]] = []
        for store in self._engine.stores.values():
            with suppress(RuntimeDenied):
                found += await store.differing(context)
        return [Difference(object_, CONTENT, ("file", "worker"), (held, served), cause) for object_, held, served in found]


def _server(what: str) -> str:
    """Return the object's name for `server shop/web1`, as the running document writes it."""
    kind, _, name = what.partition(" ")
    return spelled("backend", name.partition("/")[0], kind, name.partition("/")[2])


def _of_file(effect: Effect, cause: str) -> Difference:
    return Difference(effect.object, effect.member, ("file", "running"), (effect.new, effect.old), cause)


def _of_server(found: ServerDifference, cause: str) -> Iterator[Difference]:
    if found.member:
        return _of_worker([as_override(found)], cause)
    return iter([Difference(object_of_server(found), "", ("running", "worker"), (found.declared, found.value), cause)])


def _of_worker(overrides: Sequence[Override], cause: str) -> Iterator[Difference]:
    for override in overrides:
        yield Difference(override.object, override.member, ("running", "worker"), (override.former, override.value), cause)
