"""Find drift: differences between the file, the configuration that the current worker has loaded, and the worker itself.

`Drift` makes three comparisons:

* the file with the loaded configuration;
* the servers and frontends of the loaded configuration, and the connection limit of the process, with those of the worker;
* stored files, such as maps and certificates, with the contents that the worker has.
"""

import functools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from haproxy_native.editing.object_names import spelled
from haproxy_native.editing.resources import resources
from haproxy_native.engine import Engine
from haproxy_native.errors import NativeError, RuntimeDenied, RuntimeFailure
from haproxy_native.features.overrides.ledger import Override
from haproxy_native.features.overrides.overrides import Overrides, as_override, object_of_server
from haproxy_native.grammar.load import grammar
from haproxy_native.planning.effects import effects
from haproxy_native.planning.live import LIMIT, live_of
from haproxy_native.planning.section_order import is_conditional
from haproxy_native.planning.servers import ancestors
from haproxy_native.runtime import responses
from haproxy_native.runtime.verification import FRONTENDS
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from haproxy_native.text.words import unquoted
from haproxy_native.threads import run_in_thread

# The member of differences in stored files. Its values are digests, or fingerprints of certificates.
CONTENT = "content"
# Why two values differ: a reload is pending; HAProxy has not loaded the file although no reload is pending; there is an override; others
# have changed the process; HAProxy has read a server-state file.
PENDING, NOT_LOADED, OVERRIDE, OUTSIDE, STATE_FILE = "pending", "not_loaded", "override", "outside", "state_file"
# The member of a frontend, and its statuses after `disable frontend` and `shutdown frontend`.
DISABLED = "disabled"
OUT_OF_SERVICE = ("PAUSED", "STOP")
# The object and member with the connection limit of the process, and its names in `show info`. A frontend without its own limit has the one
# that the process had at its start.
PROCESS, PROCESS_LIMITS = "global", "performance_options"
LIMIT_AT_START, LIMIT_NOW = "Hard_maxconn", "Maxconn"


@dataclass(frozen=True)
class Difference:
    """An object or a member that differs between two sides."""

    object: str
    # Empty if the object exists on one side only.
    member: str
    # The two sides: `file`, `running` (the loaded configuration) or `worker`.
    between: tuple[str, str]
    # The values on the two sides; None if the member or object does not exist there.
    values: tuple[Any, Any]
    # PENDING, NOT_LOADED, OVERRIDE, OUTSIDE or STATE_FILE.
    cause: str


@dataclass(frozen=True)
class DriftReport:
    """The differences, and what could not be compared."""

    differences: Sequence[Difference]
    # Whether the configuration that the worker has loaded is known.
    is_known: bool
    # Whether HAProxy answers. If not, only the file is compared with the loaded configuration.
    answers: bool
    # Texts about changes in the process that are not in `differences`.
    notes: Sequence[str]


