"""`FleetGroup`: what the nodes of a fleet share, as encrypted keys in the store. It has no state of its own.

    head           any node       the `Head`; replaced only by a node that has read its present version
    node/NAME      that node      its `Report`, and the digest of its text
    alive/NAME     that node      exists while the node is present
    object/NAME/N  proposers      the pieces of a text; never changed, and deleted when no release names the text

The store keeps no order between keys, so a release writes the pieces first and the head last. A kill in between leaves pieces that no
release names, and the next release of the same text uses them. A kill after the head leaves the pieces of dropped releases, which nobody
deletes. If the pieces of a head are gone, somebody has replaced that head, and the node reads again.
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


class FleetGroup:
    """A group in a store. `path` is the prefix of its keys, without a slash at its end. Each method raises Unusable."""

    def __init__(self, store: GroupStore, keyring: Keyring, path: str) -> None:
        self._store, self._keyring, self._path = store, keyring, path

    def _place(self, key: str) -> str:
        return f"{self._path}/{key}"

    def _sealed(self, key: str, value: Any) -> tuple[str, bytes]:
        return (place := self._place(key)), self._keyring.seal(place, json.dumps(value).encode())

    async def head(self) -> tuple[Head | None, str | None]:
        """Return the head that a majority of the store has, and its version; None for both if there is none."""
        entry = await self._store.read(place := self._place(HEAD))
        return (Head.of(json.loads(self._keyring.open(place, entry.value))), entry.version) if entry else (None, None)

    async def swap(self, head: Head, version: str | None, former: Head | None) -> None:
        """Replace the former head if it still has this version; without a version, create the first head. Delete texts no longer needed.

        Raises FleetConflict if another node was first.
        """
        place, sealed = self._sealed(HEAD, head.as_dict())
        made = await (self._store.replace(place, sealed, version) if version else self._store.create(place, sealed))
        if made is None:
            raise FleetConflict("another node has replaced the release meanwhile; check the fleet and try again")
        needed = {each.object for each in (head.settled, *head.chain)}
        for release in former.chain if former else ():
            if release.object not in needed:
                for index in range(release.pieces):
                    with suppress(Unusable):
                        await self._store.delete(self._place(f"object/{release.object}/{index}"))

    def changes(self) -> AsyncIterator[None]:
        """Yield whenever the head may have changed, as `GroupStore.changes` does."""
        return self._store.changes(self._place(HEAD))

    async def upload(self, text: bytes, digest: str) -> tuple[str, int]:
        """Write a text with this digest; return the name of its pieces and their number. Raises TooLarge."""
        name, pieces = self._keyring.object_name(digest), [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
        for index, piece in enumerate(pieces):
            place = self._place(f"object/{name}/{index}")
            await self._store.create(place, await run_in_thread(self._keyring.seal, place, piece))
        return name, len(pieces)

    async def fetch(self, release: Release) -> bytes:
        """Return the text of a release. Raises StoreAway if the store no longer has it."""
        pieces = []
        for index in range(release.pieces):
            if (entry := await self._store.read(place := self._place(f"object/{release.object}/{index}"))) is None:
                raise StoreAway(f"the store has no text of release {release.number}")
            pieces.append(self._keyring.open(place, entry.value))
        if sha256(text := b"".join(pieces)).hexdigest() != release.bundle:
            raise StoreAway(f"the text of release {release.number} in the store is another one")
        return text

    async def reports(self) -> dict[str, dict[str, Any]]:
        """Return the reports of the nodes, by name."""
        entries, start = await self._store.list(place := self._place("node/")), len(place)
        return {entry.key[start:]: json.loads(self._keyring.open(entry.key, entry.value)) for entry in entries}

    async def write_report(self, name: str, report: Report, bundle: str) -> None:
        await self._store.replace(*self._sealed(f"node/{name}", asdict(report) | {"bundle": bundle}))

    async def delete_report(self, name: str) -> bool:
        """Delete the report of a node; return whether there was one."""
        return await self._store.delete(self._place(f"node/{name}"))

    async def present(self) -> set[str]:
        """Return the names of the nodes that are present."""
        return {entry.key.rpartition("/")[2] for entry in await self._store.list(self._place("alive/"))}

    async def enter(self, name: str, boot: str) -> Presence | None:
        """Make a node present. Return None if a process with the same name is. `boot` identifies this process."""
        return await self._store.present(*self._sealed(f"alive/{name}", {"boot": boot}), PRESENT_SECONDS)

    async def facts(self) -> Mapping[str, Any]:
        """Return facts about the store."""
        return asdict(await self._store.facts())

    async def close(self) -> None:
        await self._store.close()


def new_id() -> str:
    """Return a random id for a release."""
    return os.urandom(8).hex()
