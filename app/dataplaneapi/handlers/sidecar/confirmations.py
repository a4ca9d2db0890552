"""Changes that are taken back unless they are confirmed."""

import time
from contextlib import suppress
from math import ceil
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conventions import duration, page, present, timestamp
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.api.write_options import LONGEST, SHORTEST
from haproxy_native.confirmations.ledger import PENDING, Confirmation
from haproxy_native.errors import NoConfirmation, Unusable

# Taking back may take as long as a reload.
ANSWER_SECONDS = 60.0


async def read_list(call: ReadCall) -> Response:
    return page(call, [await _shown(call, confirmation) for confirmation in call.services.confirmations.all()])


async def read(call: ReadCall) -> Response:
    return json_response(200, await _shown(call, call.services.confirmations.get(call.get("id"))))


async def confirm(call: JsonCall) -> Response:
    return json_response(200, await _shown(call, await call.services.confirmations.confirm(call.get("id"), call.author)))


async def extend(call: JsonCall) -> Response:
    seconds = duration("timeout", call.body["timeout"])
    if not SHORTEST <= seconds <= LONGEST:
        raise ApiError(422, f"timeout in body is from {SHORTEST:g} s to 24h")
    return json_response(200, await _shown(call, await call.services.confirmations.extend(call.get("id"), seconds, call.author)))


async def take_back(call: JsonCall) -> Response:
    call.exchange.answer_within(ANSWER_SECONDS)
    return json_response(200, await _shown(call, await call.services.confirmations.take_back(call.get("id"), call.author)))


async def _shown(call: Call, one: Confirmation) -> dict[str, Any]:
    """Return a confirmation as it is when its entries have been read; without entries if the history cannot be read."""
    confirmations, entries = call.services.confirmations, dict[str, Any]()
    with suppress(Unusable):
        entries["entries"] = [str(entry) for entry in await confirmations.entries(one.id)]
    with suppress(NoConfirmation):
        one = confirmations.get(one.id)
    return as_dict(one) | entries


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


async def _check(call: Call) -> None:
    call.services.confirmations.check_pending(call.get("id"), call.author)


CHECKS = dict.fromkeys(("confirm", "extend", "take_back"), _check)
