"""ACLs of the running HAProxy and their patterns; with `force_sync` their files follow, else a change lasts until a reload."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from app.answer import Answer, empty, json_answer
from app.call import Call, Written
from app.errors import ApiError
from app.runtime import ALL_NOT_THERE, SECONDS, Kinds, asking
from native.errors import AlreadyThere, NotFound, NotTaken, RuntimeMisused, RuntimeRefused, RuntimeUnseen
from native.runtime import acls
from native.storage.live_acls import LiveAcl

# What refusals of a whole list are: mistakes of the request, unless another worker, or another client, came in between.
OF_A_LIST = (("Version number", RuntimeUnseen), ("", RuntimeMisused))


async def read_list(call: Call) -> Answer:
    async with asking(call, kinds=ALL_NOT_THERE) as runtime:
        return json_answer(200, [_as_dict(acl) for acl in await acls.loaded(runtime)])


async def read(call: Call) -> Answer:
    id_ = call.get("id")
    where = f"cannot retrieve ACL file for {id_}:"
    async with asking(call, where, kinds=ALL_NOT_THERE) as runtime:
        found = next((acl for acl in await acls.loaded(runtime) if acl.id == id_), None)
    if found is None:
        raise NotFound(f"{where} #{id_} not found")
    return json_answer(200, _as_dict(found))


async def read_entries(call: Call) -> Answer:
    parent = call.get("parent_name")
    where = f"cannot retrieve ACL files entries for {parent}:"
    async with asking(call, where, kinds=ALL_NOT_THERE) as runtime:
        found = [{"id": reference, "value": pattern} for reference, pattern in await acls.entries(runtime, f"#{parent}")]
    if not found:
        # Clients tell an empty ACL by this answer.
        raise NotFound(f"{where} not found")
    return json_answer(200, found)


async def read_entry(call: Call) -> Answer:
    """By its reference or by the pattern itself, never by what else would match it."""
    parent, entry = call.get("parent_name"), call.get("id")
    where = f"cannot retrieve ACL file entry for {parent}:"
    async with asking(call, where, kinds=ALL_NOT_THERE) as runtime:
        found = next((pattern for reference, pattern in await acls.entries(runtime, f"#{parent}") if entry in (reference, pattern)), None)
    if found is None:
        raise NotFound(f"{where} {entry} not found")
    return json_answer(200, {"value": found})


async def create_entry(call: Written) -> Answer:
    parent, value = call.get("parent_name"), _value(call.body, "")
    where = f"cannot add ACL files entry for {parent}:"
    async with _changing(call, f"#{parent}", where) as acl:
        try:
            await acl.add(value, sync=_sync(call))
        except AlreadyThere:
            raise ApiError(409, f"{where} already exists") from None
    return json_answer(201, {"value": value})


async def delete_entry(call: Written) -> Answer:
    """By its reference."""
    parent = call.get("parent_name")
    async with _changing(call, f"#{parent}", f"cannot delete ACL files entry for {parent}:", ALL_NOT_THERE) as acl:
        await acl.delete(call.get("id"), sync=_sync(call))
    return empty(204)


async def replace_entries(call: Written) -> Answer:
    """All at once: the new patterns are gathered in a version of their own, which replaces the old one as a whole or not at all."""
    values = [_value(entry, f"{place}.") for place, entry in enumerate(call.body)]
    parent = call.get("parent_name")
    async with _changing(call, f"#{parent}" if parent.isdecimal() else parent, "", OF_A_LIST, seconds=None) as acl:
        await acl.replace(values, sync=_sync(call))
    return json_answer(201, call.body)


@asynccontextmanager
async def _changing(call: Call, name: str, where: str, kinds: Kinds = (), *, seconds: float | None = SECONDS) -> AsyncIterator[LiveAcl]:
    """One ACL; a commit takes the time it needs."""
    async with asking(call, where, kinds=kinds, seconds=None if _sync(call) else seconds):
        try:
            yield LiveAcl(call.sidecar.engine.site, call.sidecar.engine.stores, name)
        except NotTaken as error:
            if isinstance(error.__cause__, RuntimeRefused):
                raise error.__cause__ from None
            raise


def _sync(call: Call) -> bool:
    return bool(call.get("force_sync"))


def _value(entry: Mapping[str, Any], place: str) -> str:
    value: str | None = entry.get("value")
    if not value:
        raise ApiError(422, f"{place}value in body is required")
    return value


def _as_dict(acl: acls.Acl) -> dict[str, str]:
    return {"id": acl.id, "storage_name": acl.name, "description": acl.description}
