"""Determine what the current worker can change at runtime.

The sources are the answers to `show info`, `help` and `show cli level`, and the help of `add server` and `add backend`. `help` lists every
command, even those that the socket's level does not permit, so the level is checked as well.
"""

import re
from dataclasses import dataclass

from haproxy_native import quirks

ADMIN = "admin"
UNKNOWN = (0, 0)


@dataclass(frozen=True)
class Capabilities:
    version: quirks.Version = UNKNOWN
    commands: frozenset[str] = frozenset()
    level: str = ""
    # Keywords of `add server`; None before 3.2, which does not list them. Trying one is harmless: a refused command creates no server.
    server_keywords: frozenset[str] | None = None
    # Keywords of `add backend` after the defaults section.
    backend_keywords: frozenset[str] = frozenset()

    def can(self, command: str) -> bool:
        """Return whether HAProxy has a command, such as "set server", and the socket's level permits changes."""
        return self.level == ADMIN and command in self.commands

    @property
    def adds_backends(self) -> bool:
        return self.can("add backend") and self.can("publish backend") and self.can("add server")

    @property
    def deletes_backends(self) -> bool:
        # `wait` reports beforehand whether HAProxy would refuse the deletion.
        return self.can("del backend") and self.can("unpublish backend") and self.can("wait") and self.can("del server")

    @property
    def sets_array_elements(self) -> bool:
        """Whether `set table` accepts any element of an array, such as `data.gpc[1]`."""
        return quirks.TABLE_ARRAYS.holds(self.version)

    @property
    def relays(self) -> bool:
        """Whether a master can relay a whole connection to its worker (`@@1`)."""
        return quirks.RELAYED_CONNECTIONS.holds(self.version)

    @property
    def may_report_events(self) -> bool:
        """False only if the worker is known to have no ring of events (`show events dpapi`)."""
        return self.version == UNKNOWN or quirks.WORKER_EVENTS.holds(self.version)

    @property
    def takes_challenge_ready(self) -> bool:
        return quirks.CHALLENGES_READY.holds(self.version)

    @property
    def added_servers_have_defaults(self) -> bool:
        return quirks.ADDED_SERVERS_HAVE_DEFAULTS.holds(self.version)

    @property
    def added_servers_take_enabled(self) -> bool:
        return not quirks.ADDED_SERVERS_REFUSE_ENABLED.holds(self.version)

    @property
    def added_servers_have_cookies(self) -> bool:
        return quirks.ADDED_SERVERS_HAVE_COOKIES.holds(self.version)

    def takes_server_keyword(self, keyword: str) -> bool:
        """Return False only if HAProxy would certainly refuse the keyword on an added server."""
        return self.server_keywords is None or keyword in self.server_keywords


def server_keywords(answer: str) -> frozenset[str] | None:
    """Parse an answer to `add server help`. Returns None before 3.2, which reads `help` as the name of a server."""
    head, _, rest = answer.partition("\n")
    return frozenset(rest.split()) if head.startswith("List of keywords") else None


def backend_keywords(answer: str) -> frozenset[str]:
    """Parse the optional keywords from the usage message of `add backend`."""
    return frozenset(re.findall(r"\[(\w+) ", answer)) if answer.startswith("Usage: add backend") else frozenset()
