"""Guards of changes as JSON or YAML has them."""

from collections.abc import Mapping
from typing import Any

from dataplaneapi.settings.quantities import seconds
from haproxy_native.confirmations.guard import Guard

EXAMPLE = '{"errors":2,"ready":true,"min_requests":50,"for":"60s"}'
_MEMBERS = {"errors": (int, float), "ready": (bool,), "min_requests": (int,), "for": (str, int, float)}


def read_guard(given: Mapping[str, Any]) -> Guard:
    """Raises ValueError, which names the member."""
    for name, value in given.items():
        if name not in _MEMBERS:
            raise ValueError(f"a guard has no member {name[:40]!r}; it has {', '.join(_MEMBERS)}")
        if not isinstance(value, _MEMBERS[name]) or (isinstance(value, bool) and name != "ready"):
            raise ValueError(f"{name} of a guard is not as in {EXAMPLE}")
    try:
        watched = seconds(str(given.get("for", 60)))
    except ValueError as error:
        raise ValueError(f"for of a guard is no duration: {error}") from None
    if given.get("errors") is None and not given.get("ready"):
        raise ValueError("a guard watches errors, ready or both")
    if not 0 <= given.get("errors", 0) <= 100 or given.get("min_requests", 1) < 1 or watched <= 0:
        raise ValueError("of a guard errors is from 0 to 100, min_requests and for are above 0")
    return Guard(given.get("errors"), given.get("ready", False), given.get("min_requests", 50), watched)
