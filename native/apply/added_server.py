"""A server that is added to the running process alone: its members, as the server line's declaration has them, become one command.

Values are the text of the file, as everywhere; only `source` may be several words. The server is left in maintenance, as HAProxy makes it.
"""

from collections.abc import Mapping
from typing import Any

from native.apply.live import Live, live_of, plain
from native.apply.server_plan import AGENT, HEALTH, STATE
from native.apply.servers import EffectiveServer, Servers
from native.config.resources import resources
from native.grammar.load import grammar
from native.runtime import commands
from native.runtime.argument import argument
from native.runtime.capabilities import Capabilities
from native.runtime.commands import Command
from native.runtime.proof import Shows
from native.text.words import words_of

SEVERAL_WORDS = "source"
# Up to 2.9 an added server may say that it is not in maintenance; since, the word is refused.
TAKES_ENABLED = (3, 0)


def added(backend: str, values: Mapping[str, Any], capabilities: Capabilities) -> list[Command]:
    """The commands, checks that were asked for included. Raises BadValue and Unsayable."""
    servers = Servers(grammar())
    live = live_of(servers.grammar.schemas, resources()["servers"].schema)
    name = plain(values["name"])
    path = f"{argument(backend)}/{argument(name)}"
    options = " ".join(_options(servers, live, values, capabilities))
    # Two blanks, as clients know the command from its refusals.
    made = [Command(f"add server {path}  {options}", Shows(backend, name), undo=f"del server {path}")]
    made += [commands.checks(backend, name, True)] if values.get(live.roles[HEALTH]) == "enabled" else []
    made += [commands.agent(backend, name, True)] if values.get(live.roles[AGENT]) == "enabled" else []
    return made


def _options(servers: Servers, live: Live, values: Mapping[str, Any], capabilities: Capabilities) -> list[str]:
    silent = [name for name, value in values.items() if value == "disabled" and live.initially.get(name, "disabled") == "disabled"]
    if capabilities.version < TAKES_ENABLED:
        silent = [name for name in silent if name != live.roles[STATE]]
    written = servers.words(EffectiveServer("", 0, values, ()), [SEVERAL_WORDS, *silent])
    words = [word for option in written for text in option for word in words_of(text)]
    words += [name.replace("_", "-") for name in servers.ignored() if values.get(name) == "enabled"]
    several = words_of(str(values.get(SEVERAL_WORDS, "")))
    return [argument(plain(word)) for word in [*words, *([SEVERAL_WORDS, *several] if several else [])]]
