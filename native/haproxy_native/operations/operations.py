"""`Operations`: each begun, kept on disk, waited for, cancelled; those that a restart interrupts are taken up again."""

import asyncio
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Self

from haproxy_native.access.initiator import Initiator, RightsOf
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.errors import NativeError, NotCancellable, NotFound, TooManyOperations, Unusable
from haproxy_native.planning.touches import ANY, Touch
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.shares import Account, account_name, check_room

log = logging.getLogger(__name__)
# Their kind as objects.
OPERATION = "operation"
RUNNING, SUCCEEDED, FAILED, CANCELLED = "running", "succeeded", "failed", "cancelled"
MOST_RUNNING, MOST_ENDED = 100, 1000
# A wait for a time of day looks at the clock as often, since that may be set.
LOOK_SECONDS = 30.0
_ID = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class BackgroundOperation:
    """`kind` names the work, `arguments` are what it needs to begin anew, `progress` what it reports. Times are Unix seconds.

    `due`: when the work begins, where that is later than `created`. `by` is its initiator, `needs` the verb and the object that it takes a
    right to.
    """

    id: str
    kind: str
    created: float
    arguments: Mapping[str, Any] = field(default_factory=dict)
    due: float | None = None
    status: str = RUNNING
    progress: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    ended: float | None = None
    by: Mapping[str, Any] = field(default_factory=dict)
    needs: Sequence[str] = field(default_factory=list)


class RunningOperation:
    """An operation as its work sees it. `author`: with whose rights the work acts, from its beginning on."""

    def __init__(self, operations: "Operations", identity: str) -> None:
        self._operations, self._id = operations, identity
        self.cancellable, self.author = True, NOBODY

    @property
    def now(self) -> BackgroundOperation:
        return self._operations.get(self._id)

    def report(self, **progress: Any) -> None:
        """Adds to the progress, which work that a restart interrupts finds again."""
        self._operations.keep(replace(self.now, progress={**self.now.progress, **progress}))


# Returns when the work is done, raises what it fails with. It is called again, with the progress so far, after a restart.
Work = Callable[[RunningOperation], Awaitable[None]]


