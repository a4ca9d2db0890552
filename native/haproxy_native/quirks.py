"""What older versions of HAProxy cannot do, and what is done instead: the table of docs/haproxy-versions.md, told by `dataplaneapi doctor`.

Nothing is decided here: what a worker can is asked of the worker itself (native/haproxy_native/runtime/capabilities.py).
"""

from dataclasses import dataclass

Version = tuple[int, int]
OLDEST: Version = (2, 6)


@dataclass(frozen=True)
class Lack:
    """What HAProxy can since a version. `command`: one of the Runtime API that earlier ones do not have; empty where none tells."""

    since: Version
    what: str
    instead: str
    command: str = ""


LACKS = (
    Lack(
        (2, 7),
        "The master's socket tells how a reload went",
        "A new worker is looked for, which counts in any version; why HAProxy refused stands in its own log alone",
    ),
    Lack(
        (2, 7),
        "A CA file in the running process takes further certificates",
        "Adding to one is refused, with HAProxy's words; replacing the whole file works",
        "add ssl ca-file",
    ),
    Lack(
        (3, 0),
        "HAProxy waits by itself until a server can be removed",
        "The removal is tried again for two seconds, then the reload takes over",
        "wait",
    ),
    Lack(
        (3, 2),
        "HAProxy tells which keywords a server may have that is added live",
        "The server is added and HAProxy's refusal read; what it does not take needs a reload",
    ),
    Lack(
        (3, 2),
        "Certificates are ordered over ACME, and the worker tells of new ones",
        "The operations are refused, with HAProxy's words",
        "acme status",
    ),
    Lack(
        (3, 4),
        "Backends come and go in the running process",
        "A new backend, and one that is deleted, takes a reload",
        "add backend",
    ),
)


def lacking(version: Version) -> list[Lack]:
    """What that version cannot do."""
    return [lack for lack in LACKS if version < lack.since]
