"""Plan the servers of a backend: the commands that change, delete and add them in the running process, or the reasons for a reload.

`ServerPlanner` compares the servers of two documents. `add_server_commands` is for the API call that adds a server to the process alone.
Commands contain the words of the file without quotes. Only HAProxy can resolve variables, so words with variables need a reload.
"""

import functools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from haproxy_native.editing.resources import resources
from haproxy_native.errors import BadValue
from haproxy_native.grammar.load import Grammar
from haproxy_native.grammar.values import many_words
from haproxy_native.planning.live import Live, NotExpressible, live_of, plain
from haproxy_native.planning.observed import (
    AGENT,
    HEALTH,
    OPERATIONAL,
    STATE,
    UP,
    WEIGHT,
    Claim,
    Observed,
    has_unreadable_value,
    servers_of_line,
)
from haproxy_native.planning.outcome import SectionPlan
from haproxy_native.planning.servers import EffectiveServer, Fixed, Servers
from haproxy_native.runtime import commands
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.capabilities import Capabilities
from haproxy_native.runtime.commands import Command
from haproxy_native.runtime.verification import Shows
from haproxy_native.text.words import unquoted, words_of

NOT_FIXED = Fixed()


class ServerPlanner:
    """Plans the servers of one backend, and adds the plan to `result`.

    `observed`: the state of the worker, if it was read; claimed servers are planned from it.
    """

    def __init__(
        self,
        servers: Servers,
        capabilities: Capabilities,
        backend: str,
        fixed: Fixed = NOT_FIXED,
        observed: Observed | None = None,
        result: SectionPlan | None = None,
    ) -> None:
        self.servers, self.capabilities, self.backend = servers, capabilities, unquoted(backend)
        # None if the servers of this backend were not read.
        self.observed = observed if observed and self.backend in observed.rows else None
        self.rows = self.observed.rows[self.backend] if self.observed else None
        self.fixed, self.result = fixed, result or SectionPlan()
        self.live = live_of(servers.grammar.schemas, resources()["servers"].schema)
        self.health, self.agent, self.state = (self.live.roles[role] for role in (HEALTH, AGENT, STATE))

    def plan(self, befores: Sequence[EffectiveServer], afters: Sequence[EffectiveServer]) -> None:
        """Plan the change from the servers `befores` to the servers `afters`."""
        before, after = {server.name: server for server in befores}, {server.name: server for server in afters}
        if len(before) != len(befores) or len(after) != len(afters):
            self.result.because(0, "two servers have the same name")
            return
        if secret := next((name for name in (self.backend, *before, *after) if "$" in name), None):
            self.result.because(0, f"only HAProxy can resolve the name {secret}")
            return
        if self.fixed.everything and befores != afters:
            self.result.because(0, f"HAProxy accepts no runtime commands for its servers because of the setting {self.fixed.everything}")
            return
        remaining = [name for name in before if name in after]
        misplaced = next((server for server, name in zip(afters, remaining, strict=False) if server.name != name), None)
        if misplaced is not None:
            self.result.because(misplaced.place, "the order of the servers changed, and HAProxy adds new servers only after the others")
            return
        for name in remaining:
            self._plan_changed(before[name], after[name], is_claimed=self._is_claimed(name))
        for server in befores:
            if server.name not in after:
                self._plan_deleted(server)
        for server in afters:
            if server.name not in before:
                self._plan_added(server)

    def plan_templates(self, befores: Sequence[EffectiveServer], afters: Sequence[EffectiveServer]) -> None:
        """Plan the servers of templates, which only a reload can change. Both lists come from the same template lines."""
        for old, new in zip(befores, afters, strict=True):
            before, after = {**self.live.initially, **old.values}, {**self.live.initially, **new.values}
            changed = sorted(member for member in {**before, **after} if before.get(member) != after.get(member))
            if changed or old.opaque != new.opaque:
                what = ", ".join(changed) or "unknown words"
                self.result.because(
                    new.place, f"the servers of the template {new.name} inherit a change that only a reload applies: {what}"
                )
            elif self._is_claimed(new.name, is_template=True):
                try:
                    servers = servers_of_line(new)
                except (ValueError, BadValue, NotExpressible):
                    self.result.because(new.place, f"only HAProxy can resolve which servers the template {new.name} makes")
                    continue
                for server in servers:
                    self._plan_changed(server, server, is_claimed=True)

    def _plan_changed(self, old: EffectiveServer, new: EffectiveServer, *, is_claimed: bool) -> None:
        if old.opaque != new.opaque:
            self.result.because(new.place, f"server {new.name}: unknown words changed")
            return
        if self._is_missing(new.name) and (old.values != new.values or is_claimed):
            self.result.because(new.place, f"server {new.name}: the running process does not have this server")
            return
        in_worker = self.observed.differences(self.live, self.backend, old) if self.observed and is_claimed else {}
        is_down = in_worker.pop(OPERATIONAL, None) is not None
        before, after = {**self.live.initially, **old.values, **in_worker}, {**self.live.initially, **new.values}
        changed = [member for member in {**before, **after} if before.get(member) != after.get(member)]
        if changed and has_unreadable_value(self.live, new):
            self.result.because(new.place, f"server {new.name}: {', '.join(changed)} changed in a line with words that cannot be parsed")
            return
        if refused := [why for member in changed if (why := self._why_refused(new.name, member, after.get(member)))]:
            self.result.because(new.place, f"server {new.name}: {refused[0]}")
            return
        try:
            new_commands, left = self.live.commands(self.backend, new.name, before, after, changed)
        except (BadValue, NotExpressible):
            new_commands, left = [], changed
        new_commands += [commands.health(self.backend, new.name, UP)] * is_down
        if left:
            others = {f" together with {other}" for member in left if (other := self.live.obstacle(member, before, after))}
            what = ", ".join(left) + " cannot be changed in the running process" + "".join(sorted(others)[:1])
            self.result.because(new.place, f"server {new.name}: {what}")
        elif new_commands and not self.capabilities.can("set server"):
            self.result.because(new.place, f"server {new.name}: the socket does not permit changes")
        else:
            self.result.send(new.place, new_commands)

    def _is_claimed(self, name: str, *, is_template: bool = False) -> bool:
        """Return whether a server or a template is claimed, and HAProxy accepts commands for the servers of the backend."""
        claimed = self.observed.claimed if self.observed else frozenset()
        return Claim(self.backend, name, is_template) in claimed and not self.fixed.everything

    def _is_missing(self, name: str) -> bool:
        return self.rows is not None and name not in self.rows

    def _why_refused(self, name: str, member: str, value: object) -> str:
        """Return why HAProxy would refuse to set a member to this value at runtime; empty if it would accept the value."""
        row = self.rows.get(name) if self.rows else None
        if member == WEIGHT and self.fixed.weights and value not in (0, row.iweight if row else 0):
            return f"HAProxy computes {self.fixed.weights} from the weights of the servers when it loads the file"
        if member == self.health and value == "enabled" and row and not row.check_configured:
            return "HAProxy checks only servers that had checks when it loaded the file"
        if member == self.agent and value == "enabled" and row and not row.agent_configured:
            return "HAProxy queries only agents that were configured when it loaded the file"
        return ""

    def _plan_deleted(self, server: EffectiveServer) -> None:
        if not self.capabilities.can("del server"):
            self.result.because(0, f"server {server.name} was removed, and this HAProxy cannot delete servers in the running process")
            return
        if self._is_missing(server.name):
            return
        if self.live.is_resolved(server.values):
            self.result.because(0, f"server {server.name} was removed, and HAProxy cannot delete a server whose address it resolves by DNS")
            return
        state = "maint" if server.values.get(self.state) == "enabled" else "ready"
        self.result.send(0, commands.delete_server(self.backend, server.name, was=state))

    def _plan_added(self, server: EffectiveServer) -> None:
        try:
            options = self._options_for_adding(server)
        except _NotAddable as why:
            self.result.because(server.place, f"new server {server.name}: {why}")
            return
        words = [word for option in options for word in option]
        new_commands = commands.add_server(
            self.backend,
            server.name,
            words,
            check=server.values.get(self.health) == "enabled",
            agent_check=server.values.get(self.agent) == "enabled",
            ready=server.values.get(self.state) != "enabled",
            shown=self.live.expected_columns(server.values),
        )
        self.result.send(server.place, new_commands)

    def _options_for_adding(self, server: EffectiveServer) -> list[list[str]]:
        """Return the words of each option for `add server`. Raises _NotAddable if HAProxy cannot add the server while it runs."""
        if not self.capabilities.can("add server"):
            raise _NotAddable("this HAProxy cannot add servers in the running process")
        if self.fixed.additions:
            raise _NotAddable(f"with {self.fixed.additions}, HAProxy accepts servers only when it loads the file")
        if self.rows and server.name in self.rows:
            raise _NotAddable("the running process already has a server of this name")
        if server.values.get(self.state) == "enabled" == server.values.get(self.agent):
            raise _NotAddable("HAProxy queries the agent of a server that is added in maintenance")
        if server.opaque:
            raise _NotAddable(f"unknown words {' '.join(server.opaque)}")
        missing = {} if self.capabilities.added_servers_have_defaults else self.live.lacking
        implied = self.live.implications(server.values) if server.values.get(self.health) == "enabled" else {}
        values = {**missing, **server.values, **implied}
        # Omit the options that an added server has by default.
        omitted = [name for name, value in values.items() if name == self.state or _is_default(self.live, name, value)]
        try:
            texts = self.servers.words(replace(server, values=values), omitted)
            options = [[plain(word) for text in option for word in words_of(text)] for option in texts]
            self.live.require_readable(server.values)
        except NotExpressible as word:
            raise _NotAddable(f"only HAProxy can resolve {word}") from None
        except BadValue as error:
            raise _NotAddable(error.detail) from None
        if not all(word for option in options for word in option):
            raise _NotAddable("a runtime command cannot contain an empty word")
        if server.values.get(self.live.roles[PERSISTENCE]) is not None and not self.capabilities.added_servers_have_cookies:
            raise _NotAddable("before version 2.8, HAProxy cannot add a server with a cookie in the running process")
        if refused := [option[0] for option in options[1:] if not self.capabilities.takes_server_keyword(option[0])]:
            raise _NotAddable(f"HAProxy does not accept {', '.join(refused)} for a server added at runtime")
        return options


