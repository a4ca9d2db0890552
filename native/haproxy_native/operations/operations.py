"""Run operations that take longer than a request. One call starts an operation, and other calls poll it, wait for it and cancel it.

An operation is RUNNING until its work returns (SUCCEEDED) or raises (FAILED), or a client cancels it (CANCELLED). These three states are
final. Each state is stored in the database. If the server stops or crashes, the operation remains RUNNING, and the next process calls the
operation's work again with the progress that was last stored. Features register the kinds of work, except for reloads (`reload_work`).
"""

import asyncio
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from haproxy_native.access.initiator import Initiator, RightsOf
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.errors import NativeError, NotCancellable, NotFound, ReloadFailed, TooManyOperations, Unusable
from haproxy_native.planning.touches import ANY, Touch
from haproxy_native.reload import records
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.shares import Account, account_name, check_room

log = logging.getLogger(__name__)
# The kind of operations as objects.
OPERATION = "operation"
RUNNING, SUCCEEDED, FAILED, CANCELLED = "running", "succeeded", "failed", "cancelled"
MOST_RUNNING, MOST_ENDED = 100, 1000
# The longest sleep before an operation checks again whether it is due, since the clock may be set.
SLEEP_SECONDS = 30.0
_ID = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class BackgroundOperation:
    """An operation and its state. Times are Unix seconds."""

    id: str
    # The name of its kind of work.
    kind: str
    created: float
    # The arguments of the work, which it reads again after a restart.
    arguments: Mapping[str, Any] = field(default_factory=dict)
    # When the work starts; None to start it immediately.
    due: float | None = None
    status: str = RUNNING
    # The members that the work has reported.
    progress: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    ended: float | None = None
    # The initiator: `Initiator.as_dict`.
    by: Mapping[str, Any] = field(default_factory=dict)
    # The verb and the object that the initiator must have a permission for when the work starts; empty for none.
    needs: Sequence[str] = field(default_factory=list)


class RunningOperation:
    """The handle of a running operation, which the operation's work receives as its only argument."""

    def __init__(self, operations: "Operations", identity: str) -> None:
        self._operations, self._id = operations, identity
        # Whether clients may cancel it, and the author of the changes that the work makes.
        self.cancellable, self.author = True, NOBODY

    @property
    def now(self) -> BackgroundOperation:
        return self._operations.get(self._id)

    def report(self, **progress: Any) -> None:
        """Add members to the stored progress. Work that is resumed after a restart reads them from `now.progress`."""
        self._operations.store(replace(self.now, progress={**self.now.progress, **progress}))


# Does the work of an operation. The operation fails if it raises. It is called again after a restart of the server.
Work = Callable[[RunningOperation], Awaitable[None]]


