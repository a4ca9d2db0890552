"""`Drift`: compares the file with what the worker in service has loaded, and that with what was changed in the process alone; and maps,
ACLs, certificates, authorities, revocation lists and crt-lists with what the worker has of them.
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

# The member of a stored file; its values are digests, or fingerprints of certificates.
CONTENT = "content"
# Why two of them differ: a reload is to come, none is, the server keeps an override, the process alone was changed otherwise, or HAProxy
# has read it from a server-state file.
PENDING, NOT_LOADED, OVERRIDE, OUTSIDE, STATE_FILE = "pending", "not_loaded", "override", "outside", "state_file"


@dataclass(frozen=True)
class Difference:
    """One member of an object, or a whole one without a `member`. `between` names the two that differ: file and running, running and
    worker, or of a stored file file and worker; `values` are in that order, None for what is not there.
    """

    object: str
    member: str
    between: tuple[str, str]
    values: tuple[Any, Any]
    cause: str


@dataclass(frozen=True)
class Found:
    """`is_known`: False where it is not known what the worker has loaded, so that it cannot be compared with the file.

    `answers`: False where HAProxy does not answer, so that the worker cannot be compared. `notes`: changes of the process alone that no
    object tells.
    """

    differences: Sequence[Difference]
    is_known: bool
    answers: bool
    notes: Sequence[str]


class Drift:
    def __init__(self, engine: Engine, editor: Editor, overrides: Overrides) -> None:
        self._engine, self._editor, self._overrides = engine, editor, overrides

    async def find(self) -> Found:
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
        return Found(differences, running is not None and not context.running.is_doubtful, answers, notes)

    async def _of_servers(self) -> list[Difference]:
        """Return where servers of the worker differ from the configuration that it loaded. Raises RuntimeFailure."""
        made, found = await self._overrides.compared()
        loaded = await self._overrides.loaded_from_files(found)
        causes = [STATE_FILE if each in loaded else OUTSIDE for each in found]
        others = [difference for each, cause in zip(found, causes, strict=True) for difference in _of_server(each, cause)]
        return [*_of_worker(made, OVERRIDE), *others]

    async def _of_files(self) -> list[Difference]:
        """Of stored files that the worker has loaded, and shows at the level of the socket. Raises RuntimeFailure."""
        context = self._engine.context
        cause = PENDING if context.pending else OUTSIDE
        found: list[tuple[str, str, str]] = []
        for store in self._engine.stores.values():
            with suppress(RuntimeDenied):
                found += await store.differing(context)
        return [Difference(object_, CONTENT, ("file", "worker"), (held, served), cause) for object_, held, served in found]


def _server(what: str) -> str:
    """The object's name of what the running document calls `server shop/web1`."""
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