class Drift:
    """Compares the file and the process of one engine."""

    def __init__(self, engine: Engine, overrides: Overrides) -> None:
        self._engine, self._overrides = engine, overrides

    async def find(self) -> DriftReport:
        """Make all comparisons, and return the report. If HAProxy does not answer, the report says so, and no error is raised."""
        with suppress(NativeError):
            await self._engine.notice()
        running, document = self._engine.running, self._engine.document
        cause = PENDING if self._engine.context.has_unloaded else NOT_LOADED
        differences: list[Difference] = []
        if running is not None:
            changes = await run_in_thread(effects, running, document)
            sides = ("file", "running")
            differences += [Difference(effect.object, effect.member, sides, (effect.new, effect.old), cause) for effect in changes]
        answers = True
        try:
            differences += await self._compare_servers()
            if running is not None:
                differences += await self._compare_process(running)
            differences += await self._compare_files()
        except RuntimeFailure:
            answers = False
        context = self._engine.context
        shown = {difference.object for difference in differences}
        notes = [note for note in context.running.state.drift if _object_of_note(note) not in shown]
        return DriftReport(differences, running is not None and not context.running.is_doubtful, answers, notes)

    async def _compare_servers(self) -> list[Difference]:
        """Return where the servers of the worker differ from the loaded configuration. Raises RuntimeFailure."""
        overrides, others = await self._overrides.compared()
        loaded = await self._overrides.loaded_from_files(others)
        found = [_worker_difference(override, OVERRIDE) for override in overrides]
        for other in others:
            cause = STATE_FILE if other in loaded else OUTSIDE
            if other.member:
                found.append(_worker_difference(as_override(other), cause))
            else:
                found.append(Difference(object_of_server(other), "", ("running", "worker"), (other.declared, other.value), cause))
        return found

    async def _compare_process(self, running: Document) -> list[Difference]:
        """Return where the process limit and the frontends of the worker differ from the loaded configuration. Raises RuntimeFailure."""
        runtime = self._engine.context.runtime
        rows = {row["pxname"]: row for row in responses.table(await runtime.send(f"show stat -1 {FRONTENDS} -1"))}
        facts = responses.info(await runtime.send("show info"))
        at_start, current = (int(facts[name]) for name in (LIMIT_AT_START, LIMIT_NOW))
        limit = _limit_member()
        found: list[tuple[str, str, Any, Any]] = []
        if at_start != current:
            found.append((PROCESS, PROCESS_LIMITS, {limit: at_start}, {limit: current}))
        for section in running.sections:
            name = unquoted(section.name)
            if section.kind not in ("frontend", "listen") or name not in rows:
                continue
            above = [section, *ancestors(running, section)]
            if is_conditional(running, above):
                # Between `.if` and `.endif`, only HAProxy knows which lines are in effect.
                continue
            object_, row = spelled(section.kind, name), rows[name]
            if row["status"] in OUT_OF_SERVICE and not any(_lines(each, DISABLED) for each in above):
                found.append((object_, DISABLED, False, True))
            declared = next((lines[-1] for each in above if (lines := _lines(each, limit))), (limit, "0"))
            # 0 also stands for the limit of the process.
            if declared[-1].isdecimal() and (expected := int(declared[-1]) or at_start) != int(row["slim"] or 0):
                found.append((object_, limit, expected, int(row["slim"] or 0)))
        return [Difference(object_, member, ("running", "worker"), (old, new), OUTSIDE) for object_, member, old, new in found]

    async def _compare_files(self) -> list[Difference]:
        """Return the stored files whose contents differ from the contents that the worker has loaded. Raises RuntimeFailure.

        Skips the kinds of files that the stats socket does not permit to read because of its level.
        """
        context = self._engine.context
        cause = PENDING if context.pending else OUTSIDE
        found: list[tuple[str, str, str]] = []
        for store in self._engine.stores.values():
            with suppress(RuntimeDenied):
                found += await store.differing(context)
        return [Difference(object_, CONTENT, ("file", "worker"), (stored, loaded), cause) for object_, stored, loaded in found]


@functools.cache
def _limit_member() -> str:
    """Return the name of the member with the connection limit of a frontend. The keyword in the configuration has the same name."""
    live = live_of(grammar().schemas, resources()["frontends"].schema)
    return next(member for member, note in live.notes.items() if LIMIT in note.get("shows", {}))


def _lines(section: Section, keyword: str) -> list[tuple[str, ...]]:
    """Return the words of each line of a section that begins with a keyword."""
    return [tuple(line.args) for line in section.lines if line.args[:1] == (keyword,)]


def _object_of_note(note: str) -> str:
    """Return the object name of the server in a note such as `server shop/web1`."""
    kind, _, name = note.partition(" ")
    return spelled("backend", name.partition("/")[0], kind, name.partition("/")[2])


def _worker_difference(override: Override, cause: str) -> Difference:
    return Difference(override.object, override.member, ("running", "worker"), (override.former, override.value), cause)