class Operations:
    """All operations, in memory and in the database. Within `async with`, their work runs.

    Entering the context resumes interrupted operations unless `resumes` is false. `kinds` has the work of each kind. `changed` is called
    with each new state of an operation. `rights_of` returns the current rights of an initiator; scheduled and resumed work runs with these.
    At most MOST_RUNNING operations run at a time. Of the operations that have ended, the newest MOST_ENDED are stored.
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

    def add_kind(self, kind: str, work: Work) -> None:
        """Register a kind of work. Call it before entering the context, which resumes interrupted operations."""
        self._kinds[kind] = work

    async def __aenter__(self) -> Self:
        def read(state: State) -> list[BackgroundOperation]:
            return [BackgroundOperation(**json.loads(data)) for (data,) in state.execute("SELECT data FROM operation ORDER BY id")]

        try:
            self._known = {int(operation.id): operation for operation in await self._database.run(read)}
        except Unusable as error:
            log.warning("reading stored operations failed: %s", error)
        for operation in [operation for operation in self._known.values() if operation.status == RUNNING and self._resumes]:
            self._start(operation)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Interrupt the work. The status of the operations remains RUNNING, and the next process resumes them."""
        tasks = [task for _, task in self._tasks.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self.written()

    async def written(self) -> None:
        """Wait until all states are on disk. States that the disk refuses stay queued, and end the wait."""
        with suppress(Unusable):
            await self._database.catch_up()

    def begin(
        self, kind: str, due: float | None = None, *, author: Author, needs: Sequence[str] = (), **arguments: Any
    ) -> BackgroundOperation:
        """Start an operation for an author. Raises TooManyOperations and ShareExceeded."""
        if len(self._tasks) >= MOST_RUNNING:
            raise TooManyOperations(f"{MOST_RUNNING} operations are running, which is the maximum; wait for one to end, or cancel one")
        running = [Initiator.from_dict(self.get(identity).by) for identity in self._tasks]
        caller = Account.from_author(author)
        held = [account_name(f"{by.group}/{by.name}") for by in running].count(caller.name)
        check_room(caller, MOST_RUNNING, held, len(running), "running operations")
        number, by = str(max(self._known, default=0) + 1), Initiator.from_author(author).as_dict()
        made = BackgroundOperation(number, kind, self._now(), arguments, due, by=by, needs=list(needs))
        self.store(made)
        self._start(made, replace(author, request_id="", confirmation="", request=None))
        return made

    def get(self, identity: str) -> BackgroundOperation:
        """Return an operation. Raises NotFound."""
        operation = self._known.get(int(identity)) if _ID.fullmatch(identity) else None
        if operation is None or operation.id != identity:
            raise NotFound(f"operation {identity} does not exist")
        return operation

    def all(self) -> list[BackgroundOperation]:
        """Return all operations, the newest first."""
        return list(reversed(self._known.values()))

    async def wait_until_ended(self, identity: str, seconds: float) -> BackgroundOperation:
        """Wait until an operation has ended, but at most `seconds`, and return the operation. Raises NotFound."""
        if self.get(identity).status == RUNNING and identity in self._tasks:
            await asyncio.wait([self._tasks[identity][1]], timeout=seconds)
        return self.get(identity)

    async def cancel(self, identity: str) -> None:
        """Cancel an operation, and wait until its work has stopped. Raises NotFound and NotCancellable."""
        operation = self.get(identity)
        if operation.status != RUNNING:
            raise NotCancellable(f"operation {identity} has ended: it is {operation.status}")
        running, task = self._tasks[identity]
        if not running.cancellable:
            raise NotCancellable(f"operation {identity} ({operation.kind}) cannot be cancelled any more; wait for its end")
        self._end(identity, CANCELLED)
        task.cancel()
        await asyncio.wait([task])

    def store(self, operation: BackgroundOperation) -> None:
        """Replace the state of an operation in memory, and queue its write. If the write fails, the state is lost with this process."""

        def write(state: State) -> None:
            with state.transaction(is_synced=False):
                state.execute("INSERT OR REPLACE INTO operation VALUES (?, ?)", (int(operation.id), json.dumps(asdict(operation))))

        self._known[int(operation.id)] = operation
        self._changed(operation)
        self._database.post(write)

    def _start(self, operation: BackgroundOperation, author: Author | None = None) -> None:
        """Start or resume the work of an operation.

        `author`: the author of the changes that the work makes; None for the initiator, with the rights at the time when the work starts.
        """
        running = RunningOperation(self, operation.id)
        task = asyncio.create_task(self._run(running, operation, author))
        self._tasks[operation.id] = running, task
        task.add_done_callback(lambda _: self._tasks.pop(operation.id, None))

    async def _run(self, running: RunningOperation, operation: BackgroundOperation, author: Author | None) -> None:
        try:
            while (left := (operation.due or 0) - self._now()) > 0:  # noqa: ASYNC110 - of a clock
                await asyncio.sleep(min(left, SLEEP_SECONDS))
            if author and not operation.due:
                running.author = author
            else:
                running.author = Initiator.from_dict(operation.by).author(self._rights_of)
                if operation.needs:
                    verb, object_ = operation.needs
                    running.author.permit(Touch(object_, verb, frozenset((ANY,))))
            await self._kinds[operation.kind](running)
        except NativeError as error:
            self._end(operation.id, FAILED, str(error))
        except Exception as error:
            log.exception("operation %s (%s)", operation.id, operation.kind)
            self._end(operation.id, FAILED, f"{type(error).__name__}: {error}")
        else:
            self._end(operation.id, SUCCEEDED)

    def _end(self, identity: str, status: str, error: str = "") -> None:
        self.store(replace(self.get(identity), status=status, error=error, ended=self._now()))
        ended = [number for number, operation in self._known.items() if operation.status != RUNNING]
        if not (surplus := ended[:-MOST_ENDED]):
            return

        def delete(state: State) -> None:
            with state.transaction(is_synced=False):
                for number in surplus:
                    state.execute("DELETE FROM operation WHERE id = ?", (number,))

        for number in surplus:
            del self._known[number]
        self._database.post(delete)


RELOAD = "reload"
POLL_SECONDS = 0.5


def reload_work(agent: ReloadAgent) -> Work:
    """Return the work of a reload that a client requests without a change.

    The work reports the `reload_id`, and raises ReloadFailed. Clients cannot cancel the work. If the work is resumed after a restart of
    the server, it waits for the reload that it has already requested.
    """

    async def work(running: RunningOperation) -> None:
        running.cancellable = False
        identity = running.now.progress.get("reload_id", "")
        if not identity:
            identity = agent.schedule(())
            running.report(reload_id=identity)
            await agent.force(())
        while (record := agent.records.get(identity)).status == records.IN_PROGRESS:  # noqa: ASYNC110 - HAProxy may be started by anybody
            await asyncio.sleep(POLL_SECONDS)
        if record.status == records.FAILED:
            raise ReloadFailed(f"Reload failed: {record.response or record.error}")

    return work
