"""`show info` with the names and types of the API (HAProxy Management Guide, section 9.3)."""

import re
from collections.abc import Mapping
from typing import Any

# HAProxy's names where the API's do not follow from them.
NAMES = {
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
TEXTS = {"version", "node"}
NO_DATE = "0001-01-01"
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|-")


def process_info(facts: Mapping[str, str], known: frozenset[str]) -> dict[str, Any]:
    """The members in `known` that this version tells; `release_date` always."""
    info: dict[str, Any] = {"release_date": facts.get("Release_date", "").replace("/", "-") or NO_DATE}
    for name, value in facts.items():
        member = NAMES.get(name) or _WORDS.sub("_", name).lower()
        if member not in known or member == "release_date":
            continue
        if member in TEXTS:
            info |= {member: value} if value else {}
        elif (number := _number(value)) is not None:
            info[member] = number
    return dict(sorted(info.items()))


def _number(text: str) -> int | None:
    return int(text) if text.removeprefix("-").isdecimal() else None
