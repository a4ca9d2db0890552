"""`Observer`: what takes part in commits and reloads beside file and process, such as a history or tests that a change has to pass.

`Observers` asks all of them, in the order in which they have joined.
"""

from collections.abc import Collection, Mapping, Sequence

from haproxy_native.commit.change import Candidate, Change, Content, Outcome
from haproxy_native.planning.observed import Unlike
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document

# Members that are to stay in the process otherwise than the configuration says, by backend and server.
Kept = Mapping[tuple[str, str], Collection[str]]


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

    async def require_room(self, size: int) -> None:
        """Before a client's change of the configuration or of files, with the bytes that they will hold. Raises Unrecorded to refuse it."""

    async def before_files(self, contents: Sequence[Content]) -> None:
        """Before stored files change, with what they hold and will hold. Raises nothing."""

    async def committed(self, change: Change, outcome: Outcome) -> int | None:
        """After a change, before its locks are released and before it is answered. Raises nothing.

        Returns the id of its entry, None where there is none yet.
        """
        return None

    async def entry_of(self, version: int) -> int | None:
        """The id of the entry of a version; None where it is not known. Raises nothing."""
        return None

    async def text_of(self, version: int) -> bytes | None:
        """The text of a version; None where it is not known. Raises nothing."""
        return None

    async def loading(self, document: Document) -> None:
        """Before HAProxy is made to load a text."""

    async def loaded(self) -> None:
        """As soon as a new worker answers, with all locks of commits held. Raises RuntimeFailure."""

    def kept_members(self) -> Kept:
        """What is to stay in the process otherwise than the configuration says."""
        return {}

    async def from_state_files(self) -> Sequence[Unlike]:
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

    async def require_room(self, size: int) -> None:
        for observer in self._all:
            await observer.require_room(size)

    async def before_files(self, contents: Sequence[Content]) -> None:
        for observer in self._all:
            await observer.before_files(contents)

    async def committed(self, change: Change, outcome: Outcome) -> int | None:
        ids = [await observer.committed(change, outcome) for observer in self._all]
        return next(filter(None, ids), None)

    async def entry_of(self, version: int) -> int | None:
        for observer in self._all:
            if entry := await observer.entry_of(version):
                return entry
        return None

    async def text_of(self, version: int) -> bytes | None:
        for observer in self._all:
            if (text := await observer.text_of(version)) is not None:
                return text
        return None

    async def loading(self, document: Document) -> None:
        for observer in self._all:
            await observer.loading(document)

    async def loaded(self) -> None:
        for observer in self._all:
            await observer.loaded()

    def kept_members(self) -> Kept:
        return next(filter(None, (observer.kept_members() for observer in self._all)), {})

    async def from_state_files(self) -> Sequence[Unlike]:
        return [found for observer in self._all for found in await observer.from_state_files()]
