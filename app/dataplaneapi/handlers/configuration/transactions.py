"""Start, list, commit and delete transactions. On these paths the status for an unknown transaction is 404, elsewhere it is 400."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.conflicts import merges
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, empty, json_response, reload_headers
from haproxy_native.errors import NoTransaction, Unreadable


@contextmanager
def missing_is_404() -> Iterator[None]:
    """Raise ApiError (404) if the body raises NoTransaction."""
    try:
        yield
    except NoTransaction as error:
        raise ApiError(404, str(error)) from None


async def list_all(call: ReadCall) -> Response:
    transactions = call.services.engine.transactions(call.query.status or None, author=call.author)
    return json_response(200, [transaction.as_dict() for transaction in transactions])


async def start(call: JsonCall) -> Response:
    engine = call.services.engine
    # If another process has edited the file, this reads it in a thread. Otherwise `start_transaction` would read it in the event loop.
    with suppress(Unreadable):
        await engine.notice()
    transaction = engine.start_transaction(call.query.version, author=call.author)
    await engine.context.transactions.written()
    return json_response(201, transaction.as_dict())


async def read(call: ReadCall) -> Response:
    with missing_is_404():
        return json_response(200, call.services.engine.transaction(call.path.id, author=call.author).as_dict())


async def commit(call: JsonCall) -> Response:
    """Commit a transaction. As in the Data Plane API, the body contains the version that the transaction started from.

    The header Configuration-Version contains the new version.
    """
    with missing_is_404():
        transaction, outcome = await call.services.engine.commit_transaction(
            call.path.id,
            author=call.author,
            force_reload=call.query.force_reload,
            merges=merges(call),
        )
    if outcome.live or outcome.reload_id is None:
        return json_response(200, transaction.as_dict())
    return json_response(202, transaction.as_dict(), reload_headers(outcome.reload_id))


async def delete(call: JsonCall) -> Response:
    with missing_is_404():
        call.services.engine.delete_transaction(call.path.id, author=call.author)
    await call.services.engine.context.transactions.written()
    return empty(204)


async def check_start(call: Call) -> bool:
    call.services.engine.check_start(call.query.version, author=call.author)
    return False


async def check_commit(call: Call) -> bool:
    with missing_is_404():
        return await call.services.engine.check_commit(
            call.path.id, author=call.author, force_reload=call.query.force_reload, merges=merges(call)
        )


async def check_deletion(call: Call) -> bool:
    with missing_is_404():
        call.services.engine.context.transactions.to_delete(call.path.id, call.author)
    return False


CHECKS = {"start": check_start, "commit": check_commit, "delete": check_deletion}
