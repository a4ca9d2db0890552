"""What takes part in commits and reloads beside file and process.

A `Recorder` has an entry of every change, which is begun before the change and ended after it. An `Observer` may refuse a change, as tests
that it has to pass do; `Observers` asks all of them, in the order in which they have joined.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from haproxy_native.commit.change import Candidate, Change, Outcome
from haproxy_native.planning.observed import ServerDifference
from haproxy_native.request_context import Author
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.text.document import Document

# Members that are to stay in the process otherwise than the configuration says, by backend and server.
Kept = Mapping[tuple[str, str], Collection[str]]


@dataclass
class Begun:
    """An entry that was begun. `id`: None where there is none, or where it waits for the disk.

    `intended`: what the change is to do, as far as that is known before: its version, texts and contents.
    """

    change: Change
    intended: Outcome
    id: int | None = None


class Recorder:
    """Keeps nothing; a subclass keeps an entry of every change, by which one that a kill cuts off is found."""

    @asynccontextmanager
    async def entry(self, change: Change, intended: Outcome) -> AsyncIterator[Begun]:
        """Begin an entry; the body makes the change and calls `ended`. An entry whose body raises is abandoned. Raises Unrecorded."""
        begun = await self.begin(change, intended)
        try:
            yield begun
        except BaseException:
            await self.abandon(begun)
            raise

    async def begin(self, change: Change, intended: Outcome) -> Begun:
        """Return an entry that is on disk. Raises Unrecorded where the change of a client cannot be entered."""
        return Begun(change, intended)

    def ended(self, begun: Begun, outcome: Outcome) -> Outcome:
        """Enter what has become of a change that was made; return its outcome with the id of the entry. Raises nothing."""
        return outcome

    async def abandon(self, begun: Begun) -> None:
        """The change has failed: its entry goes, unless the files tell that it was made nevertheless. Raises nothing."""

    async def add(self, change: Change, outcome: Outcome) -> int | None:
        """Enter a change of the process alone, once it is made; return the id of the entry, None where there is none. Raises nothing."""
        return None

    async def entry_of(self, version: int) -> int | None:
        """Return the id of the entry of a version; None where it is not known. Raises nothing."""
        return None

    async def text_of(self, version: int) -> bytes | None:
        """Return the text of a version; None where it is not known. Raises nothing."""
        return None


class Observer:
    """Does nothing; a subclass overrides what it takes part in."""

    def admit(self, change: Change) -> None:
        """Before a change begins, and again under its locks. Raises to refuse it."""

    def judges(self, by: Author) -> bool:
        """Whether `judge` is to be asked about changes of this author."""
        return False

    async def judge(self, candidate: Candidate) -> Sequence[str]:
        """Once HAProxy has accepted a configuration; no lock is held. Raises to refuse it.

        Returns what was wrong before the change and is so still, by name.
        """
        return ()

    async def loading(self, document: Document) -> None:
        """Before HAProxy is made to load a text."""

    async def loaded(self) -> None:
        """As soon as a new worker answers, with all locks of commits held. Raises RuntimeFailure."""

    async def hold(self, changes: Sequence[tuple[ServerState, ServerState]], members: Collection[str], author: Author) -> None:
        """Keep what a client has set of servers in the process alone: these members, before and after. Raises RuntimeFailure."""

    def set_back(self, changes: Sequence[tuple[ServerState, ServerState]], author: Author) -> None:
        """Servers are in the process as they were before a client's change, which is taken back: before that, and after."""

    def deleted(self, server: ServerState) -> None:
        """A client has deleted a server from the process."""

    def lasts(self, confirmation: str) -> bool | None:
        """Return whether what waits for this confirmation stays; None while that is not decided."""
        return True

    def kept_members(self) -> Kept:
        """What is to stay in the process otherwise than the configuration says."""
        return {}

    async def from_state_files(self) -> Sequence[ServerDifference]:
        """What servers have from a server-state file, otherwise than the configuration says. Raises RuntimeFailure."""
        return ()


class Observers(Observer):
    """All of them, in their order; of answers the first that says something."""

    def __init__(self) -> None:
        self._all: list[Observer] = []

    def add(self, observer: Observer) -> None:
        self._all.append(observer)

    def remove(self, observer: Observer) -> None:
        self._all = [other for other in self._all if other is not observer]

    @property
    def are_any(self) -> bool:
        return bool(self._all)

    def admit(self, change: Change) -> None:
        for observer in self._all:
            observer.admit(change)

    def judges(self, by: Author) -> bool:
        return any(observer.judges(by) for observer in self._all)

    async def judge(self, candidate: Candidate) -> Sequence[str]:
        return [name for observer in self._all for name in await observer.judge(candidate)]

    async def loading(self, document: Document) -> None:
        for observer in self._all:
            await observer.loading(document)

    async def loaded(self) -> None:
        for observer in self._all:
            await observer.loaded()

    async def hold(self, changes: Sequence[tuple[ServerState, ServerState]], members: Collection[str], author: Author) -> None:
        for observer in self._all:
            await observer.hold(changes, members, author)

    def set_back(self, changes: Sequence[tuple[ServerState, ServerState]], author: Author) -> None:
        for observer in self._all:
            observer.set_back(changes, author)

    def deleted(self, server: ServerState) -> None:
        for observer in self._all:
            observer.deleted(server)

    def lasts(self, confirmation: str) -> bool | None:
        return next((answer for observer in self._all if (answer := observer.lasts(confirmation)) is not True), True)

    def kept_members(self) -> Kept:
        return next(filter(None, (observer.kept_members() for observer in self._all)), {})

    async def from_state_files(self) -> Sequence[ServerDifference]:
        return [found for observer in self._all for found in await observer.from_state_files()]
