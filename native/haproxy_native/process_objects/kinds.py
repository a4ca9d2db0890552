"""The table: by how an object's name begins, what is read of one in the running process, and how a change of it is taken back."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from haproxy_native.commit.change import Member, Outcome
from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.object_names import parsed
from haproxy_native.errors import Diverged
from haproxy_native.grammar.load import Grammar
from haproxy_native.overrides.overrides import Overrides
from haproxy_native.planning.servers import Servers
from haproxy_native.process_objects.crt_lists import CrtLists
from haproxy_native.process_objects.object_kind import ObjectKind
from haproxy_native.process_objects.servers import ProcessServers
from haproxy_native.process_objects.stick_tables import StickTableEntries
from haproxy_native.process_objects.tls_files import TlsFiles
from haproxy_native.runtime.ssl_files import CA_FILES, CERTIFICATES, CRL_FILES
from haproxy_native.storage.live_acls import LiveAcl
from haproxy_native.storage.live_maps import LiveMap
from haproxy_native.storage.map_store import MapStore
from haproxy_native.storage.store import Store

# Takes one change back, with what its object was made of before; returns None where nothing of it is left. Raises RuntimeFailure, and
# Conflict with both sides.
TakeBack = Callable[[Sequence[Member], bytes | None], Awaitable[Outcome | None]]


def kinds(context: CommitContext, overrides: Overrides, language: Grammar) -> dict[str, ObjectKind]:
    """Those whose changes are read at the one place through which they go (native/haproxy_native/commit/commit.py, `change_process`)."""
    return {
        "backend": ProcessServers(context, overrides, Servers(language)),
        "certificate": TlsFiles(context, CERTIFICATES),
        "ca_file": TlsFiles(context, CA_FILES),
        "crl_file": TlsFiles(context, CRL_FILES),
        "crt_list": CrtLists(context),
        "stick_table": StickTableEntries(context),
    }


def take_backs(
    context: CommitContext, stores: Mapping[str, Store], overrides: Overrides, read: Mapping[str, ObjectKind]
) -> dict[str, TakeBack]:
    """For `read`, and for what says itself which members it has changed: servers, maps and ACLs."""

    async def of_server(changed: Sequence[Member], held: bytes | None) -> Outcome | None:
        whole = changed[0].member == ""
        return await (read["backend"].take_back(changed, held) if whole else overrides.take_back(changed))

    async def of_map(changed: Sequence[Member], held: bytes | None) -> Outcome | None:
        store, name = stores.get("maps"), parsed(changed[0].object)[1]
        if not isinstance(store, MapStore):
            raise Diverged(f"there is no directory of maps any more that could hold {name}")
        return await LiveMap(context, store, store.path_of(name)).take_back(changed[0])

    async def of_acl(changed: Sequence[Member], held: bytes | None) -> Outcome | None:
        return await LiveAcl(context, stores, parsed(changed[0].object)[1]).take_back(changed[0])

    return {**{f"{word}/": kind.take_back for word, kind in read.items()}, "backend/": of_server, "map/": of_map, "acl/": of_acl}
