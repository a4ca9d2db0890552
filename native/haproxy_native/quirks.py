"""The differences between versions of HAProxy, and how this server handles them (docs/haproxy-versions.md).

`LACKS` lists the functions that older versions do not have; `dataplaneapi doctor` prints them. Other modules do not compare versions. They
use `Capabilities`, which combines these facts with what the worker itself reports.
"""

from dataclasses import dataclass

Version = tuple[int, int]
OLDEST: Version = (2, 6)


@dataclass(frozen=True)
class Fact:
    """A behavior of HAProxy since a version, and how this server handles it."""

    since: Version
    # What HAProxy does since then.
    what: str
    # What this server does with earlier versions, or with all.
    instead: str
    # A command of the Runtime API that earlier versions do not have; empty if there is none.
    command: str = ""

    def holds(self, version: Version) -> bool:
        return version >= self.since


TABLE_ARRAYS = Fact(
    (3, 2),
    "All elements of stick table arrays (`gpc`, `gpt`) can be set at runtime",
    "Only the first can be set. For others, the call is refused with HAProxy's message and the required version",
)
LACKS = (
    Fact(
        (2, 7),
        "The master's socket reports the outcome of a reload",
        "The sidecar detects the outcome by the new worker, as in every version. HAProxy's reason for a refusal is only in HAProxy's log",
    ),
    Fact(
        (2, 7),
        "Certificates can be added to a CA file in the running process",
        "Adding is refused with HAProxy's message. You can replace the whole file",
        "add ssl ca-file",
    ),
    Fact(
        (3, 0),
        "HAProxy can wait until a server is removable",
        "The sidecar tries to remove it for two seconds, then reloads HAProxy",
        "wait",
    ),
    Fact(
        (3, 2),
        "HAProxy lists the keywords that are allowed for a server added at runtime",
        "The sidecar tries to add the server. If HAProxy refuses, the sidecar reloads HAProxy",
    ),
    Fact(
        (3, 2),
        "HAProxy obtains certificates over ACME, and the worker reports new ones",
        "The operations are refused with HAProxy's message",
        "acme status",
    ),
    TABLE_ARRAYS,
    Fact(
        (3, 4),
        "Backends can be added and deleted at runtime",
        "Adding or deleting a backend needs a reload",
        "add backend",
    ),
)

ADDED_SERVERS_HAVE_DEFAULTS = Fact(
    (2, 8),
    "A server added at runtime gets the defaults of a server line",
    "The sidecar sends the missing keywords with it",
)
ADDED_SERVERS_REFUSE_ENABLED = Fact(
    (3, 0),
    "`enabled` is refused for a server added at runtime",
    "The sidecar sends it up to 2.9 (2.8 adds the server with a warning), and leaves it out since",
)
ADDED_SERVERS_HAVE_COOKIES = Fact(
    (2, 8),
    "A server added at runtime may have a `cookie`",
    "Adding such a server needs a reload",
)
RELAYED_CONNECTIONS = Fact(
    (3, 2),
    "The master can pass a whole connection to its worker (`@@1`)",
    "The master opens a connection for each command (`@1`). For many commands, the sidecar uses the worker's own socket",
)
WORKER_EVENTS = Fact(
    (3, 2),
    "A worker has an event ring, `dpapi`",
    "The sidecar reads no events",
)
CHALLENGES_READY = Fact(
    (3, 3),
    "`acme challenge_ready` confirms DNS challenges of ACME",
    "The sidecar sends nothing",
)


def lacks_of(version: Version) -> list[Fact]:
    """Return the facts of `LACKS` that do not hold in a version."""
    return [fact for fact in LACKS if not fact.holds(version)]


def is_supported(version: Version) -> bool:
    return version >= OLDEST
