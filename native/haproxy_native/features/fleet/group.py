"""`FleetGroup`: what the nodes of a fleet share, as encrypted values in the store. The class has no state of its own.

    key            written by     value
    head           any node       the `Head`; replaced only by a node that has read its present version
    node/NAME      node NAME      the `Report` of the node, and the digest of its text
    drift/NAME     node NAME      how the bundle of the node differs from the release; only while no release has that bundle
    alive/NAME     node NAME      exists while the node is present
    object/NAME/N  proposers      the pieces of a text; never changed, and deleted when no release names the text

The store has no order between keys, so a release writes the pieces first and the head last. A kill in between leaves pieces that no
release names; the next release of the same text uses them. A kill after the head was written leaves the pieces of dropped releases, which
nobody deletes. If the pieces of a head are gone, another head has replaced it, and the node reads the head again.
"""

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from haproxy_native.errors import Conflict, Unusable
from haproxy_native.features.fleet.release import Head, Release, Report
from haproxy_native.features.fleet.sealing import Keyring
from haproxy_native.features.fleet.store import GroupStore, Presence, StoreAway
from haproxy_native.threads import run_in_thread

HEAD = "head"
# The size of a piece in bytes, before it is compressed.
PIECE = 256 << 10
# A presence ends after so many seconds without a renewal.
PRESENT_SECONDS = 15


class FleetConflict(Conflict):
    """`detail` is the complete message."""

    label = ""


class HeadReplaced(FleetConflict):
    """Another node has replaced the head since it was read."""


class FleetGroup:
    """A group in a store. `path` is the prefix of its keys in the store, without a slash at the end. Each method raises Unusable."""

    def __init__(self, store: GroupStore, keyring: Keyring, path: str) -> None:
        self._store, self._keyring, self._path = store, keyring, path

    def _store_key(self, name: str) -> str:
        return f"{self._path}/{name}"

    def _encrypted(self, name: str, value: Any) -> tuple[str, bytes]:
        """Return the store key of a name, and a JSON value encrypted for it."""
        key = self._store_key(name)
        return key, self._keyring.encrypt(key, json.dumps(value).encode())

    async def head(self) -> tuple[Head | None, str | None]:
        """Return the head that a majority of the store's nodes has, and its version; None for both if there is no head."""
        key = self._store_key(HEAD)
        if (entry := await self._store.read(key)) is None:
            return None, None
        return Head.of(json.loads(self._keyring.decrypt(key, entry.value))), entry.version

    async def swap(self, head: Head, version: str | None, former: Head | None) -> None:
        """Replace the former head if it still has this version, and delete the texts that no release needs any more.

        With `version=None`, create the first head. Raises HeadReplaced if another node was first.
        """
        key, value = self._encrypted(HEAD, head.as_dict())
        new_version = await (self._store.replace(key, value, version) if version else self._store.create(key, value))
        if new_version is None:
            raise HeadReplaced("another node has replaced the release meanwhile; check the fleet and try again")
        needed = {each.object for each in (head.settled, *head.chain)}
        for release in former.chain if former else ():
            if release.object not in needed:
                for index in range(release.pieces):
                    with suppress(Unusable):
                        await self._store.delete(self._store_key(f"object/{release.object}/{index}"))

    def changes(self) -> AsyncIterator[None]:
        """Yield whenever the head may have changed, as `GroupStore.changes` does."""
        return self._store.changes(self._store_key(HEAD))

    async def upload(self, text: bytes, digest: str) -> tuple[str, int]:
        """Write a text with this digest, and return its name in the store and the number of its pieces. Raises TooLarge."""
        name, pieces = self._keyring.object_name(digest), [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
        for index, piece in enumerate(pieces):
            key = self._store_key(f"object/{name}/{index}")
            await self._store.create(key, await run_in_thread(self._keyring.encrypt, key, piece))
        return name, len(pieces)

    async def fetch(self, release: Release) -> bytes:
        """Return the text of a release. Raises StoreAway if the store no longer has it."""
        pieces = []
        for index in range(release.pieces):
            key = self._store_key(f"object/{release.object}/{index}")
            if (entry := await self._store.read(key)) is None:
                raise StoreAway(f"the store has no text of release {release.number}")
            pieces.append(self._keyring.decrypt(key, entry.value))
        if sha256(text := b"".join(pieces)).hexdigest() != release.bundle:
            raise StoreAway(f"the text of release {release.number} in the store is another one")
        return text

    async def reports(self) -> dict[str, dict[str, Any]]:
        """Return the reports of the nodes, by name."""
        prefix = self._store_key("node/")
        entries = await self._store.list(prefix)
        return {entry.key[len(prefix) :]: json.loads(self._keyring.decrypt(entry.key, entry.value)) for entry in entries}

    async def write_report(self, name: str, report: Report, bundle: str) -> None:
        await self._store.replace(*self._encrypted(f"node/{name}", asdict(report) | {"bundle": bundle}))

    async def delete_report(self, name: str) -> bool:
        """Delete the report of a node, and return whether the node had one."""
        await self.delete_drift(name)
        return await self._store.delete(self._store_key(f"node/{name}"))

    async def drift(self, name: str) -> dict[str, Any] | None:
        """Return the members `bundle` and `difference` that a node has stored; None if there are none."""
        key = self._store_key(f"drift/{name}")
        if (entry := await self._store.read(key)) is None:
            return None
        return dict(json.loads(self._keyring.decrypt(key, entry.value)))

    async def write_drift(self, name: str, bundle: str, difference: Mapping[str, Any]) -> None:
        """Store how the bundle of a node, with the digest `bundle`, differs from the current release."""
        await self._store.replace(*self._encrypted(f"drift/{name}", {"bundle": bundle, "difference": difference}))

    async def delete_drift(self, name: str) -> None:
        await self._store.delete(self._store_key(f"drift/{name}"))

    async def present(self) -> set[str]:
        """Return the names of the nodes that are present."""
        return {entry.key.rpartition("/")[2] for entry in await self._store.list(self._store_key("alive/"))}

    async def enter(self, name: str, boot: str) -> Presence | None:
        """Make a node present. Return None if another process with its name is present. `boot` identifies this process."""
        return await self._store.present(*self._encrypted(f"alive/{name}", {"boot": boot}), PRESENT_SECONDS)

    async def facts(self) -> Mapping[str, Any]:
        """Return facts about the store."""
        return asdict(await self._store.facts())

    async def close(self) -> None:
        await self._store.close()


def new_id() -> str:
    """Return a random id for a release."""
    return os.urandom(8).hex()
