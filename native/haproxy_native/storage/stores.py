"""Create all stores (`Stores`), by their names in the API. One of them is the store of general files, which is defined here."""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from haproxy_native.disk.directories import Directory
from haproxy_native.errors import Unusable
from haproxy_native.storage.certificate_store import CertificateStore
from haproxy_native.storage.crt_list_store import CrtListStore
from haproxy_native.storage.digests import PRINTED_CA_FILES, PRINTED_CRL_FILES
from haproxy_native.storage.list_store import MAPS, PATTERNS, AclStore, MapStore
from haproxy_native.storage.store import Store
from haproxy_native.text.document import Document


class GeneralStore(Store):
    """Files for any use: error pages, Lua, lists of patterns. HAProxy reads them when it starts."""

    kind = "general"
    description = created = "managed general use file"
    printed_kinds = (PRINTED_CA_FILES, PRINTED_CRL_FILES, MAPS.printed_kind, PATTERNS.printed_kind)


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