class _NotAddable(Exception):
    """Raised if HAProxy cannot add a server while it runs; the text is the reason."""


PLACE = ("name", "address", "port")
SEVERAL_WORDS = "source"
PERSISTENCE = "persistence"


def add_server_commands(backend: str, values: Mapping[str, Any], capabilities: Capabilities) -> list[Command]:
    """Return the commands that add a server in maintenance and start its checks, if they are enabled.

    `values`: the members of the server, in the order of the options. Only `source` may have several words, the first of them an address.
    Raises BadValue and NotExpressible.
    """
    servers = _servers()
    live = live_of(servers.grammar.schemas, resources()["servers"].schema)
    # As in the file, the address may contain the port.
    values = {**values, **servers.server.flatten_body({member: values[member] for member in PLACE if member in values})}
    name = plain(values["name"])
    live.require_readable({**values, **({SEVERAL_WORDS: str(source).split(" ")[0]} if (source := values.get(SEVERAL_WORDS)) else {})})
    path = f"{argument(backend)}/{argument(name)}"
    options = " ".join(map(argument, _words_of_options(servers, live, values, capabilities)))
    # Two spaces, because clients know the command in this form from error messages.
    made = [
        Command(
            f"{commands.ADD_SERVER} {path}  {options}",
            Shows(backend, name, tuple(live.expected_columns(values).items())),
            undo=f"del server {path}",
        )
    ]
    made += [commands.checks(backend, name, True)] if values.get(live.roles[HEALTH]) == "enabled" else []
    made += [commands.agent(backend, name, True)] if values.get(live.roles[AGENT]) == "enabled" else []
    return made


