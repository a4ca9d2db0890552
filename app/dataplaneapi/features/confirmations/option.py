"""`confirm` and `guard`: a write that is taken back unless it is confirmed."""

from dataplaneapi.api.call import Call
from dataplaneapi.api.conventions import timestamp
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.feature import WriteOption
from dataplaneapi.api.operations import Handler
from dataplaneapi.api.responses import LOCATION, HeaderName, Response
from dataplaneapi.api.write_options import ANSWER_SECONDS
from haproxy_native.features.confirmations.confirmations import Confirmations
from haproxy_native.features.confirmations.guard import Guard, read_guard
from haproxy_native.features.confirmations.ledger import PENDING

EXPIRES = HeaderName(b"Confirmation-Expires")
SHORTEST, LONGEST = 2.0, 86400.0


class Confirm(WriteOption):
    """Makes a change under a confirmation."""

    names = ("confirm", "guard")

    def __init__(self, confirmations: Confirmations) -> None:
        self._confirmations = confirmations

    def check(self, call: Call) -> None:
        """Raises ApiError."""
        if call.query.confirm is not None and call.query.confirm < SHORTEST:
            raise ApiError(400, f"confirm in query is at least {SHORTEST:g} s")
        _guard(call)

    async def serve(self, call: Call, next: Handler) -> Response:
        """Return the response, with the place of the confirmation and the end of its time."""
        call.exchange.answer_within(ANSWER_SECONDS)
        async with self._confirmations.opened(call.author, call.query.confirm or SHORTEST, _guard(call)) as author:
            call.author = author
            response = await next(call)
        if author.confirmation and (confirmation := self._confirmations.get(author.confirmation)).status == PENDING:
            location = call.services.bundle["components"]["parameters"]["confirm"]["x-location"].format(id=confirmation.id)
            response.raw_headers += [(LOCATION, location.encode()), (EXPIRES, timestamp(confirmation.deadline or 0).encode())]
        return response


def _guard(call: Call) -> Guard | None:
    """Return the guard that a call asks for, or None. Raises ApiError."""
    if "guard" not in call.values:
        return None
    if "confirm" not in call.values:
        raise ApiError(400, "guard in query rolls back a change that waits for its confirmation: send confirm with it")
    try:
        return read_guard(call.query.guard)
    except ValueError as error:
        raise ApiError(400, f"guard in query: {error}") from None
