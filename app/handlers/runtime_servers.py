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
        return json_answer(200, [as_dict(server) for server in await _servers(runtime, call.get("parent_name"))])


async def read(call: Call) -> Answer:
    async with asking(call) as runtime:
        return json_answer(200, as_dict(await _server(runtime, call.get("parent_name"), call.get("name"))))


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


def as_dict(server: ServerState) -> dict[str, Any]:
    """A `runtime_server`; what HAProxy does not know of it is `-`, as it says itself."""
    shown = {
        "address": server.address,
        "admin_state": server.admin_state,
        "agent_addr": server.agent_addr,
        "agent_port": server.agent_port,
        "agent_state": server.agent_state,
        "backend_forced_id": server.backend_forced_id,
        "backend_id": server.backend_id,
        "backend_name": server.backend_name,
        "check_addr": server.check_addr,
        "check_health": server.check_health,
        "check_port": server.check_port,
        "check_result": server.check_result,
        "check_state": server.check_state,
        "check_status": server.check_status,
        "forced_id": server.forced_id,
        "fqdn": server.fqdn,
        "id": str(server.id),
        "iweight": server.iweight,
        "last_time_change": server.last_time_change,
        "name": server.name,
        "operational_state": server.operational_state,
        "port": server.port,
        "srvrecord": server.srvrecord,
        "use_ssl": server.use_ssl,
        "uweight": server.uweight,
        "weight": server.uweight,
    }
    return {name: value for name, value in shown.items() if value is not None}
