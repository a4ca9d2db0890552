"""Parse HAProxy's answers, and distinguish refusals from successes.

The protocol has no status: the answer to a change is a text, usually an empty one. So an answer is a refusal unless it is empty or one of a
few texts that mean success (`refusal`; measured on 2.6, 2.8, 3.0 and 3.2). The words of a refusal then determine whether it means missing,
taken, a conflict, or denied (`refusal_error`), because the HTTP status depends on that.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.errors import RuntimeConflict, RuntimeDenied, RuntimeExists, RuntimeMissing, RuntimeRefused

# The answer of a stopping worker to any change of a server (2.6 to 3.4), and of any worker if the file says `disabled` in the proxy.
PROXY_STOPPED = "Proxy is disabled."
# The start of the answer to a command that this HAProxy does not have; the list of all commands follows.
UNKNOWN = "Unknown command"
_VERSION = re.compile(r"(\d+)\.(\d+)")
_DONE = re.compile(
    r"Server deleted\.|Done\.|nothing changed"
    r"|server ssl setting updated\.|\S+ changed its FQDN from |no need to change the F[DQ]+N"
)
# An answer may begin with older messages, such as that a server went down.
_LAST_DONE = re.compile(r"Server deleted\.|New backend registered\b|Backend (?:un)?published\.|Backend deleted\.")
# HAProxy 2.8 warns of words that it ignores, and adds the server.
_ADDED = re.compile(r"^New server registered\.$", re.MULTILINE)
_MOVED = re.compile(r"IP changed from |port changed from |no need to change the (?:addr|port)")
# Words in the answer to `set server ... addr` if HAProxy made only a part of the change.
_HALF_DONE = re.compile(r"(?i)invalid|can't|cannot|problem|incompatible|not supported|only supported")


def refusal(answer: str) -> str | None:
    """Return HAProxy's message if HAProxy refused a change; None if it made the change."""
    text = answer.strip()
    if not text or _DONE.match(text) or _LAST_DONE.match(text.splitlines()[-1]) or _ADDED.search(text):
        return None
    if _MOVED.match(text) and not _HALF_DONE.search(text):
        return None
    return first_words(text)


def first_words(text: str) -> str:
    """Return the text of a refusal. If HAProxy does not know the command, omit the list of all commands that follows the first line."""
    return text.splitlines()[0] if text.startswith(UNKNOWN) else text.strip()


def version(text: str) -> tuple[int, int]:
    """Return (major, minor) of `2.6.12-1+deb12u4` or `3.4-dev6-1a2b3c`; (0, 0) without a version."""
    match = _VERSION.search(text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def info(text: str) -> dict[str, str]:
    """Parse `show info` to a mapping from HAProxy's names to values."""
    pairs = (line.partition(": ") for line in text.splitlines())
    return {name: value.strip() for name, sign, value in pairs if sign}


def command_words(text: str) -> frozenset[str]:
    """Return the commands that `help` lists, without their arguments: `add server`, `wait`."""
    heads = (re.split(r"\s+[<\[{(:@#]|\s{2,}", line.strip(), maxsplit=1)[0] for line in text.splitlines() if line.startswith("  "))
    return frozenset(head for head in heads if head)


@dataclass(frozen=True)
class ListedProcess:
    """A row of `show proc`."""

    pid: int
    kind: str
    # How many reloads the master has performed, or how many reloads a worker has survived.
    reloads: int
    failed: int
    version: str


@dataclass(frozen=True)
class Processes:
    master: ListedProcess | None
    # Empty after a failed reload since 3.1: the youngest of `old_workers` is still in service.
    workers: tuple[ListedProcess, ...]
    old_workers: tuple[ListedProcess, ...]

    @property
    def pids(self) -> frozenset[int]:
        return frozenset(process.pid for process in (*self.workers, *self.old_workers))


_PROCESS = re.compile(r"(?P<pid>\d+)\s+(?P<kind>master|worker)\s+(?:\[relative.*?\]\s+|\d+\s+(?=\d+\s))?(?P<rest>.*)")
_RELOADS = re.compile(r"(\d+)(?:\s+\[failed: (\d+)\])?")


def processes(text: str) -> Processes:
    """Parse `show proc`, without programs."""
    groups: dict[str, list[ListedProcess]] = {}
    group = ""
    for line in text.splitlines():
        if line.startswith("# "):
            group = line[2:].strip()
        elif (match := _PROCESS.match(line)) and (count := _RELOADS.match(match["rest"])):
            process = ListedProcess(int(match["pid"]), match["kind"], int(count[1]), int(count[2] or 0), match["rest"].split()[-1])
            groups.setdefault("master" if process.kind == "master" else group, []).append(process)
    master = groups.get("master", [])
    return Processes(master[0] if master else None, tuple(groups.get("workers", ())), tuple(groups.get("old workers", ())))


def table(text: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV answer whose first line is `# ` and the names of the columns (`show stat`)."""
    places, rows = cells(text)
    return (dict(zip(places, row, strict=False)) for row in rows)


def row_cells(line: str) -> list[str]:
    # HAProxy quotes a cell that contains a comma or a quote.
    return next(csv.reader([line])) if '"' in line else line.split(",")


def cells(text: str) -> tuple[Mapping[str, int], Iterator[list[str]]]:
    """Return each column's index, and the cells of each complete row."""
    rows = (row_cells(line) for line in text.split("\n") if line)
    names = [name.removeprefix("# ") for name in next(rows, [])]
    places = {name: place for place, name in enumerate(names) if name}
    return places, (row for row in rows if len(row) >= len(places))


# The API's names that do not follow from HAProxy's.
_INFO_NAMES = {
    "Nbproc": "processes",
    "Uptime_sec": "uptime",
    "Memmax_MB": "mem_max_mb",
    "Maxsock": "max_sock",
    "Maxconn": "max_conn",
    "Hard_maxconn": "hard_max_conn",
    "Maxpipes": "max_pipes",
    "SslFrontendSessionReuse_pct": "ssl_frontend_session_reuse",
    "Unstoppable Jobs": "unstoppable",
}
_INFO_TEXTS = {"version", "node"}
NO_DATE = "0001-01-01"
_WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z])|-")


