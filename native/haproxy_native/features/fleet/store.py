"""`GroupStore`: the interface of the store through which the nodes of a fleet agree. To support another store, write one more class for it.

The interface has no transactions over several keys, no order between keys, and no clock of the store. Only the key `head` has several
writers, and each writer replaces only the version that it has read. Versions are opaque. A notification may be late, repeated, or lost.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from haproxy_native.errors import BadRequest, Unusable


class StoreAway(Unusable):
    """The store does not answer. A write to it may or may not have been made."""


class StoreDenied(Unusable):
    """The store refuses the caller."""


class StoreFull(Unusable):
    """The store accepts no more data."""


class TooLarge(BadRequest):
    """A value is larger than the store accepts."""


@dataclass(frozen=True)
class StoredValue:
    """An entry of the store."""

    key: str
    value: bytes
    # Changes with each write of the key.
    version: str


@dataclass(frozen=True)
class StoreFacts:
    """Facts about the store, for people."""

    # The version of the store's program.
    version: str
    # The size of the store on disk.
    bytes: int


class Presence(Protocol):
    """A key that disappears unless it is renewed in time."""

    async def renew(self) -> bool:
        """Restart the timeout. Return False if the key is gone. Raises Unusable."""

    async def leave(self) -> None:
        """Delete the key. Raises Unusable."""


class GroupStore(Protocol):
    """A store. Each operation raises StoreAway, StoreDenied and StoreFull."""

    # How many bytes a value may have.
    largest: int

    async def read(self, key: str) -> StoredValue | None:
        """Return the value that a majority of the store's nodes has; None if there is no such key."""

    async def list(self, prefix: str) -> list[StoredValue]:
        """Return the entries whose keys begin with `prefix`, by key."""

    async def create(self, key: str, value: bytes) -> str | None:
        """Write a new key and return its version. If the key exists, write nothing and return None. Raises TooLarge."""

    async def replace(self, key: str, value: bytes, version: str | None = None) -> str | None:
        """Write a key and return its new version. If the key no longer has `version`, write nothing and return None. Raises TooLarge.

        With `version=None`, always write.
        """

    async def delete(self, key: str) -> bool:
        """Delete a key, and return whether it existed."""

    async def present(self, key: str, value: bytes, seconds: int) -> Presence | None:
        """Write a new key that disappears after `seconds` without a renewal. If the key exists, write nothing and return None."""

    def changes(self, prefix: str) -> AsyncIterator[None]:
        """Yield once when the subscription is active, then whenever a key with `prefix` may have changed. The store may end this."""

    async def facts(self) -> StoreFacts:
        """Return facts about the store, for people."""

    async def close(self) -> None:
        """Close the connections."""
