"""A server that is added to the running process only: one command from the members that the server line declares.

Values are the text of the file, as everywhere; only `source` may be several words, the first of them an address. The server is left in
maintenance, as HAProxy makes it.
"""

import functools
import shlex
from collections.abc import Mapping
from typing import Any

from haproxy_native.editing.resources import resources
from haproxy_native.grammar.load import Grammar
from haproxy_native.grammar.values import many_words
from haproxy_native.planning.live import Live, live_of, plain
from haproxy_native.planning.observed import AGENT, HEALTH, STATE
from haproxy_native.planning.servers import EffectiveServer, Servers
from haproxy_native.runtime import commands
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.capabilities import Capabilities
from haproxy_native.runtime.commands import Command
from haproxy_native.runtime.verification import Shows
from haproxy_native.text.words import words_of

PLACE = ("name", "address", "port")
SEVERAL_WORDS = "source"


def added(backend: str, values: Mapping[str, Any], capabilities: Capabilities) -> list[Command]:
    """The commands, options in the order of `values`, checks that were asked for included. Raises BadValue and NotExpressible."""
    servers = _servers()
    live = live_of(servers.grammar.schemas, resources()["servers"].schema)
    name = plain(values["name"])
    live.require_readable({**values, **({SEVERAL_WORDS: str(source).split(" ")[0]} if (source := values.get(SEVERAL_WORDS)) else {})})
    path = f"{argument(backend)}/{argument(name)}"
    options = " ".join(map(argument, _words(servers, live, values, capabilities)))
    # Two blanks, as clients know the command from its refusals.
    made = [
        Command(
            f"{commands.ADD_SERVER} {path}  {options}", Shows(backend, name, tuple(live.shown(values).items())), undo=f"del server {path}"
        )
    ]
    made += [commands.checks(backend, name, True)] if values.get(live.roles[HEALTH]) == "enabled" else []
    made += [commands.agent(backend, name, True)] if values.get(live.roles[AGENT]) == "enabled" else []
    return made


def as_line(values: Mapping[str, Any]) -> str:
    """Return the server line that says what `added` sends, without its state. Raises BadValue and NotExpressible."""
    servers = _servers()
    live = live_of(servers.grammar.schemas, resources()["servers"].schema)
    # Both mean the same in single quotes, and expand nothing there.
    return shlex.join(["server", str(values["name"]), *_words(servers, live, values, Capabilities())])


@functools.cache
def _servers() -> Servers:
    """Times are bare milliseconds in a command."""
    return Servers(Grammar(time_suffix="none"))


def _words(servers: Servers, live: Live, values: Mapping[str, Any], capabilities: Capabilities) -> list[str]:
    place = {name: values[name] for name in PLACE if name in values}
    unsaid, words = servers.unsaid(), _flat(_written(servers, place)[:1])
    for name, value in values.items():
        if name in place or _is_silent(live, name, value, capabilities):
            continue
        if name == SEVERAL_WORDS:
            words += [name, *words_of(many_words(str(value)))]
        elif name in unsaid:
            words += [name.replace("_", "-")]
        else:
            words += _flat(_written(servers, {**place, name: value})[1:])
    return [plain(word) for word in words]


def _written(servers: Servers, values: Mapping[str, Any]) -> list[list[str]]:
    return servers.words(EffectiveServer("", 0, values, ()))


def _flat(options: list[list[str]]) -> list[str]:
    return [word for option in options for text in option for word in words_of(text)]


def _is_silent(live: Live, name: str, value: Any, capabilities: Capabilities) -> bool:
    """A server is added disabled."""
    if name == live.roles[STATE] and capabilities.added_servers_take_enabled:
        return False
    return bool(value == "disabled" and live.initially.get(name, "disabled") == "disabled")