def server_line(values: Mapping[str, Any]) -> str:
    """Return the `server` line for the same values as `add_server_commands`, without the state. Raises BadValue and NotExpressible."""
    servers = _servers()
    live = live_of(servers.grammar.schemas, resources()["servers"].schema)
    # HAProxy reads single quotes as a shell does: it expands no variable between them.
    return shlex.join(["server", str(values["name"]), *_words_of_options(servers, live, values, Capabilities())])


@functools.cache
def _servers() -> Servers:
    # In a command, times are milliseconds without a unit.
    return Servers(Grammar(time_suffix="none"))


def _words_of_options(servers: Servers, live: Live, values: Mapping[str, Any], capabilities: Capabilities) -> list[str]:
    place = {name: values[name] for name in PLACE if name in values}
    wordless, words = servers.wordless_members(), _flat(_written(servers, place)[:1])
    for name, value in values.items():
        is_sent_state = name == live.roles[STATE] and capabilities.added_servers_take_enabled
        # HAProxy adds a server in maintenance, with checks disabled.
        if name in place or (_is_default(live, name, value) and not is_sent_state):
            continue
        if name == SEVERAL_WORDS:
            words += [name, *words_of(many_words(str(value)))]
        elif name in wordless:
            words += [name.replace("_", "-")]
        else:
            words += _flat(_written(servers, {**place, name: value})[1:])
    return [plain(word) for word in words]


def _written(servers: Servers, values: Mapping[str, Any]) -> list[list[str]]:
    return servers.words(EffectiveServer("", 0, values, ()))


def _flat(options: list[list[str]]) -> list[str]:
    return [word for option in options for text in option for word in words_of(text)]


def _is_default(live: Live, name: str, value: object) -> bool:
    return value == "disabled" and live.initially.get(name, "disabled") == "disabled"
