"""Define the interfaces through which the history and features take part in commits and reloads.

The history is the `Recorder`: it begins an entry for every change before the change is made, and ends the entry afterwards. Features are
`Observer`s: they can refuse a change, as required routing tests do, and restore overrides after a reload.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from haproxy_native.commit.change import Candidate, Change, Outcome
from haproxy_native.planning.observed import ServerDifference
from haproxy_native.request_context import Author
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.text.document import Document

# Overridden members by backend and server: the process keeps a value that differs from the configuration.
OverriddenMembers = Mapping[tuple[str, str], Collection[str]]


@dataclass
class Begun:
    """An entry of the history for a change that is being made."""

    change: Change
    # The outcome as far as it is known in advance: version, texts and contents.
    intended: Outcome
    # None if nothing is recorded, or if the entry waits in memory for the disk.
    id: int | None = None


class Recorder:
    """A base class that records nothing. A subclass stores an entry for every change, so that the next start finds interrupted changes."""

    @asynccontextmanager
    async def entry(self, change: Change, intended: Outcome) -> AsyncIterator[Begun]:
        """Begin an entry. The body makes the change and calls `end`; if it raises, the entry is abandoned. Raises Unrecorded."""
        begun = await self.begin(change, intended)
        try:
            yield begun
        except BaseException:
            await self.abandon(begun)
            raise

    async def begin(self, change: Change, intended: Outcome) -> Begun:
        """Begin an entry, and return it when it is on disk. Raises Unrecorded if the entry of a client's change cannot be written."""
        return Begun(change, intended)

    def end(self, begun: Begun, outcome: Outcome) -> Outcome:
        """Record the outcome of a change that was made, and return the outcome with the id of the entry. Raises nothing."""
        return outcome

    async def abandon(self, begun: Begun) -> None:
        """Remove the entry of a change that failed. Raises nothing.

        If the files show that the change was made nevertheless, the entry is ended instead.
        """

    async def add(self, change: Change, outcome: Outcome) -> int | None:
        """Record a change of the process alone, after it was made. Raises nothing.

        Return the id of the entry; None if the entry is not written yet.
        """
        return None

    async def entry_of(self, version: int) -> int | None:
        """Return the id of the entry of a version; None if it is not known. Raises nothing."""
        return None

    async def text_of(self, version: int) -> bytes | None:
        """Return the text of a version; None if it is not known. Raises nothing."""
        return None


class Observer:
    """A base class whose methods do nothing. A feature overrides those that it needs."""

    def admit(self, change: Change) -> None:
        """Refuse a change by raising. Called before the change begins, and again under its locks."""

    def judges(self, author: Author) -> bool:
        """Return whether `judge` has to be called for changes of this author."""
        return False

    async def judge(self, candidate: Candidate) -> Sequence[str]:
        """Refuse a configuration by raising. Called without locks, after HAProxy has accepted it.

        Return the names of the tests that failed before the change and still fail.
        """
        return ()

    async def loading(self, document: Document) -> None:
        """Prepare for a reload. Called before HAProxy reads the file."""

    async def loaded(self) -> None:
        """Set in a new worker what the reload has discarded. Raises RuntimeFailure.

        Called under all locks, as soon as the worker answers.
        """

    async def store_members(self, changes: Sequence[tuple[ServerState, ServerState]], members: Collection[str], author: Author) -> None:
        """Store members that a client has set in the process alone, so that they survive reloads. Raises RuntimeFailure.

        `changes`: (state before, state after) of each server. `members`: the names of the members that the client has set.
        """

    def members_reverted(self, changes: Sequence[tuple[ServerState, ServerState]], author: Author) -> None:
        """Update the stored members of servers after a revert. `changes`: (state before the revert, state after it) of each server."""

    def deleted(self, server: ServerState) -> None:
        """Discard the stored members of a server that a client has deleted from the process."""

    def is_confirmed(self, confirmation: str) -> bool | None:
        """Return whether a change was confirmed; None while that is undecided. `confirmation`: the id for which the change waits."""
        return True

    def overridden_members(self) -> OverriddenMembers:
        """Return the overridden members, whose value in the process differs from the configuration."""
        return {}

    async def from_state_files(self) -> Sequence[ServerDifference]:
        """Return the differences between servers and the configuration that a server-state file has caused. Raises RuntimeFailure."""
        return ()
