"""List the transactions with their authors and the objects that they change."""

from contextlib import suppress
from typing import Any

from dataplaneapi.api.call import Call, ReadCall
from dataplaneapi.api.conventions import present, timestamp
from dataplaneapi.api.responses import Response, json_response
from haproxy_native.commit.transaction_commit import objects_of
from haproxy_native.errors import NoTransaction


async def read_list(call: ReadCall) -> Response:
    """List the transactions, the most recently used first."""
    transactions = sorted(call.services.engine.transactions(author=call.author), key=lambda transaction: transaction.used, reverse=True)
    return json_response(200, [await _as_dict(call, transaction) for transaction in transactions])


async def _as_dict(call: Call, transaction: Any) -> dict[str, Any]:
    objects = None
    with suppress(NoTransaction):
        objects = await objects_of(call.services.engine.context, transaction.id)
    times = {name: timestamp(value) if (value := getattr(transaction, name)) else None for name in ("started", "used")}
    about = {"id": transaction.id, "status": transaction.status, "version": transaction.version or None}
    return present({**about, "author": transaction.author.partition("/")[2], **times, "objects": objects})
