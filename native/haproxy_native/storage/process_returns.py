"""Takes back changes of maps and ACLs that were made in the process alone."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from haproxy_native.commit.change import Member, Outcome
from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.object_names import parsed
from haproxy_native.errors import Conflict
from haproxy_native.storage.live_acls import LiveAcl
from haproxy_native.storage.live_maps import LiveMap
from haproxy_native.storage.map_store import MapStore
from haproxy_native.storage.store import Store

TakeBack = Callable[[Sequence[Member]], Awaitable[Outcome | None]]


def returns(context: CommitContext, stores: Mapping[str, Store]) -> dict[str, TakeBack]:
    """By how the object's name begins: what takes one change back, and returns None where nothing of it is left. It raises RuntimeFailure,
    and Conflict with both sides.
    """

    async def of_map(changed: Sequence[Member]) -> Outcome | None:
        store, name = stores.get("maps"), parsed(changed[0].object)[1]
        if not isinstance(store, MapStore):
            raise Conflict(f"there is no directory of maps any more that could hold {name}")
        return await LiveMap(context, store, store.path_of(name)).take_back(changed[0])

    async def of_acl(changed: Sequence[Member]) -> Outcome | None:
        return await LiveAcl(context, stores, parsed(changed[0].object)[1]).take_back(changed[0])

    return {"map/": of_map, "acl/": of_acl}
