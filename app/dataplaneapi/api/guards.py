"""The guard that a write asks for: JSON in its query, or the name of one in the settings."""

import json
from dataclasses import replace

from dataplaneapi.api.call import Call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.settings.guards import EXAMPLE, read_guard
from haproxy_native.confirmations.guard import Guard

# What is nested deeper than Python reads is longer.
LONGEST = 2_000


def guard_of(call: Call) -> Guard | None:
    """Returns the guard that a call asks for, or None. Raises ApiError."""
    if "guard" not in call.values:
        if "auto_confirm" in call.values:
            raise _wrong("auto_confirm in query is of a guard: send guard with it")
        return None
    if "confirm" not in call.values:
        raise _wrong("guard in query watches a change that waits for its confirmation: send confirm with it")
    guard = replace(_guard(call, call.get("guard")), auto_confirm=call.get("auto_confirm", False))
    if guard.auto_confirm and guard.seconds > call.get("confirm"):
        raise _wrong(f"the guard confirms after {guard.seconds:g} s, and the change goes back before: shorten for, or confirm later")
    return guard


def _guard(call: Call, text: str) -> Guard:
    if len(text) > LONGEST:
        raise _wrong(f"guard in query has {len(text)} characters, and {LONGEST} at most")
    try:
        if not text.startswith("{"):
            return _named(call, text)
        return read_guard(json.loads(text))
    except json.JSONDecodeError as error:
        raise _wrong(f"guard in query is no JSON such as {EXAMPLE}: {error}") from None
    except ValueError as error:
        raise _wrong(f"guard in query: {error}") from None


def _named(call: Call, name: str) -> Guard:
    guards = {str(guard.get("name")): guard for guard in call.services.settings.guards}
    if name not in guards:
        known = f"known are {', '.join(sorted(guards))}" if guards else "there are none"
        raise ValueError(f"{name[:40]!r} is no guard of dataplaneapi.guards in the settings ({known}), and no JSON such as {EXAMPLE}")
    return read_guard({member: value for member, value in guards[name].items() if member != "name"})


def _wrong(text: str) -> ApiError:
    return ApiError(400, text)
