"""The runtime actions that a raw push may carry: `SetServerWeight app s1 50;SetServerState app s2 maint`.

They run as given, one after the other; unknown and empty ones are skipped, and the first that fails ends it.
"""

from collections.abc import Callable
from typing import NamedTuple

from native.errors import BadRequest, BadValue, RuntimeFailure
from native.runtime import commands
from native.runtime.client import Runtime
from native.runtime.commands import Command


class Action(NamedTuple):
    """How many words it needs, and the command they make."""

    words: int
    command: Callable[..., Command]


ACTIONS = {
    "SetFrontendMaxConn": Action(2, lambda frontend, limit: commands.frontend_maxconn(frontend, int(limit))),
    "SetServerWeight": Action(3, lambda backend, server, weight: commands.weight(backend, server, int(weight))),
    "SetServerCheckPort": Action(3, lambda backend, server, port: commands.check_port(backend, server, int(port))),
    "SetServerAddr": Action(4, lambda backend, server, ip, port: commands.address(backend, server, ip, int(port))),
    "SetServerState": Action(3, commands.state),
    "EnableAgentCheck": Action(2, lambda backend, server: commands.agent(backend, server, True)),
    "DisableAgentCheck": Action(2, lambda backend, server: commands.agent(backend, server, False)),
    "SetServerAgentAddr": Action(3, commands.agent_address),
    "SetServerAgentSend": Action(3, commands.agent_send),
}


async def carry_out(runtime: Runtime, text: str) -> None:
    """Raises RuntimeFailure naming the action that failed."""
    for item in text.split(";"):
        name, *words = item.split() or [""]
        action = ACTIONS.get(name)
        if action is None:
            continue
        if len(words) < action.words:
            raise RuntimeFailure(f"cannot execute {name}: not enough parameters")
        try:
            await commands.apply(runtime, [action.command(*words[: action.words])])
        except (BadValue, BadRequest, ValueError) as error:
            raise RuntimeFailure(f"cannot execute {name}: {runtime.address} bad request: {error}") from error
        except RuntimeFailure as error:
            raise RuntimeFailure(f"cannot execute {name}: {runtime.address} {error}") from error
