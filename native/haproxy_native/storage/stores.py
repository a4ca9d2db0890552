"""All stores, by their names in the API."""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from haproxy_native.disk.directories import Directory
from haproxy_native.errors import Unusable
from haproxy_native.storage.acl_store import AclStore
from haproxy_native.storage.certificate_store import CertificateStore
from haproxy_native.storage.crt_list_store import CrtListStore
from haproxy_native.storage.general_store import GeneralStore
from haproxy_native.storage.map_store import MapStore
from haproxy_native.storage.store import Store
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
KINDS: dict[str, type[Store]] = {
    "maps": MapStore,
    "acls": AclStore,
    "general": GeneralStore,
    "ssl_certificates": CertificateStore,
    "ssl_crt_lists": CrtListStore,
}


class Stores(dict[str, Store]):
    """Made from the directories, by the stores' names; `state` is the engine's own. One that cannot be used says so when asked."""

    def __init__(self, directories: Mapping[str, Directory], state: Path) -> None:
        super().__init__({name: KINDS[name](name, directory, state) for name, directory in directories.items() if name in KINDS})
        if certificates := self.get("ssl_certificates"):
            for store in self.values():
                store.keys = certificates.directory

    def naming(self, directory: Path) -> Callable[[Document, str], str]:
        """A function that gives the entry of a stored map by which a document in this directory may send to a backend; it blocks."""
        maps = self.get("maps")
        return partial(maps.naming, directory) if isinstance(maps, MapStore) else lambda document, backend: ""

    def of(self, path: Path) -> Store | None:
        """Returns the store of a file, by its absolute path: the first if several share its directory."""
        for store in self.values():
            try:
                if store.at(str(path)) in store.files():
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
