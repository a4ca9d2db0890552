"""Read and change maps in the running HAProxy. With `force_sync` a change also writes the file of the map.

Inside a transaction or a batch, a call reads and changes the file as the transaction or batch has staged it, and not the process. Such a
change needs `force_sync`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import MEMBERS, Response, empty, json_response
from dataplaneapi.api.runtime_call import read_long, use_runtime
from dataplaneapi.handlers.runtime.live_change import raising_refusal
from haproxy_native.access.rights import READ, Rights
from haproxy_native.editing.object_names import encoded
from haproxy_native.errors import Exists, NotFound
from haproxy_native.planning.touches import ANY, CHANGE, CREATE, DELETE, Touch
from haproxy_native.runtime import lists
from haproxy_native.runtime.dumps import MapDump
from haproxy_native.runtime.lists import LoadedMap, MapEntry
from haproxy_native.storage.list_store import MapStore
from haproxy_native.storage.live_lists import LiveMap, find_map, stored_map
from haproxy_native.threads import run_in_thread_if


async def read_list(call: ReadCall) -> Response:
    store = _store(call)
    async with use_runtime(call) as runtime:
        loaded = await lists.list_maps(runtime)
    rows = []
    for map_ in loaded:
        file = store.file_loaded_as(call.services.engine.context, map_.name)
        if file:
            rows.append(_map_row(map_) | {"storage_name": file.name})
        elif call.query.include_unmanaged:
            rows.append(_map_row(map_))
    return json_response(200, rows)


async def read(call: ReadCall) -> Response:
    async with use_runtime(call) as runtime:
        name = (await _find_loaded_map(call)).name
        loaded = next((map_ for map_ in await lists.list_maps(runtime) if map_.name == name), None)
    if loaded is None:
        raise NotFound(f"{runtime.address} {name} not found")
    return json_response(200, _map_row(loaded))


async def fill(call: JsonCall) -> Response:
    """Replace all entries of the map by the entries in the body."""
    large = len(call.body) > MEMBERS
    entries = await run_in_thread_if(large, lambda: [MapEntry(entry.get("key", ""), entry.get("value", "")) for entry in call.body])
    async with _map_to_change(call) as live:
        await live.fill(entries, sync=call.query.force_sync)
    return json_response(201, call.body)


async def clear(call: JsonCall) -> Response:
    """Remove all entries of the map. With `forceDelete` also delete its file."""
    async with _map_to_change(call) as live:
        await (live.remove() if call.query.force_delete else live.clear(sync=call.query.force_sync))
    return empty(204)


async def read_entries(call: ReadCall) -> Response:
    dump = MapDump()
    async with use_runtime(call, seconds=None) as runtime:
        live = await _find_map(call)
        if live.is_staged:
            return json_response(200, [_entry_row(entry) for entry in await live.entries()])
        await read_long(runtime, lists.show_map(live.name), lists.ENTRIES_HEAD, dump)
    return Response(200, dump.body)


async def read_entry(call: ReadCall) -> Response:
    async with use_runtime(call) as runtime:
        live = await _find_map(call)
        entry = await live.entry(call.path.id)
    if entry is None:
        raise NotFound(f"{call.path.id} not found" if live.is_staged else f"{runtime.address} {call.path.id} not found")
    return json_response(200, _entry_row(entry))


async def create_entry(call: JsonCall) -> Response:
    key, value = call.body.get("key", ""), call.body.get("value", "")
    async with _map_to_change(call) as live:
        await live.add(key, value, sync=call.query.force_sync)
    return json_response(201, call.body)


async def replace_entry(call: JsonCall) -> Response:
    async with _map_to_change(call) as live:
        await live.set(call.path.id, call.body["value"], sync=call.query.force_sync)
    return json_response(200, {"key": call.path.id, "value": call.body["value"]})


async def delete_entry(call: JsonCall) -> Response:
    async with _map_to_change(call) as live:
        await live.delete(call.path.id, sync=call.query.force_sync)
    return empty(204)


@asynccontextmanager
async def _map_to_change(call: Call) -> AsyncIterator[LiveMap]:
    async with use_runtime(call) as runtime:
        live = await _find_map(call)
        if live.is_staged and not (call.query.force_sync or call.query.force_delete):
            raise ApiError(400, "a transaction can change only the map's file: send force_sync=true")
        try:
            with raising_refusal():
                yield live
        except Exists as error:
            raise error if live.is_staged else ApiError(409, f"{runtime.address} already exists") from None


async def _find_map(call: Call) -> LiveMap:
    """Return the map that the path names: the loaded map or, inside a transaction or batch, its staged file."""
    if not call.is_part:
        return await _find_loaded_map(call)
    store = _store(call)
    return stored_map(call.services.engine.context, call.within(store), store.path_of(_name(call)), call.author)


async def _find_loaded_map(call: Call) -> LiveMap:
    """Return the loaded map that the path names. Raises Forbidden if the call is a GET and the caller may not read the map or entry.

    The commit authorizes changes.
    """
    live, rights = await find_map(call.services.engine.context, _store(call), _name(call), call.author), call.author.rights
    if isinstance(rights, Rights) and call.operation.method == "GET":
        rights.require(READ, f"{live.object}/entry/{encoded(entry)}" if (entry := call.values.get("id")) else live.object)
    return live


def _name(call: Call) -> str:
    """Return the name of the map in the path, which may be followed by the key of an entry."""
    name: str = call.values.get("parent_name") or call.values["name"]
    return name


def _store(call: Call) -> MapStore:
    store = call.services.engine.stores["maps"]
    assert isinstance(store, MapStore)
    return store


def _map_row(loaded: LoadedMap) -> dict[str, Any]:
    return {"description": loaded.description, "file": loaded.name, "id": loaded.id}


def _entry_row(entry: MapEntry) -> dict[str, Any]:
    return {"key": entry.key, "value": entry.value}


async def check_change(call: Call) -> None:
    """Raise Forbidden unless the caller may change the entry that the call names or, if it names none, the whole map."""
    async with use_runtime(call):
        live = await _find_map(call)
    if "parent_name" in call.values:
        call.author.permit(live.touch(call.values.get("id") or call.body.get("key", ""), _VERBS[call.operation.method]))
    else:
        call.author.permit(Touch(live.object, DELETE if call.query.force_delete else CHANGE, frozenset((ANY,))))


_VERBS = {"POST": CREATE, "PUT": CHANGE, "DELETE": DELETE}
CHECKS = dict.fromkeys(("fill", "clear", "create_entry", "replace_entry", "delete_entry"), check_change)
