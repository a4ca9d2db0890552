"""A confirmation as the API shows it."""

import time
from math import ceil
from typing import Any

from dataplaneapi.api.conventions import present, timestamp
from haproxy_native.features.confirmations.ledger import PENDING, Confirmation


def as_dict(one: Confirmation) -> dict[str, Any]:
    """Returns a confirmation without the entries of the history."""
    shown: dict[str, Any] = {
        "id": one.id,
        "status": one.status,
        "author": one.author,
        "created": timestamp(one.created),
        "timeout": one.seconds,
        "expires": None if one.deadline is None or one.is_over else timestamp(one.deadline),
        "seconds_left": ceil(max(0.0, one.deadline - time.time())) if one.status == PENDING and one.deadline else None,
        "ended": None if one.ended is None else timestamp(one.ended),
        "error": _error(one),
        "standing": [str(entry) for entry in one.standing] or None,
        "guard": one.guard and present(one.guard),
        "verdict": one.verdict and one.verdict | {"sections": (one.baseline or {}).get("sections", [])},
    }
    return present(shown)


def _error(one: Confirmation) -> str:
    """Returns the error with the calls that take back what is still in place."""
    calls = ", ".join(f"POST /v3/sidecar/history/{entry}/revert" for entry in one.standing)
    return f"{one.error}; {calls}" if calls else one.error
