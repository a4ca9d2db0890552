"""Read the stick tables of the running HAProxy, and read and set their entries. The configuration determines which data a table stores."""

import re
from contextlib import suppress
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.api.runtime_call import use_runtime
from dataplaneapi.handlers.runtime.live_change import change, permit_change
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BadRequest, BadValue, Missing, NotFound, RuntimeFailure, RuntimeRefused
from haproxy_native.grammar.values import Duration, Unknowable
from haproxy_native.runtime import stick_tables
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.stick_tables import HEAD, Table

ENTRY = {"$ref": "#/components/schemas/stick_table_entry"}
BACKENDS, STORED_IN = "backends", ("stick_table", "store")
_STORED = re.compile(r"(?P<field>[a-z_0-9]+)(?:\((?P<inside>[^)]*)\))?")
# The members of an entry that are not data.
_ABOUT = frozenset(["id", "key", "use"])


async def read_list(call: ReadCall) -> Response:
    async with use_runtime(call, classed=False) as runtime:
        return json_response(200, [_as_dict(call, table) for table in await _tables(runtime)])


async def read(call: ReadCall) -> Response:
    name = call.path.name
    async with use_runtime(call, classed=False) as runtime:
        table = await _table(runtime, name)
    if table is None:
        raise NotFound(f"Stick table {name} not found")
    return json_response(200, _as_dict(call, table))


async def read_entries(call: ReadCall) -> Response:
    name, key, known = call.path.parent_name, call.query.key, call.services.schemas.resolve(ENTRY)["properties"]
    # `conn_cnt gt 0,data.gpc0 eq 1` becomes `data.conn_cnt gt 0 data.gpc0 eq 1`.
    filters = []
    for part in (call.query.filter or "").split(","):
        words = part.split()
        if words:
            filters += [argument(word) for word in [f"data.{words[0].removeprefix('data.')}", *words[1:]]]
    async with use_runtime(call, classed=False) as runtime:
        selection = " ".join(filters)
        if key:
            table = await _table(runtime, name)
            is_sent = table is None or stick_tables.can_be_sent(table.type, key)
            key = _stored_key(runtime, table, key) if is_sent else key
            selection = selection or (f"key {argument(key)}" if is_sent else "")
        shown = await runtime.read_dump(f"show table {argument(name)} {selection}".rstrip(), HEAD)
    entries = list(stick_tables.parse_entries(shown, frozenset(known)))
    if key:
        entries = [entry for entry in entries if entry["key"] == key]
    offset, count = call.query.offset or 0, call.query.count
    if offset < 0 or (count is not None and count < 0):
        raise BadRequest("offset and count must not be negative")
    if entries and offset >= len(entries):
        raise BadRequest(f"Offset {offset} is larger than the slice size {len(entries)}")
    return json_response(200, entries[offset : offset + count if count else None])


async def create_entry(call: JsonCall) -> Response:
    """Set all data of a key by one command, which creates the entry if it is missing."""
    name, key, data = call.path.parent_name, *_key_and_data(call.body)

    async def work(runtime: Runtime) -> None:
        table = await _table(runtime, name)
        stored_key = _stored_key(runtime, table, key)
        try:
            for member, value in data.items():
                stick_tables.check_datum(member, value)
        except BadValue as error:
            raise BadRequest(f"{runtime.address} bad request: {error.detail}", place=error.place) from None
        path = f"{argument(name)} key {argument(stored_key)}"
        if table and table.type == "string":
            await _check_length(runtime, path, key)
        command = " ".join([f"set table {path}", *(f"data.{member} {argument(value)}" for member, value in data.items())])
        try:
            await runtime.execute(command)
        except RuntimeRefused as error:
            has_key = False
            with suppress(RuntimeFailure):
                has_key = any(stick_tables.parse_entries(await runtime.read_dump(f"show table {path}", HEAD), frozenset()))
            raise stick_tables.explain_refusal(error, data, runtime.capabilities, has_key=has_key) from None
        if table and table.type == "string":
            await _check_length(runtime, path, key, is_set=True)

    await change(call, spelled("stick_table", name, "entry", key), work, classed=False)
    return empty(204)


async def _check_length(runtime: Runtime, path: str, key: str, *, is_set: bool = False) -> None:
    """Raise BadRequest if the table truncates the key. If the key `is_set`, first remove the entry of the truncated key."""
    for entry in stick_tables.parse_entries(await runtime.read_dump(f"show table {path}", HEAD), frozenset()):
        if entry["key"] != key:
            if is_set:
                await runtime.execute(f"clear table {path}")
            raise BadRequest(f"{runtime.address} bad request: the table would store the key {key!r} as {entry['key']!r}")


async def _tables(runtime: Runtime) -> list[Table]:
    return list(stick_tables.parse_tables(await runtime.read_dump("show table", HEAD)))


async def _table(runtime: Runtime, name: str) -> Table | None:
    return next((table for table in await _tables(runtime) if table.name == name), None)


def _stored_key(runtime: Runtime, table: Table | None, key: str) -> str:
    """Return a key in the form in which the table stores keys. Raises BadRequest if the key does not match the key type of the table."""
    try:
        return stick_tables.stored_key(table.type, key) if table else key
    except BadValue as error:
        raise BadRequest(f"{runtime.address} bad request: {error.detail}", place=error.place) from None


def _key_and_data(body: dict[str, Any] | None) -> tuple[str, dict[str, Any]]:
    """Return the key, and the data under the names of HAProxy, such as `gpc0`, or `gpc[2]` in an array. Raises ApiError."""
    if body is None:
        raise ApiError(400, "value is required but missing")
    data = {}
    for member, value in body["data_type"].items():
        if member in _ABOUT:
            continue
        if not isinstance(value, dict):
            data[member] = value
            continue
        if "value" not in value:
            raise ApiError(422, f'Error at "/data_type/{member}": property "value" is missing')
        index = value.get("idx", 0)
        data[f"{member}[{index}]" if index else member] = value["value"]
    return body["key"], data


def _as_dict(call: Call, table: Table) -> dict[str, Any]:
    """Return a table with its fields, if the configuration of a backend of the same name declares what the table stores."""
    editor, document = call.services.editor, call.services.engine.document
    stored = ""
    with suppress(Missing):
        backend = editor.get_object(document, editor.resources[BACKENDS], None, table.name)
        member, declared = STORED_IN
        stored = str((backend.get(member) or {}).get(declared) or "")
    fields = []
    # Such as `conn_cnt`, `conn_rate(10s)`, or the arrays `gpt(3)` and `gpc_rate(2,10s)`.
    for match in _STORED.finditer(stored):
        parts = [part.strip() for part in (match["inside"] or "").split(",") if part.strip()]
        is_rate = match["field"].endswith("_rate")
        field: dict[str, Any] = {"field": match["field"], "type": "rate" if is_rate else "counter"}
        if is_rate and parts:
            with suppress(ValueError, Unknowable):
                field["period"] = Duration().read(parts.pop())
        if parts and parts[0].isdecimal():
            field["idx"] = int(parts[0])
        fields.append(field)
    shown = {"name": table.name, "type": table.type, "size": table.size, "used": table.used}
    return {"fields": fields, **shown} if fields else shown


async def check_entry(call: Call) -> None:
    key, _ = _key_and_data(call.body)
    permit_change(call, spelled("stick_table", call.path.parent_name, "entry", key))


CHECKS = {"create_entry": check_entry}
