"""The actions of a raw push (`X-Runtime-Actions`): a table of names and their commands.

Actions are separated by `;`, words by blanks; unknown and empty ones are skipped, the first that fails ends the rest.
"""

from collections.abc import Callable

from haproxy_native.errors import BadValue, RuntimeRefused
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.commands import Command

# Action -> how many words it needs, and its command.
ACTIONS: dict[str, tuple[int, Callable[..., Command]]] = {
    "SetFrontendMaxConn": (2, lambda frontend, value: commands.frontend_maxconn(frontend, _integer(value))),
    "SetServerWeight": (3, lambda backend, server, value: commands.weight(backend, server, _integer(value))),
    "SetServerCheckPort": (3, lambda backend, server, port: commands.check_port(backend, server, _integer(port))),
    "SetServerAddr": (4, lambda backend, server, ip, port: commands.address(backend, server, ip, _integer(port))),
    "SetServerState": (3, commands.state),
    "EnableAgentCheck": (2, lambda backend, server: commands.agent(backend, server, True)),
    "DisableAgentCheck": (2, lambda backend, server: commands.agent(backend, server, False)),
    "SetServerAgentAddr": (3, commands.agent_address),
    "SetServerAgentSend": (3, commands.agent_send),
}


async def run(runtime: Runtime, header: str) -> None:
    """Raises RuntimeRefused `cannot execute <action>: <detail>`, and RuntimeFailure; those before it stay applied."""
    for item in header.split(";"):
        name, *words = item.split() or [""]
        if name in ACTIONS:
            await _run(runtime, name, words)


async def _run(runtime: Runtime, name: str, words: list[str]) -> None:
    count, build = ACTIONS[name]
    if len(words) < count:
        raise _failed(name, "not enough parameters")
    try:
        await commands.apply(runtime, [build(*words[:count])])
    except BadValue as error:
        raise _failed(name, f"{runtime.address} bad request: {error.detail}") from error
    except RuntimeRefused as error:
        raise _failed(name, f"{runtime.address} {error.detail}") from error


def _failed(name: str, why: str) -> RuntimeRefused:
    """No other class than this, whatever HAProxy says: the header is wrong, while the text that came with it is committed."""
    return RuntimeRefused(why, name, f"cannot execute {name}: {why}")


def _integer(word: str) -> int:
    try:
        return int(word)
    except ValueError as error:
        raise BadValue(f"not a number: {word!r}") from error
