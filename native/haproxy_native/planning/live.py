"""Translate a changed member into the Runtime API command that its schema declares, and into the state that proves its success.

The declarations are in openapi/schemas: `at_runtime` is the template of the command, `shows` names the columns of `show servers state` that
must have the new value afterwards. A change that no declared command can express needs a reload.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from haproxy_native.errors import BadValue
from haproxy_native.grammar.schema import Schema, Schemas
from haproxy_native.grammar.values import UNIX_SOCKETS
from haproxy_native.runtime.argument import argument, ip_literal, number
from haproxy_native.runtime.commands import Command
from haproxy_native.runtime.verification import Limit, Shows
from haproxy_native.text.words import unquoted

Values = Mapping[str, Any]
_PLACE = re.compile(r"<([^<>:]+)(?::(ip|bracketed|\d+\.\.\d+))?>")
LIMIT, ADDRESS = "limit", "address"
IP, BRACKETED = "ip", "bracketed"
_SWITCH = ("enabled", "disabled")
# HAProxy's output for an address that is not set, or is a Unix socket.
NOTHING = "-"


class NotExpressible(Exception):
    """Raised if no runtime command can express a value of the file, such as a variable."""


class Live:
    """The members of one schema that can change in the running process."""

    def __init__(self, schemas: Schemas, properties: Mapping[str, Schema]) -> None:
        notes = {name: schemas.note(schema) for name, schema in properties.items()}
        self.notes = {name: note for name, note in notes.items() if "at_runtime" in note}
        self.unchecked = {name for name, note in notes.items() if note.get("needs_check") is False}
        self.initially = {name: note["initially"] for name, note in notes.items() if "initially" in note}
        self.health = {name for name, note in notes.items() if "decides_health" in note}
        self.by_agent = {name for name, note in notes.items() if "by_agent" in note}
        self.only_with = {name: note["only_with"] for name, note in notes.items() if "only_with" in note}
        self.words = {
            word for name, note in notes.items() if "shows" in note for word in (note.get("keyword", name), note.get("when_enabled"))
        }
        self.resolving = {name for name, note in notes.items() if "resolves" in note}
        self.unset = {name: note["unset"] for name, note in notes.items() if "unset" in note}
        # A column that is declared for only one of the values enabled and disabled can prove a command, but cannot distinguish the values.
        self.compared = [
            (name, column, declared)
            for name, note in notes.items()
            for column, declared in note.get("shows", {}).items()
            if not (isinstance(declared, Mapping) and len(declared) < len(_SWITCH))
        ]
        self.lacking = {name: note["added_lacks"] for name, note in notes.items() if "added_lacks" in note}
        self.implied = {name: note["added_with"] for name, note in notes.items() if "added_with" in note}
        self.roles = {note["added"]: name for name, note in notes.items() if "added" in note}
        # The kind of each placeholder in the templates, such as `ip` or a range.
        self.kinds: dict[str, str] = {}
        for note in self.notes.values():
            declared = note["at_runtime"]
            for templates in declared.values() if isinstance(declared, Mapping) else [declared]:
                text = templates if isinstance(templates, str) else "".join(templates)
                self.kinds |= {name: kind for name, kind in _PLACE.findall(text) if kind}
        self.kinds |= {name: note["added_as"] for name, note in notes.items() if "added_as" in note}

    def commands(self, parent: str, name: str, old: Values, new: Values, changed: Sequence[str]) -> tuple[list[Command], list[str]]:
        """Return (commands for the changed members of an object, members that no command can change).

        `parent`, `name`: the names in the command, such as those of the backend and the server. `old` and `new` include the initial values.
        """
        commands_by_text: dict[str, Command] = {}
        left = []
        # Enable first and disable last: HAProxy accepts an agent's settings only while the agent is enabled.
        order = {"enabled": 0, "disabled": 2}
        for member in sorted(changed, key=lambda member: order.get(str(new.get(member)), 1)):
            member_commands = self._member_commands(parent, name, member, old, new)
            if member_commands is None:
                left.append(member)
            else:
                commands_by_text.update({command.text: command for command in member_commands})
        return list(commands_by_text.values()), left

    def obstacle(self, member: str, old: Values, new: Values) -> str | None:
        """Return a member that makes a reload necessary if `member` changes; None if there is none.

        Such a member is declared in `reload_with`, and set in `old` or `new`. With it, the command for `member` would have another effect
        than a reload.
        """
        others: Mapping[str, Sequence[str]] = self.notes.get(member, {}).get("reload_with", {})
        for other, unless in others.items():
            if any(self._is_set(other, side) and not any(self._is_set(member, side) for member in unless) for side in (old, new)):
                return other
        return None

    def require_readable(self, values: Values) -> None:
        """Check the values of a new server. Raises BadValue if HAProxy may read a value differently in a command and in a file."""
        for member, kind in self.kinds.items():
            value = values.get(member)
            if value is not None and not (member == ADDRESS and is_unix_socket(plain(value))):
                _checked_word(member, kind, plain(value))

    def expected_columns(self, values: Values) -> Values:
        """Return the values that `show servers state` must have for an added server, by column."""
        values = {**self.initially, **values}
        columns: dict[str, object] = {}
        for member, note in self.notes.items():
            for column, declared in note.get("shows", {}).items():
                if column != LIMIT and isinstance(declared, str) and member in values and not self.obstacle(member, values, values):
                    columns[column] = _expected(declared, member, values)
        return columns

    def is_resolved(self, values: Values) -> bool:
        """Return whether HAProxy resolves the server's address by DNS."""
        return not self.resolving.isdisjoint(values)

    def _is_set(self, member: str, values: Values) -> bool:
        return member in values and values[member] != self.initially.get(member, "disabled")

    def implications(self, values: Values) -> Values:
        """Return the members that `add server` must state although a `server` line implies them (`added_with`)."""
        return {
            member: "enabled"
            for member, note in self.implied.items()
            if member not in values
            and any(values.get(member) == "enabled" for member in note["any"])
            and not values.keys() & set(note["unless"])
        }

    def _member_commands(self, parent: str, name: str, member: str, old: Values, new: Values) -> list[Command] | None:
        """Return the commands for one member, from the first template that can be filled; None if no template can."""
        note = self.notes.get(member)
        if note is None or member not in new or self.obstacle(member, old, new):
            return None
        if (other := note.get("only_with")) and "enabled" not in (old.get(other), new.get(other)):
            return None
        declared = note["at_runtime"]
        if isinstance(declared, Mapping):
            declared_for_value = declared.get(new[member], ())
            ways = [[declared_for_value] if isinstance(declared_for_value, str) else list(declared_for_value)] if declared_for_value else []
        else:
            ways = [[template] for template in declared]
        for templates in ways:
            try:
                return [self._command(parent, name, member, template, old, new) for template in templates]
            except (NotExpressible, BadValue):
                continue
        return None

    def _command(self, parent: str, name: str, member: str, template: str, old: Values, new: Values) -> Command:
        text = _fill_template(template, {"parent": parent, "name": name}, old, new)
        # The values that the columns of `show servers state` must have afterwards.
        expected: dict[str, object] = {}
        for changed in dict.fromkeys([member, *(place for place, _ in _PLACE.findall(template) if place in new)]):
            for column, value in self.notes.get(changed, {}).get("shows", {}).items():
                if (shown := _expected(value, changed, new)) is not None:
                    expected[column] = shown
        # After a member is enabled again, the columns in `restored` must have their former values.
        restored = self.notes[member].get("restored", {}) if new.get(member) == "enabled" else {}
        for column, sources in restored.items():
            given = [new[source] for source in sources if source in new] or [source for source in sources if source == NOTHING]
            if len(given) != 1:
                # If several sources are set, the order of the words in the file decides between them.
                raise NotExpressible(column)
            expected[column] = _as_shown(given[0])
        if LIMIT in expected:
            return Command(text, Limit(parent or name, name if parent else "", int(str(expected[LIMIT]))))
        return Command(text, Shows(parent, name, tuple(expected.items())) if expected else None)


