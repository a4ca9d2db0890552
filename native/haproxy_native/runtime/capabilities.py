"""What the worker in service can change live, as it says itself: `show info`, `help`, `show cli level`, and what `add server` and
`add backend` say of their words.

`help` lists every command whatever the socket's level; a socket that may only look can change nothing all the same.
"""

import re
from dataclasses import dataclass

# Before, adding and deleting servers is behind experimental-mode and loses checks.
DYNAMIC_SERVERS = (2, 6)
RELAYS = (3, 2)
ADMIN = "admin"


@dataclass(frozen=True)
class Capabilities:
    """`server_keywords`: what `add server` takes; None where HAProxy cannot say and has to be tried (it creates nothing it refuses).
    `backend_keywords`: what `add backend` takes behind the defaults section.
    """

    version: tuple[int, int] = (0, 0)
    commands: frozenset[str] = frozenset()
    level: str = ""
    server_keywords: frozenset[str] | None = None
    backend_keywords: frozenset[str] = frozenset()

    def can(self, command: str) -> bool:
        """`can("set server")`: whether there is such a command, and the socket may change anything."""
        return self.level == ADMIN and command in self.commands

    @property
    def sets_servers(self) -> bool:
        return self.can("set server")

    @property
    def adds_servers(self) -> bool:
        return self.version >= DYNAMIC_SERVERS and self.can("add server")

    @property
    def deletes_servers(self) -> bool:
        return self.version >= DYNAMIC_SERVERS and self.can("del server")

    @property
    def adds_backends(self) -> bool:
        return self.can("add backend") and self.can("publish backend") and self.adds_servers

    @property
    def deletes_backends(self) -> bool:
        """HAProxy also has to say beforehand whether it would."""
        return self.can("del backend") and self.can("unpublish backend") and self.can("wait") and self.deletes_servers

    @property
    def relays(self) -> bool:
        """Whether a master can hand a whole connection over to its worker (`@@1`)."""
        return self.version >= RELAYS

    def takes_server_keyword(self, keyword: str) -> bool:
        """False only where HAProxy would certainly refuse it on an added server."""
        return self.server_keywords is None or keyword in self.server_keywords


def server_keywords(answer: str) -> frozenset[str] | None:
    """The keywords of an answer to `add server help`; None before 3.2, which takes `help` for a server's name."""
    head, _, rest = answer.partition("\n")
    return frozenset(rest.split()) if head.startswith("List of keywords") else None


def backend_keywords(answer: str) -> frozenset[str]:
    """The optional keywords of the usage of `add backend`."""
    return frozenset(re.findall(r"\[(\w+) ", answer)) if answer.startswith("Usage: add backend") else frozenset()