def process_info(facts: Mapping[str, str], known: frozenset[str]) -> dict[str, Any]:
    """Return the values of `show info` with the API's names and types. Omits names that are not in `known`.

    `release_date` is always present.
    """
    info: dict[str, Any] = {"release_date": facts.get("Release_date", "").replace("/", "-") or NO_DATE}
    for name, value in facts.items():
        member = _INFO_NAMES.get(name) or _WORD_START.sub("_", name).lower()
        if member not in known or member == "release_date":
            continue
        if member in _INFO_TEXTS:
            info |= {member: value} if value else {}
        elif value.removeprefix("-").isdecimal():
            info[member] = int(value)
    return dict(sorted(info.items()))


# The whole answer to any command for which the socket's level is too low (cli_permission_denied_msg).
DENIED = "Permission denied"
# The answer to `show ssl cert`, `ca-file` and `crl-file` at level user (ssl_ckch.c).
DENIED_TO_USERS = "Can't allocate memory!"
# Classes of refusals, and the words that identify them, from the source of HAProxy 2.6 to 3.4 (cli_err, cli_dynerr and ha_alert in
# server.c, proxy.c, map.c, pattern.c, stick_table.c, stream.c, ssl_ckch.c, ssl_crtlist.c and cli.c). The first row that matches decides.
# If no row matches, the refusal is a plain RuntimeRefused: a value or a command that HAProxy does not accept.
KINDS: Sequence[tuple[type[RuntimeRefused], re.Pattern[str]]] = tuple(
    (kind, re.compile("|".join(words), re.IGNORECASE))
    for kind, words in (
        (RuntimeExists, (r"\balready (?:exists|used)\b",)),
        (
            RuntimeConflict,
            (
                # Another client's transaction, or version of a list.
                "currently locked",
                "ongoing transaction",
                "Version number",
                "Task already exists",
                # Something refers to the object, or is in it.
                "still has (?:connections|attached streams)|currently in use|Wait delay expired",
                "in use, can't be",
                "cannot be (?:removed|deleted)",
                "cannot (?:remove|delete) a ",
                "can't unset '' since",
                "must be unpublished",
                "Only (?:servers in maintenance|a backend without|TCP or HTTP proxies)",
                "Deletion of backend with",
                "shared with a map",
                # Its kind or its configuration rules it out.
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
# HAProxy quotes the caller's values, which say nothing about the class.
_QUOTED = re.compile(r"(?<!\w)'.*?'(?!\w)")
# What level operator permits in all versions; every other command that may be denied needs level admin.
_FOR_OPERATORS = re.compile(
    r"(?:set|clear) table\b|show (?:events|sess|env|errors|startup-logs|activity|fd|ssl (?:cert|ca-file|crl-file))\b|get var\b|reload\b"
)
_LONGEST = 80


def refusal_error(answer: str, command: str) -> RuntimeRefused:
    """Return the error for a refused command. The words of the answer determine its class (`KINDS`)."""
    words = _QUOTED.sub("''", answer)
    return next((kind for kind, known in KINDS if known.search(words)), RuntimeRefused)(answer, command)


def denial_error(address: str, level: str, command: str, *, of_master: bool = False) -> RuntimeDenied:
    """Return the error for a command that the level of a socket does not permit. `address`: the address of the socket."""
    needed = "operator" if level == "user" and _FOR_OPERATORS.match(command) else "admin"
    where = f'"-S {address},level,{needed}" of the start command' if of_master else f'"stats socket {address} level {needed}"'
    shown = command if len(command) <= _LONGEST else f"{command[:_LONGEST]}..."
    has = f"has level {level}" if level else "has a lower level"
    return RuntimeDenied(
        f"HAProxy denies [{shown}]: socket {address} {has}, and this needs level {needed}; give it that level with {where}"
    )
