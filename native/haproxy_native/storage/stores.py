"""Create all stores (`Stores`), by their names in the API. One of them is the store of general files, which is defined here."""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from haproxy_native.commit.context import CommitContext
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.object_names import parsed, spelled
from haproxy_native.errors import Unusable
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.runtime.ssl_files import CA_FILES, CRL_FILES
from haproxy_native.storage import tls_digests
from haproxy_native.storage.certificate_store import CertificateStore
from haproxy_native.storage.crt_list_store import CrtListStore
from haproxy_native.storage.list_store import AclStore, MapStore
from haproxy_native.storage.store import Store, plan_reload
from haproxy_native.text.document import Document


class GeneralStore(Store):
    """Files for any use: error pages, Lua, lists of patterns. HAProxy reads them when it starts."""

    kind = "general"
    description = created = "managed general use file"

    async def differing(self, context: CommitContext) -> list[tuple[str, str, str]]:
        # HAProxy prints the contents of CA files, CRL files, maps and lists of patterns only.
        found = [each for kind in (CA_FILES, CRL_FILES) for each in await tls_digests.differing(context, self, kind)]
        for lists in (MapStore, AclStore):
            rows = await lists(self.name, self._kept, self.state).differing(context)
            found += [(spelled(self.kind, parsed(object_)[1]), held, worker) for object_, held, worker in rows]
        return found

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        return plan_reload(
            self.running_references(context, path), self.references(context, path), f"HAProxy reads {path.name} only when it starts"
        )


log = logging.getLogger(__name__)
KINDS: dict[str, type[Store]] = {
    "maps": MapStore,
    "acls": AclStore,
    "general": GeneralStore,
    "ssl_certificates": CertificateStore,
    "ssl_crt_lists": CrtListStore,
}


class Stores(dict[str, Store]):
    """The stores by name, one for each configured directory. `state` is the directory of the engine's own files.

    If a directory cannot be used, its store raises Unusable when it is called.
    """

    def __init__(self, directories: Mapping[str, Directory], state: Path) -> None:
        super().__init__({name: KINDS[name](name, directory, state) for name, directory in directories.items() if name in KINDS})
        if certificates := self.get("ssl_certificates"):
            for store in self.values():
                store.keys = certificates.directory

    def naming(self, base: Callable[[Document], str]) -> Callable[[Document, str], str]:
        """Return a function that searches the maps of a document for the name of a backend. The function blocks.

        Its arguments are the document and the name. It returns a sentence about the first entry with the name as its value; "" if there is
        none. `base` returns the base of relative paths in a document.
        """
        maps = self.get("maps")
        return partial(maps.find_value, base) if isinstance(maps, MapStore) else lambda document, backend: ""

    def find_store(self, path: Path) -> Store | None:
        """Return the first store that lists the file at an absolute path; None if no store does."""
        for store in self.values():
            try:
                if store.file_at(str(path)) in store.files():
                    return store
            except Unusable:
                continue
        return None

    def recover(self) -> None:
        for store in self.values():
            try:
                store.recover()
            except Unusable as error:
                log.warning("%s", error)
