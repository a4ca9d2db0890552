"""The servers of a backend as the worker in service has them, whatever the file says."""

from typing import Any

from app.answer import Answer, json_answer
from app.call import Call
from app.runtime import asking
from native.errors import NotFound, RuntimeRefused
from native.runtime.client import Runtime
from native.runtime.server_state import ServerState


async def read_list(call: Call) -> Answer:
    async with asking(call) as runtime:
        return json_answer(200, [as_dict(call, server) for server in await _servers(runtime, call.get("parent_name"))])


async def read(call: Call) -> Answer:
    async with asking(call) as runtime:
        return json_answer(200, as_dict(call, await _server(runtime, call.get("parent_name"), call.get("name"))))


async def _servers(runtime: Runtime, backend: str) -> list[ServerState]:
    try:
        return await runtime.servers(backend)
    except RuntimeRefused:
        raise NotFound(f"no data for {backend}: not found") from None


async def _server(runtime: Runtime, backend: str, name: str) -> ServerState:
    try:
        return next(server for server in await runtime.servers(backend) if server.name == name)
    except (RuntimeRefused, StopIteration):
        raise NotFound(f"no data for {backend}/{name}: not found") from None


def as_dict(call: Call, server: ServerState) -> dict[str, Any]:
    """A `runtime_server`, whose members are named as ours; what HAProxy does not know of it is `-`, as it says itself."""
    members = call.sidecar.schemas.resolve({"$ref": "#/components/schemas/runtime_server"})["properties"]
    shown = {name: getattr(server, name) for name in members}
    return {name: value for name, value in shown.items() if value is not None} | {"id": str(server.id)}
