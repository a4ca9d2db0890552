"""List the transactions with their authors and the objects that they change."""

from contextlib import suppress

from dataplaneapi.api.call import ReadCall
from dataplaneapi.api.conventions import timestamp, without_unset
from dataplaneapi.api.responses import Response, json_response
from haproxy_native.commit.transaction_commit import objects_of
from haproxy_native.errors import NoTransaction


async def read_list(call: ReadCall) -> Response:
    """List the transactions, the most recently used first."""
    rows = []
    transactions = sorted(call.services.engine.transactions(author=call.author), key=lambda transaction: transaction.used, reverse=True)
    for transaction in transactions:
        objects = None
        with suppress(NoTransaction):
            objects = await objects_of(call.services.engine.context, transaction.id)
        row = {
            "id": transaction.id,
            "status": transaction.status,
            "version": transaction.version or None,
            "author": transaction.author.partition("/")[2],
            "started": timestamp(transaction.started) if transaction.started else None,
            "used": timestamp(transaction.used) if transaction.used else None,
            "objects": objects,
        }
        rows.append(without_unset(row))
    return json_response(200, rows)
