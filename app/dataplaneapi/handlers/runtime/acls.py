"""Read and change the patterns of ACLs in the running HAProxy. With `force_sync` a change also writes the file of the ACL."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.api.runtime_call import use_runtime
from dataplaneapi.handlers.runtime.live_change import permit_change, raising_refusal
from haproxy_native.errors import Exists, NotFound
from haproxy_native.planning.touches import CREATE, DELETE
from haproxy_native.runtime import lists
from haproxy_native.storage.live_lists import LiveAcl, find_acl, find_live_acl


async def read_list(call: ReadCall) -> Response:
    async with use_runtime(call) as runtime:
        return json_response(200, [_as_dict(acl) for acl in await lists.list_acls(runtime)])


async def read(call: ReadCall) -> Response:
    id_ = call.path.id
    where = f"cannot retrieve ACL file for {id_}:"
    async with use_runtime(call, where):
        acl = await find_acl(call.services.engine.context, call.services.engine.stores, id_)
    if acl is None:
        raise NotFound(f"{where} #{id_} not found")
    return json_response(200, _as_dict(acl))


async def read_entries(call: ReadCall) -> Response:
    parent = call.path.parent_name
    where = f"cannot retrieve ACL files entries for {parent}:"
    async with use_runtime(call, where) as runtime:
        entries = [
            {"id": reference, "value": pattern} for reference, pattern in await lists.read_acl(runtime, (await _find_live_acl(call)).name)
        ]
    if not entries:
        # Clients detect an empty ACL by this response.
        raise NotFound(f"{where} not found")
    return json_response(200, entries)


async def read_entry(call: ReadCall) -> Response:
    """Return the entry whose reference or pattern equals the id in the path."""
    parent, entry = call.path.parent_name, call.path.id
    where = f"cannot retrieve ACL file entry for {parent}:"
    async with use_runtime(call, where) as runtime:
        rows = await lists.read_acl(runtime, (await _find_live_acl(call)).name)
    if (value := next((pattern for row in rows if entry in row for pattern in row[1:]), None)) is None:
        raise NotFound(f"{where} {entry} not found")
    return json_response(200, {"value": value})


async def create_entry(call: JsonCall) -> Response:
    parent, value = call.path.parent_name, _pattern_of(call.body, "")
    where = f"cannot add ACL files entry for {parent}:"
    async with _acl_to_change(call, where) as acl:
        try:
            await acl.add(value, sync=call.query.force_sync)
        except Exists:
            raise ApiError(409, f"{where} already exists") from None
    return json_response(201, {"value": value})


async def delete_entry(call: JsonCall) -> Response:
    """Delete an entry by its reference."""
    parent = call.path.parent_name
    async with _acl_to_change(call, f"cannot delete ACL files entry for {parent}:") as acl:
        await acl.delete(call.path.id, sync=call.query.force_sync)
    return empty(204)


async def replace_entries(call: JsonCall) -> Response:
    """Replace all patterns at once. HAProxy collects the new patterns in a new version of the ACL, and then switches to that version."""
    values = [_pattern_of(entry, f"{index}.") for index, entry in enumerate(call.body)]
    async with _acl_to_change(call, "") as acl:
        await acl.replace(values, sync=call.query.force_sync)
    return json_response(201, call.body)


@asynccontextmanager
async def _acl_to_change(call: Call, where: str) -> AsyncIterator[LiveAcl]:
    async with use_runtime(call, where):
        with raising_refusal():
            yield await _find_live_acl(call)


async def _find_live_acl(call: Call) -> LiveAcl:
    return await find_live_acl(call.services.engine.context, call.services.engine.stores, call.path.parent_name, call.author)


def _pattern_of(entry: Mapping[str, Any], prefix: str) -> str:
    """Return the pattern of an entry in the body. Raises ApiError, whose message has `prefix` before the name of the member."""
    value: str | None = entry.get("value")
    if not value:
        raise ApiError(422, f"{prefix}value in body is required and must not be empty")
    return value


def _as_dict(acl: lists.LoadedAcl) -> dict[str, str]:
    return {"id": acl.id, "storage_name": acl.name, "description": acl.description}


async def check_new_entry(call: Call) -> None:
    async with _acl_to_change(call, "") as acl:
        call.author.permit(acl.touch(_pattern_of(call.body, ""), CREATE))


async def check_delete_entry(call: Call) -> None:
    async with _acl_to_change(call, "") as acl:
        call.author.permit(acl.touch(call.path.id, DELETE))


async def check_all_entries(call: Call) -> None:
    async with _acl_to_change(call, "") as acl:
        permit_change(call, acl.object)


CHECKS = {"create_entry": check_new_entry, "delete_entry": check_delete_entry, "replace_entries": check_all_entries}
