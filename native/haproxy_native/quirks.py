"""The differences between versions of HAProxy, and how this server handles them, as in docs/haproxy-versions.md.

`LACKS` are functions that older versions do not have; `dataplaneapi doctor` prints them. No other module compares versions: it uses
`Capabilities`, which combines these facts with what the worker reports itself.
"""

from dataclasses import dataclass

Version = tuple[int, int]
OLDEST: Version = (2, 6)


@dataclass(frozen=True)
class Fact:
    """What HAProxy does from version `since` on."""

    since: Version
    what: str
    # What is done in earlier versions, or about it in all.
    instead: str
    # A command of the Runtime API that earlier versions do not have; empty if there is none.
    command: str = ""

    def holds(self, version: Version) -> bool:
        return version >= self.since


TABLE_ARRAYS = Fact(
    (3, 2),
    "Every element of the arrays of a stick table (`gpc`, `gpt`) is set over the Runtime API",
    "The first is; any other is refused, with HAProxy's words and the version that takes it",
)
LACKS = (
    Fact(
        (2, 7),
        "The master's socket tells how a reload went",
        "A new worker is looked for, which counts in any version; why HAProxy refused stands in its own log alone",
    ),
    Fact(
        (2, 7),
        "A CA file in the running process takes further certificates",
        "Adding to one is refused, with HAProxy's words; replacing the whole file works",
        "add ssl ca-file",
    ),
    Fact(
        (3, 0),
        "HAProxy waits by itself until a server can be removed",
        "The removal is tried again for two seconds, then the reload takes over",
        "wait",
    ),
    Fact(
        (3, 2),
        "HAProxy tells which keywords a server may have that is added live",
        "The server is added and HAProxy's refusal read; what it does not take needs a reload",
    ),
    Fact(
        (3, 2),
        "Certificates are ordered over ACME, and the worker tells of new ones",
        "The operations are refused, with HAProxy's words",
        "acme status",
    ),
    TABLE_ARRAYS,
    Fact(
        (3, 4),
        "Backends come and go in the running process",
        "A new backend, and one that is deleted, takes a reload",
        "add backend",
    ),
)

DYNAMIC_SERVERS = Fact(
    (2, 6),
    "Servers are added and deleted without `experimental-mode`, and with their checks",
    "Not supported; such a change takes a reload",
)
ADDED_SERVERS_HAVE_DEFAULTS = Fact(
    (2, 8),
    "A server that is added live has the defaults of a server line",
    "The words that it lacks are sent with it",
)
ADDED_SERVERS_REFUSE_ENABLED = Fact(
    (3, 0),
    "`enabled` is refused on a server that is added live",
    "It is sent up to 2.9, where 2.8 adds the server with a warning; it is left out since",
)
RELAYED_CONNECTIONS = Fact(
    (3, 2),
    "A master hands a whole connection over to its worker (`@@1`)",
    "The master opens a connection for every command (`@1`); for many commands the worker's own socket is preferred",
)
WORKER_EVENTS = Fact(
    (3, 2),
    "A worker has a ring of events, `dpapi`",
    "None are read",
)
CHALLENGES_READY = Fact(
    (3, 3),
    "An ACME challenge in the DNS is confirmed by `acme challenge_ready`",
    "Nothing is sent",
)


def lacking(version: Version) -> list[Fact]:
    """Return the facts that do not hold in a version."""
    return [fact for fact in LACKS if not fact.holds(version)]


def is_supported(version: Version) -> bool:
    return version >= OLDEST