@functools.cache
def live_of(schemas: Schemas, name: str) -> Live:
    """Return the members of a schema that can change in the running process."""
    return Live(schemas, schemas.properties(schemas.named(name)))


def _fill_template(template: str, names: Mapping[str, str], old: Values, new: Values) -> str:
    def fill(match: re.Match[str]) -> str:
        member, kind = match.groups()
        if member in names:
            return argument(unquoted(names[member]))
        if member not in new:
            raise NotExpressible(member)
        if kind in (IP, BRACKETED) and member in old and ip_of(plain(old[member])) is None:
            # HAProxy does not replace a host name by an address.
            raise NotExpressible(member)
        return argument(_checked_word(member, kind, plain(new[member])))

    return _PLACE.sub(fill, template)


def _checked_word(member: str, kind: str | None, word: str) -> str | int:
    """Return the word that replaces a placeholder of a command.

    `kind`: `ip`, `bracketed`, or a range such as `0..256`. Raises BadValue if the word is not of this kind.
    """
    if kind is None:
        return word
    if kind in (IP, BRACKETED):
        return str(ip_literal(member, word, bracketed=kind == BRACKETED))
    least, _, most = kind.partition("..")
    return number(member, word, int(least), int(most))


def plain(value: Any) -> str:
    """Return a value without quotes and escapes. Raises NotExpressible if it has a variable."""
    text = str(value)
    if "$" in text:
        raise NotExpressible(text)
    return unquoted(text)


def _expected(declared: Any, member: str, new: Values) -> object | None:
    """Return the value that a column must have, from its declaration in `shows`; None if no value is declared."""
    if isinstance(declared, Mapping):
        expected: object | None = declared.get(new[member])
        return expected
    place = _PLACE.fullmatch(str(declared))
    return str(declared) if place is None else _as_shown(new[place[1]])


def _as_shown(value: Any) -> object:
    """Return a value in the form in which verification compares it: a number, an address or a text."""
    if isinstance(value, int):
        return value
    text = plain(value)
    return NOTHING if is_unix_socket(text) else ip_of(text) or text


def is_unix_socket(text: str) -> bool:
    """Return whether an address without quotes is the path or the abstract name of a Unix socket."""
    return text.startswith(UNIX_SOCKETS)


def ip_of(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an IP address. Return None if the word is not an IP address."""
    with suppress(BadValue):
        return ip_literal("", text)
    return None
