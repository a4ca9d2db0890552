"""Classifies what HAProxy says instead of carrying out a command, by its own words.

A row of `KINDS` is a class of refusals and the words by which it is known, from the source of HAProxy 2.6 to 3.4 (cli_err, cli_dynerr and
ha_alert in server.c, proxy.c, map.c, pattern.c, stick_table.c, stream.c, ssl_ckch.c, ssl_crtlist.c and cli.c); the first row that fits
decides. What no row knows is a plain RuntimeRefused: a value or a command that HAProxy does not accept.
"""

import re
from collections.abc import Sequence

from haproxy_native.errors import RuntimeConflict, RuntimeDenied, RuntimeMissing, RuntimeRefused, RuntimeTaken

# The whole answer, whatever the command, if the socket's level is too low (cli_permission_denied_msg).
DENIED = "Permission denied"
# What `show ssl cert`, `ca-file` and `crl-file` say instead of it to level user (ssl_ckch.c).
DENIED_TO_USERS = "Can't allocate memory!"
KINDS: Sequence[tuple[type[RuntimeRefused], re.Pattern[str]]] = tuple(
    (kind, re.compile("|".join(words), re.IGNORECASE))
    for kind, words in (
        (RuntimeTaken, (r"\balready (?:exists|used)\b",)),
        (
            RuntimeConflict,
            (
                # Another client's transaction, or version of a list.
                "currently locked",
                "ongoing transaction",
                "Version number",
                "Task already exists",
                # What refers to the object, or is in it.
                "still has (?:connections|attached streams)|currently in use|Wait delay expired",
                "in use, can't be",
                "cannot be (?:removed|deleted)",
                "cannot (?:remove|delete) a ",
                "can't unset '' since",
                "must be unpublished",
                "Only (?:servers in maintenance|a backend without|TCP or HTTP proxies)",
                "Deletion of backend with",
                "shared with a map",
                # What its kind or its configuration rules out.
                "cannot change health on a tracking server",
                "checks are not enabled",
                "was not configured on this server",
                "Proxy is disabled|disabled backend",
                "static LB algorithm|dynamic load balancing|support dynamic servers|Dynamic servers cannot",
                "supported through configuration file",
                "not supported on dynamic servers|'' cannot be set|ssl setting not supported",
                "because (?:no|SRV) resolution is configured",
                "incompatible parameters|Incompatibilities found",
                "certificate '' is empty",
                "shut down, cannot|Failed to (?:pause|resume) frontend",
                "restricted to (?:expert|experimental) mode",
                # The process itself.
                "no id left",
                r"\bmemory\b|Unable to allocate",
            ),
        ),
        (
            RuntimeMissing,
            (
                r"\bNo such\b",
                r"(?:does not|doesn't) exist",
                r"not found|can't be found|didn't find|unable to locate|No entry can be found",
                r"(?:can't|couldn't|cannot) find",
                "not referenced by the configuration",
                "(?:Unknown|Malformed) (?:map |ACL )?identifier",
                "No ACME configuration",
                r"wrong (?:CA|CRL) index|wrong line number|the line number is incorrect|in several entries",
            ),
        ),
    )
)
# A value of the caller's, which HAProxy quotes, says nothing about the class.
_QUOTED = re.compile(r"(?<!\w)'.*?'(?!\w)")
# What level operator permits, in all versions; every other command that is denied needs level admin.
_FOR_OPERATORS = re.compile(
    r"(?:set|clear) table\b|show (?:events|sess|env|errors|startup-logs|activity|fd|ssl (?:cert|ca-file|crl-file))\b|get var\b|reload\b"
)
_LONGEST = 80


def refused(answer: str, command: str) -> RuntimeRefused:
    """Return a refusal as its class: HAProxy's words, and the command."""
    words = _QUOTED.sub("''", answer)
    return next((kind for kind, known in KINDS if known.search(words)), RuntimeRefused)(answer, command)


def denied(place: str, level: str, command: str, *, of_master: bool = False) -> RuntimeDenied:
    """Return the error for a command that the level of the socket at `place` does not permit."""
    needed = "operator" if level == "user" and _FOR_OPERATORS.match(command) else "admin"
    where = f'"-S {place},level,{needed}" of the start command' if of_master else f'"stats socket {place} level {needed}"'
    shown = command if len(command) <= _LONGEST else f"{command[:_LONGEST]}..."
    has = f"has level {level}" if level else "has a lower level"
    return RuntimeDenied(f"HAProxy denies [{shown}]: socket {place} {has}, and this needs level {needed}; give it that level with {where}")
