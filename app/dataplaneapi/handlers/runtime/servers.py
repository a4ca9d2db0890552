"""Read and change the servers of a backend in the current worker, which may differ from the file."""

from contextlib import suppress
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.api.runtime_call import asking
from dataplaneapi.handlers.runtime.live_change import change, permit_change
from haproxy_native.commit.change import MemberChange
from haproxy_native.commit.servers_in_process import HEALTH, MEMBERS, change_server
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BadRequest, BadValue, NotFound, RuntimeMissing
from haproxy_native.planning.live import NotExpressible
from haproxy_native.planning.server_plan import add_server_commands, server_line
from haproxy_native.planning.touches import EXPRESSIONS, has_new_expression
from haproxy_native.process_state import Drifted
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.server_state import ServerState

# Seconds that a deletion waits for the last connection of the server to end.
DELETE_SECONDS = 1.0


async def read_list(call: ReadCall) -> Response:
    backend = call.path.parent_name
    async with asking(call) as runtime:
        try:
            servers = await runtime.servers(backend)
        except RuntimeMissing:
            raise NotFound(f"no data for {backend}: not found") from None
        return json_response(200, [as_dict(call, server) for server in servers])


async def read(call: ReadCall) -> Response:
    async with asking(call) as runtime:
        return json_response(200, as_dict(call, await _server(runtime, call.path.parent_name, call.path.name)))


async def create(call: JsonCall) -> Response:
    backend, name = call.path.parent_name, _new_name(call)
    # Values that HAProxy cannot receive are ignored here. `work` refuses them, after the permission for the object is checked.
    _permit_values(call)

    async def work(runtime: Runtime) -> None:
        try:
            texts = add_server_commands(backend, call.body, runtime.capabilities)
        except NotExpressible as word:
            raise BadRequest(f"only HAProxy can resolve {word}") from None
        await commands.apply(runtime, texts)
        _record_drift(call, f"{backend}/{name}", None, await _server(runtime, backend, name))

    await change(call, _object(backend, name), work, classed=False)
    return json_response(201, call.body)


async def replace(call: JsonCall) -> Response:
    """Send the members that differ: state, then weight, then address. If HAProxy refuses a member, the members before are rolled back."""
    backend, name = call.path.parent_name, call.path.name
    shown: dict[str, Any] = {}
    members = _sent_members(call)

    async def work(runtime: Runtime) -> list[MemberChange]:
        before = await _server(runtime, backend, name)
        try:
            after, changed = await change_server(call.services.engine.context, runtime, before, call.body, call.author)
        except BadValue as error:
            raise BadRequest(f"{runtime.address} bad request: {error.detail}", place=error.place) from None
        shown.update(as_dict(call, after))
        return changed

    await change(call, _object(backend, name), work, members=members or (*MEMBERS, HEALTH), classed=False)
    return json_response(200, shown)


async def delete(call: JsonCall) -> Response:
    backend, name = call.path.parent_name, call.path.name

    async def work(runtime: Runtime) -> None:
        before = await _server(runtime, backend, name)
        await commands.apply(runtime, commands.delete_server(backend, name, was=before.forced_state, patience=DELETE_SECONDS))
        _record_drift(call, f"{backend}/{name}", before, None)
        for observer in call.services.engine.context.observers:
            observer.deleted(before)

    await change(call, _object(backend, name), work, classed=False)
    return empty(204)


def _record_drift(call: Call, server: str, before: ServerState | None, after: ServerState | None) -> None:
    """Record that a server in the process differs from the configuration that the process has loaded."""
    old, new = before.settings if before else "", after.settings if after else ""
    call.services.engine.context.running.step(Drifted(f"server {server}", old, new))


def _new_name(call: Call) -> str:
    """Return the name of the server to add. Raises ApiError (400) if the body lacks the name or the address."""
    name: str | None = call.body.get("name")
    if not name:
        raise ApiError(400, "the new server must have a name")
    if not call.body.get("address"):
        raise ApiError(400, "address in body is required: HAProxy cannot add a server without an address")
    return name


def _permit_values(call: Call) -> None:
    """Raise Forbidden if the body has an expression that the author may not write."""
    with suppress(BadValue, NotExpressible):
        if has_new_expression([""], [server_line(call.body)]):
            call.author.permit(EXPRESSIONS)


def _sent_members(call: Call) -> list[str]:
    """Return the members of the server that the body sets."""
    return [member for member in (*MEMBERS, HEALTH) if member in call.body]


def _object(backend: str, name: str) -> str:
    return spelled("backend", backend, "server", name)


async def _server(runtime: Runtime, backend: str, name: str) -> ServerState:
    try:
        return next(server for server in await runtime.servers(backend) if server.name == name)
    except (RuntimeMissing, StopIteration):
        raise NotFound(f"no data for {backend}/{name}: not found") from None


def as_dict(call: Call, server: ServerState) -> dict[str, Any]:
    """Return the attributes of `server` that the schema `runtime_server` declares, except those that are None."""
    members = call.services.schemas.resolve({"$ref": "#/components/schemas/runtime_server"})["properties"]
    shown = {name: getattr(server, name) for name in members}
    return {name: value for name, value in shown.items() if value is not None} | {"id": str(server.id)}


async def check_new(call: Call) -> None:
    permit_change(call, _object(call.path.parent_name, _new_name(call)))
    _permit_values(call)


async def check_change(call: Call) -> None:
    permit_change(call, _object(call.path.parent_name, call.path.name), _sent_members(call) or (*MEMBERS, HEALTH))


async def check_deletion(call: Call) -> None:
    permit_change(call, _object(call.path.parent_name, call.path.name))


CHECKS = {"create": check_new, "replace": check_change, "delete": check_deletion}
