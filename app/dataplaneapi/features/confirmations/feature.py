"""The feature `confirmations`, the write options `confirm` and `guard`, and the JSON of a confirmation."""

import time
from dataclasses import replace
from math import ceil
from typing import Any

from dataplaneapi.api.call import Call
from dataplaneapi.api.conventions import timestamp, without_unset
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.feature import Feature, WriteOption
from dataplaneapi.api.operations import Handler
from dataplaneapi.api.responses import LOCATION, HeaderName, Response
from dataplaneapi.api.services import Services
from dataplaneapi.api.write_options import ANSWER_SECONDS
from haproxy_native.commit.events import Announced
from haproxy_native.editing.secrets import masked_object
from haproxy_native.features.confirmations.confirmations import Confirmations
from haproxy_native.features.confirmations.guard import Guard, GuardWatch, read_guard
from haproxy_native.features.confirmations.ledger import PENDING, Confirmation
from haproxy_native.workers.workers import BACKENDS, FRONTENDS

EXPIRES = HeaderName(b"Confirmation-Expires")
SHORTEST, LONGEST = 2.0, 86400.0
CONFIRMATION = "confirmation"


class Confirm(WriteOption):
    """The options `confirm` and `guard` of a write. With `confirm`, the change is rolled back unless a client confirms it in time."""

    names = ("confirm", "guard")

    def __init__(self, confirmations: Confirmations) -> None:
        self._confirmations = confirmations

    def check(self, call: Call) -> None:
        """Raise ApiError if the time for the confirmation is too short, or if the guard is invalid."""
        if call.query.confirm is not None and call.query.confirm < SHORTEST:
            raise ApiError(400, f"confirm in query must be at least {SHORTEST:g} s")
        _guard(call)

    async def serve(self, call: Call, next: Handler) -> Response:
        """Make the write and return its response.

        If anything has changed, headers of the response name the confirmation and its deadline.
        """
        call.exchange.answer_within(ANSWER_SECONDS)
        async with self._confirmations.open_confirmation(call.author, call.query.confirm or SHORTEST, _guard(call)) as author:
            response = await next(replace(call, author=author))
        if author.confirmation and (confirmation := self._confirmations.get(author.confirmation)).status == PENDING:
            location = call.services.bundle["components"]["parameters"]["confirm"]["x-location"].format(id=confirmation.id)
            response.raw_headers += [(LOCATION, location.encode()), (EXPIRES, timestamp(confirmation.deadline or 0).encode())]
        return response


def _guard(call: Call) -> Guard | None:
    """Return the guard in the query of a call. Return None if the query has no guard. Raises ApiError."""
    if "guard" not in call.values:
        return None
    if "confirm" not in call.values:
        raise ApiError(400, "guard in query needs confirm: it rolls back a change that waits for its confirmation")
    try:
        return read_guard(call.query.guard)
    except ValueError as error:
        raise ApiError(400, f"guard in query: {error}") from None


def as_dict(one: Confirmation) -> dict[str, Any]:
    """Return a confirmation as JSON, without its history entries."""
    # The requests that revert the entries which are still in effect.
    reverts = ", ".join(f"POST /v3/sidecar/history/{entry}/revert" for entry in one.standing)
    shown: dict[str, Any] = {
        "id": one.id,
        "status": one.status,
        "author": one.author,
        "created": timestamp(one.created),
        "timeout": one.seconds,
        "expires": None if one.deadline is None or one.is_over else timestamp(one.deadline),
        "seconds_left": ceil(max(0.0, one.deadline - time.time())) if one.status == PENDING and one.deadline else None,
        "ended": None if one.ended is None else timestamp(one.ended),
        "error": f"{one.error}; {reverts}" if reverts else one.error,
        "standing": [str(entry) for entry in one.standing] or None,
        "guard": one.guard and without_unset(one.guard),
        "verdict": one.verdict and one.verdict | {"sections": (one.baseline or {}).get("sections", [])},
    }
    return without_unset(shown)


class ConfirmationsFeature(Feature):
    """The feature `confirmations`, which rolls back changes that are not confirmed before their deadline, or whose guard is violated."""

    only_changes = True

    def __init__(self, services: Services) -> None:
        engine = services.engine

        def announce(confirmation: Confirmation) -> None:
            data = masked_object(as_dict(confirmation), CONFIRMATION)
            engine.context.events.publish(Announced(CONFIRMATION, f"{CONFIRMATION}/{confirmation.id}", data))

        watch = GuardWatch(lambda: services.workers.statistics_in_service(FRONTENDS | BACKENDS))
        self.confirmations = Confirmations(engine.context, services.history, services.reverter, engine.database, announce, watch)
        # Reads the statistics of the worker in service.
        self.statistics = watch.statistics
        self.runs, self.write_options = (self.confirmations,), (Confirm(self.confirmations),)
