"""ACLs of the running HAProxy and their patterns. What is changed here lasts until a reload; no file is touched."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from app.answer import Answer, empty, json_answer
from app.call import Call, Written
from app.errors import ApiError
from app.runtime import ALL_NOT_THERE, asking
from native.errors import NotFound, RuntimeMisused, RuntimeRefused, RuntimeUnseen
from native.runtime import acls, answers
from native.runtime.argument import argument
from native.runtime.client import Runtime

# What refusals of a whole list are: mistakes of the request, unless another worker, or another client, came in between.
OF_A_LIST = (("Version number", RuntimeUnseen), ("", RuntimeMisused))
NEW_VERSION = "New version created: "


async def read_list(call: Call) -> Answer:
    async with asking(call, kinds=ALL_NOT_THERE) as runtime:
        return json_answer(200, [_as_dict(acl) for acl in await _acls(runtime)])


async def read(call: Call) -> Answer:
    id_ = call.get("id")
    where = f"cannot retrieve ACL file for {id_}:"
    async with asking(call, where, kinds=ALL_NOT_THERE) as runtime:
        found = next((acl for acl in await _acls(runtime) if acl.id == id_), None)
    if found is None:
        raise NotFound(f"{where} #{id_} not found")
    return json_answer(200, _as_dict(found))


async def read_entries(call: Call) -> Answer:
    parent = call.get("parent_name")
    where = f"cannot retrieve ACL files entries for {parent}:"
    async with asking(call, where, kinds=ALL_NOT_THERE) as runtime:
        found = [{"id": reference, "value": pattern} for reference, pattern in await _patterns(runtime, parent)]
    if not found:
        # Clients tell an empty ACL by this answer.
        raise NotFound(f"{where} not found")
    return json_answer(200, found)


async def read_entry(call: Call) -> Answer:
    """By its reference or by the pattern itself, never by what else would match it."""
    parent, entry = call.get("parent_name"), call.get("id")
    where = f"cannot retrieve ACL file entry for {parent}:"
    async with asking(call, where, kinds=ALL_NOT_THERE) as runtime:
        found = next((pattern for reference, pattern in await _patterns(runtime, parent) if entry in (reference, pattern)), None)
    if found is None:
        raise NotFound(f"{where} {entry} not found")
    return json_answer(200, {"value": found})


async def create_entry(call: Written) -> Answer:
    parent, value = call.get("parent_name"), _value(call.body, "")
    where = f"cannot add ACL files entry for {parent}:"
    async with asking(call, where) as runtime:
        # That there is no such ACL is told by the command that wants to change it.
        with suppress(RuntimeRefused):
            if any(pattern == value for _, pattern in await _patterns(runtime, parent)):
                raise ApiError(409, f"{where} already exists")
        await runtime.ask(f"add acl #{argument(parent)} {argument(value)}")
    return json_answer(201, {"value": value})


async def delete_entry(call: Written) -> Answer:
    """By its reference."""
    parent, entry = call.get("parent_name"), call.get("id")
    async with asking(call, f"cannot delete ACL files entry for {parent}:", kinds=ALL_NOT_THERE) as runtime:
        await runtime.ask(f"del acl #{argument(parent)} #{argument(entry)}")
    return empty(204)


async def replace_entries(call: Written) -> Answer:
    """All at once: the new patterns are gathered in a version of their own, which replaces the old one as a whole or not at all."""
    parent = call.get("parent_name")
    values = [_value(entry, f"{place}.") for place, entry in enumerate(call.body)]
    name = f"#{parent}" if parent.isdecimal() else argument(parent)
    async with asking(call, kinds=OF_A_LIST, seconds=None) as runtime, runtime.versions:
        version = await _prepared(runtime, name)
        added = [f"add acl @{version} {name} {argument(value)}" for value in values]
        for command, answer in zip(added, await runtime.each(added), strict=True):
            if (said := answers.refusal(answer)) is not None:
                await runtime.send(f"clear acl @{version} {name}")
                raise RuntimeRefused(said, command)
        await runtime.ask(f"commit acl @{version} {name}")
    return json_answer(201, call.body)


async def _prepared(runtime: Runtime, name: str) -> str:
    command = f"prepare acl {name}"
    answer = await runtime.send(command)
    if not answer.startswith(NEW_VERSION):
        raise RuntimeRefused(answers.first_words(answer), command)
    return answer.removeprefix(NEW_VERSION)


async def _acls(runtime: Runtime) -> list[acls.Acl]:
    return list(acls.acls(await runtime.read("show acl", acls.LIST_HEAD)))


async def _patterns(runtime: Runtime, id_: str) -> list[tuple[str, str]]:
    return list(acls.patterns(await runtime.read(f"show acl #{argument(id_)}", acls.PATTERNS_HEAD)))


def _value(entry: Mapping[str, Any], place: str) -> str:
    value: str | None = entry.get("value")
    if not value:
        raise ApiError(422, f"{place}value in body is required")
    return value


def _as_dict(acl: acls.Acl) -> dict[str, str]:
    return {"id": acl.id, "storage_name": acl.name, "description": acl.description}
