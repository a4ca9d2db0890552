"""`GroupStore`: all that a fleet asks of the store in which its nodes agree. An engine is one class with these nine operations.

There is no transaction over keys, no order between keys and no clock of the store. `head` alone is replaced by several writers, and each
replaces only the version that it has read. Versions are opaque. A notification is a hint: it may be late, double, or lost.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from haproxy_native.errors import BadRequest, Unusable


class StoreAway(Unusable):
    """The store does not answer. A write may have been made nevertheless."""


class StoreDenied(Unusable):
    """The store refuses the caller."""


class StoreFull(Unusable):
    """The store accepts no more data."""


class TooLarge(BadRequest):
    """A value is larger than the store accepts."""


@dataclass(frozen=True)
class StoredValue:
    key: str
    value: bytes
    # Changes with each write of the key.
    version: str


@dataclass(frozen=True)
class StoreFacts:
    # Of the store's program.
    version: str
    # That the store takes on disk.
    bytes: int


class Presence(Protocol):
    """A key that disappears unless it is renewed in time."""

    async def renew(self) -> bool:
        """Start the time again; return False if the key is gone. Raises Unusable."""

    async def leave(self) -> None:
        """Delete the key. Raises Unusable."""


class GroupStore(Protocol):
    """A store. Each operation raises StoreAway, StoreDenied and StoreFull."""

    # Bytes that one value may have.
    most: int

    async def read(self, key: str) -> StoredValue | None:
        """Return what a majority of the store has; None if there is no such key."""

    async def list(self, prefix: str) -> list[StoredValue]:
        """Return the entries whose keys begin with `prefix`, by key."""

    async def create(self, key: str, value: bytes) -> str | None:
        """Write a new key and return its version; None if it exists. Raises TooLarge."""

    async def replace(self, key: str, value: bytes, version: str | None = None) -> str | None:
        """Write a key and return its version; None, with nothing written, if its version is not `version` any more. Raises TooLarge.

        Without a version, write it in any case.
        """

    async def delete(self, key: str) -> bool:
        """Delete a key; return whether it existed."""

    async def present(self, key: str, value: bytes, seconds: int) -> Presence | None:
        """Write a new key that disappears after `seconds` without a renewal; None if it exists."""

    def changes(self, prefix: str) -> AsyncIterator[None]:
        """Yield once when the store listens, then whenever a key below `prefix` may have changed. Ends when notifications do."""

    async def facts(self) -> StoreFacts:
        """Return facts about the store, for people."""

    async def close(self) -> None:
        """Close the connections."""
