"""Maps and certificates: files in the directories that were passed to `open`, and their contents in the running HAProxy.

Every change is a commit of file and process. If HAProxy cannot apply the change at runtime, a reload is scheduled.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from haproxy_native.commit.change import Outcome, Reload
from haproxy_native.engine import Engine
from haproxy_native.errors import Unusable
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.runtime.lists import MapEntry
from haproxy_native.storage.certificate import CertificateFile
from haproxy_native.storage.certificate_store import CertificateStore
from haproxy_native.storage.list_store import MapStore
from haproxy_native.storage.live_lists import LiveMap, find_map
from haproxy_native.storage.store import Store


class Files:
    """The stored files in one directory, by name."""

    def __init__(self, engine: Engine, store: str, option: str) -> None:
        self._engine, self._name, self._option = engine, store, option

    def __repr__(self) -> str:
        return f"<{self._option}: {', '.join(self.names()) or 'none'}>"

    def names(self) -> Sequence[str]:
        """Return the names of the files, sorted. Raises Unusable."""
        return [path.name for path in self._store.files()]

    async def put(self, name: str, content: str | bytes, *, force_reload: bool = False, author: Author = NOBODY) -> Outcome:
        """Create a file, or replace the file if it exists.

        Raises BadRequest and RefusedAtRuntime for content that cannot be used, Forbidden, Conflict, WriteFailed, ReloadFailed and Unusable.
        """
        data = content.encode() if isinstance(content, str) else content
        return await self._store.upload(name, author).put(self._engine.context, data, Reload.NOW if force_reload else Reload.AUTO)

    async def delete(self, name: str, *, author: Author = NOBODY) -> Outcome:
        """Delete a file. Raises Missing, InUse if the configuration refers to it, Forbidden, Conflict, WriteFailed and Unusable."""
        return await self._store.delete(self._engine.context, name, author)

    @property
    def _store(self) -> Store:
        if self._name not in self._engine.stores:
            raise Unusable(f"no directory for {self._option} is known: pass it as {self._option}=DIRECTORY to open")
        return self._engine.stores[self._name]


class Map:
    """A map. `name` is the name of its file, or the number or path that HAProxy prints.

    With `lasting=False`, a change is made only in the process, and lasts until HAProxy's next reload. The map may then be outside the
    directory.
    Calls raise RuntimeAbsent, RuntimeRefused, NotFound and Unusable. Changes also raise Forbidden and Conflict; lasting changes also raise
    BadRequest for a map outside the directory, RefusedAtRuntime and WriteFailed.
    """

    def __init__(self, name: str, find: Callable[[str, Author], Awaitable[LiveMap]]) -> None:
        self.name, self._find = name, find

    def __repr__(self) -> str:
        return f"<Map {self.name}>"

    async def entries(self) -> Sequence[MapEntry]:
        """Return the entries that HAProxy has, in their order."""
        return await (await self._found()).entries()

    async def get(self, key: str) -> str | None:
        """Return the value of the first entry with exactly this key; None if no entry has the key."""
        entry = await (await self._found()).entry(key)
        return entry.value if entry else None

    async def set(self, key: str, value: str, *, lasting: bool = True, author: Author = NOBODY) -> Outcome:
        """Set the value of a key, and add the entry if it is missing. Raises BadValue."""
        live = await self._found(author)
        change = live.set if await live.entry(key) else live.add
        return await change(key, value, sync=lasting)

    async def delete(self, key: str, *, lasting: bool = True, author: Author = NOBODY) -> Outcome:
        """Delete the entries of a key."""
        return await (await self._found(author)).delete(key, sync=lasting)

    async def fill(self, entries: Mapping[str, str], *, lasting: bool = True, author: Author = NOBODY) -> Outcome:
        """Replace the content of the map with `entries`, in their order. Raises BadValue."""
        return await (await self._found(author)).fill([MapEntry(*entry) for entry in entries.items()], sync=lasting)

    async def _found(self, author: Author = NOBODY) -> LiveMap:
        return await self._find(self.name, author)


class Maps(Files):
    """The maps, such as `maps["hosts.map"]`."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, "maps", "maps")

    def __getitem__(self, name: str) -> Map:
        return Map(name, self._find)

    async def _find(self, name: str, author: Author) -> LiveMap:
        store = self._store
        assert isinstance(store, MapStore)
        return await find_map(self._engine.context, store, name, author)


class Certificates(Files):
    """The certificates, each with its key in one PEM file."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, "ssl_certificates", "certificates")

    def read(self, name: str) -> CertificateFile:
        """Return the parsed certificates of a file, for example to read `expires`. Raises Missing, BadRequest and Unusable."""
        store = self._store
        assert isinstance(store, CertificateStore)
        return store.read(store.find(name))[0]
