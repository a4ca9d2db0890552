"""Serve the transactions of one SPOE file. The status for an unknown transaction is 400, not 404 as for the configuration."""

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.responses import Response, empty, json_response, reload_headers
from dataplaneapi.handlers.spoe.files import permit
from haproxy_native.spoe.file import SpoeFile


def file(call: Call) -> SpoeFile:
    return call.services.spoe.file(call.path.parent_name)


async def list_all(call: ReadCall) -> Response:
    """List the transactions. A SPOE file does not store failed transactions."""
    transactions = file(call).transactions(author=call.author)
    return json_response(200, [transaction.as_dict() for transaction in transactions if call.query.status in ("", transaction.status)])


async def start(call: JsonCall) -> Response:
    transaction = file(call).start_transaction(call.query.version or 0, author=call.author)
    await call.services.engine.context.transactions.written()
    return json_response(201, transaction.as_dict())


async def read(call: ReadCall) -> Response:
    return json_response(200, file(call).transaction(call.path.id, author=call.author).as_dict())


async def commit(call: JsonCall) -> Response:
    """Commit a transaction. As in the Data Plane API, the body contains the version that the transaction started from."""
    transaction, outcome = await file(call).commit_transaction(call.path.id, author=call.author, force_reload=call.query.force_reload)
    return json_response(202 if outcome.reload_id else 200, transaction.as_dict(), reload_headers(outcome.reload_id))


async def delete(call: JsonCall) -> Response:
    file(call).delete_transaction(call.path.id, author=call.author)
    await call.services.engine.context.transactions.written()
    return empty(204)


async def check_start(call: Call) -> bool:
    file(call).check_edit([], author=call.author, version=call.query.version)
    return False


async def check_commit(call: Call) -> None:
    file(call).check_transaction(call.path.id, author=call.author, commit=True)
    permit(call, call.path.parent_name)


async def check_deletion(call: Call) -> bool:
    file(call).check_transaction(call.path.id, author=call.author, commit=False)
    return False


CHECKS = {"start": check_start, "commit": check_commit, "delete": check_deletion}