class Operations:
    """`kinds` are the works by name; `changed` is called with each operation that is new, progresses or ends. Used as a context: inside it
    the work of those that are running goes on, unless `resumes` is false. `rights_of` returns the rights that an initiator has when work
    begins later than it was asked for, or is taken up again.

    At most MOST_RUNNING run at a time, and the newest MOST_ENDED that have ended are kept.
    """

    def __init__(
        self,
        database: Database,
        kinds: Mapping[str, Work],
        now: Callable[[], float] = time.time,
        changed: Callable[[BackgroundOperation], None] = lambda operation: None,
        *,
        rights_of: RightsOf = lambda group, name: None,
        resumes: bool = True,
    ) -> None:
        self._rights_of, self._resumes = rights_of, resumes
        database.declare(Tables("operations", "CREATE TABLE operation (id INTEGER PRIMARY KEY, data TEXT NOT NULL)"))
        self._database, self._kinds, self._now, self._changed = database, dict(kinds), now, changed
        self._known: dict[int, BackgroundOperation] = {}
        self._tasks: dict[str, tuple[RunningOperation, asyncio.Task[None]]] = {}

    def learn(self, kind: str, work: Work) -> None:
        """Take in another kind of work. Within the context it is too late for those that a restart has interrupted."""
        self._kinds[kind] = work

    async def __aenter__(self) -> Self:
        try:
            self._known = {int(operation.id): operation for operation in await self._database.run(_stored)}
        except Unusable as error:
            log.warning("the operations of former processes are not known: %s", error)
        for operation in [operation for operation in self._known.values() if operation.status == RUNNING and self._resumes]:
            self._start(operation)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Interrupts the work; the operations stay running for the next process."""
        tasks = [task for _, task in self._tasks.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self.written()

    async def written(self) -> None:
        """Returns once what is known of operations is on disk, or queued in memory until the disk takes it."""
        with suppress(Unusable):
            await self._database.catch_up()

    def begin(
        self, kind: str, due: float | None = None, *, author: Author, needs: Sequence[str] = (), **arguments: Any
    ) -> BackgroundOperation:
        """On behalf of an author. Raises TooManyOperations and ShareExceeded."""
        if len(self._tasks) >= MOST_RUNNING:
            raise TooManyOperations(f"{MOST_RUNNING} operations are running, as many as may; wait for one, or cancel one")
        running = [Initiator.of(self.get(identity).by) for identity in self._tasks]
        caller = Account.of(author)
        held = [account_name(f"{by.group}/{by.name}") for by in running].count(caller.name)
        check_room(caller, MOST_RUNNING, held, len(running), "running operations")
        number, by = str(max(self._known, default=0) + 1), Initiator.of_author(author).as_dict()
        made = BackgroundOperation(number, kind, self._now(), arguments, due, by=by, needs=list(needs))
        self.keep(made)
        self._start(made, replace(author, request_id="", confirmation="", request=None))
        return made

    def get(self, identity: str) -> BackgroundOperation:
        """Raises NotFound."""
        operation = self._known.get(int(identity)) if _ID.fullmatch(identity) else None
        if operation is None or operation.id != identity:
            raise NotFound(f"operation {identity} does not exist")
        return operation

    def all(self) -> list[BackgroundOperation]:
        """The newest first."""
        return list(reversed(self._known.values()))

    async def ended(self, identity: str, seconds: float) -> BackgroundOperation:
        """When it has ended, or after so many seconds. Raises NotFound."""
        if self.get(identity).status == RUNNING and identity in self._tasks:
            await asyncio.wait([self._tasks[identity][1]], timeout=seconds)
        return self.get(identity)

    async def cancel(self, identity: str) -> None:
        """Ends one where it is, and returns when its work has stopped. Raises NotFound and NotCancellable."""
        operation = self.get(identity)
        if operation.status != RUNNING:
            raise NotCancellable(f"operation {identity} has ended: it is {operation.status}")
        running, task = self._tasks[identity]
        if not running.cancellable:
            raise NotCancellable(f"operation {identity} ({operation.kind}) cannot be cancelled any more; wait for its end")
        self._end(identity, CANCELLED)
        task.cancel()
        await asyncio.wait([task])

    def keep(self, operation: BackgroundOperation) -> None:
        """A disk that does not take it costs the memory of it beyond a restart."""
        self._known[int(operation.id)] = operation
        self._changed(operation)
        self._database.post(partial(_store, operation))

    def _start(self, operation: BackgroundOperation, by: Author | None = None) -> None:
        """`by`: who begins it now."""
        running = RunningOperation(self, operation.id)
        task = asyncio.create_task(self._carry_out(running, operation, by))
        self._tasks[operation.id] = running, task
        task.add_done_callback(lambda _: self._tasks.pop(operation.id, None))

    async def _carry_out(self, running: RunningOperation, operation: BackgroundOperation, by: Author | None) -> None:
        try:
            while (left := (operation.due or 0) - self._now()) > 0:  # noqa: ASYNC110 - of a clock
                await asyncio.sleep(min(left, LOOK_SECONDS))
            running.author = by if by and not operation.due else self._standing(operation)
            await self._kinds[operation.kind](running)
        except NativeError as error:
            self._end(operation.id, FAILED, str(error))
        except Exception as error:
            log.exception("operation %s (%s)", operation.id, operation.kind)
            self._end(operation.id, FAILED, f"{type(error).__name__}: {error}")
        else:
            self._end(operation.id, SUCCEEDED)

    def _standing(self, operation: BackgroundOperation) -> Author:
        """The initiator, with the rights of now. Raises Forbidden."""
        by = Initiator.of(operation.by).author(self._rights_of)
        if operation.needs:
            verb, object_ = operation.needs
            by.permit(Touch(object_, verb, frozenset((ANY,))))
        return by

    def _end(self, identity: str, status: str, error: str = "") -> None:
        self.keep(replace(self.get(identity), status=status, error=error, ended=self._now()))
        ended = [number for number, operation in self._known.items() if operation.status != RUNNING]
        for number in ended[:-MOST_ENDED]:
            del self._known[number]
            self._database.post(partial(_delete, number))


def _stored(state: State) -> list[BackgroundOperation]:
    return [BackgroundOperation(**json.loads(data)) for (data,) in state.execute("SELECT data FROM operation ORDER BY id")]


def _store(operation: BackgroundOperation, state: State) -> None:
    with state.transaction(is_synced=False):
        state.execute("INSERT OR REPLACE INTO operation VALUES (?, ?)", (int(operation.id), json.dumps(asdict(operation))))


def _delete(number: int, state: State) -> None:
    with state.transaction(is_synced=False):
        state.execute("DELETE FROM operation WHERE id = ?", (number,))
