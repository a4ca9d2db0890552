"""The operations on confirmations."""

from contextlib import suppress
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conventions import duration, page
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, json_response
from dataplaneapi.features.confirmations.feature import LONGEST, SHORTEST, ConfirmationsFeature, as_dict
from haproxy_native.errors import NoConfirmation, Unusable
from haproxy_native.features.confirmations.confirmations import Confirmations
from haproxy_native.features.confirmations.ledger import Confirmation

# How long a rollback may take, in seconds: it may reload HAProxy.
ANSWER_SECONDS = 60.0


async def read_list(call: ReadCall) -> Response:
    return page(call, [await _shown(call, confirmation) for confirmation in _confirmations(call).all()])


async def read(call: ReadCall) -> Response:
    return json_response(200, await _shown(call, _confirmations(call).get(call.path.id)))


async def confirm(call: JsonCall) -> Response:
    return json_response(200, await _shown(call, await _confirmations(call).confirm(call.path.id, call.author)))


async def extend(call: JsonCall) -> Response:
    seconds = duration("timeout", call.body["timeout"])
    if not SHORTEST <= seconds <= LONGEST:
        raise ApiError(422, f"timeout in body must be from {SHORTEST:g} s to 24h")
    return json_response(200, await _shown(call, await _confirmations(call).extend(call.path.id, seconds, call.author)))


async def roll_back(call: JsonCall) -> Response:
    call.exchange.answer_within(ANSWER_SECONDS)
    return json_response(200, await _shown(call, await _confirmations(call).roll_back(call.path.id, call.author)))


async def _shown(call: Call, one: Confirmation) -> dict[str, Any]:
    """Return a confirmation as JSON, with its history entries if the history can be read."""
    confirmations, entries = _confirmations(call), dict[str, Any]()
    with suppress(Unusable):
        entries["entries"] = [str(entry) for entry in await confirmations.entries(one.id)]
    with suppress(NoConfirmation):
        # The state may have changed while the entries were read.
        one = confirmations.get(one.id)
    return as_dict(one) | entries


async def check_pending(call: Call) -> None:
    """Raise the error with which the server would refuse to confirm a change, to extend its deadline, or to roll it back."""
    _confirmations(call).check_pending(call.path.id, call.author)


CHECKS = dict.fromkeys(("confirm", "extend", "roll_back"), check_pending)


def _confirmations(call: Call) -> Confirmations:
    return ConfirmationsFeature.of(call.services).confirmations
