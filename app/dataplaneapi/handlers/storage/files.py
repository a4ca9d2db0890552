"""List, upload, download and delete stored files. `store` of the operation selects the store."""

import asyncio
from pathlib import Path
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import FileResponse, Response, empty, json_response, reload_headers
from dataplaneapi.api.upload import File, UploadCall
from dataplaneapi.open_engine import STORES
from haproxy_native.commit.change import Outcome, Reload
from haproxy_native.storage.store import Store, Upload


def store_of(call: Call) -> Store:
    """Return the store of the call, with the files that its transaction or batch has staged.

    Raises ApiError if the settings have no directory for the store, or if the call controls the reload inside a transaction or batch.
    """
    stores: dict[str, Store] = call.services.engine.stores
    name = call.operation.store
    if name not in stores:
        raise ApiError(404, f"there is no directory for {name}: set dataplaneapi.resources.{STORES[name]}")
    if not call.is_part:
        return stores[name]
    if given := next((flag for flag in ("skip_reload", "force_reload") if call.values.get(flag)), None):
        within = "a transaction" if call.transaction_id else "a batch"
        raise ApiError(400, f"{given} is not supported in {within}: the file changes with its commit")
    if call.transaction_id and call.operation.writes:
        call.services.engine.context.transactions.to_edit(call.transaction_id, call.author)
    return call.within(stores[name])


async def list_all(call: ReadCall) -> Response:
    store = store_of(call)
    return json_response(200, [file_row(path, store.description) for path in store.files()])


async def read(call: ReadCall) -> Response:
    """Return the content of a file."""
    store = store_of(call)
    try:
        return FileResponse(await asyncio.to_thread(store.open_for_client, call.services.engine.context, call.path.name))
    except OSError as error:
        raise ApiError(500, f"cannot read {call.path.name}: {error.strerror}") from None


async def create(call: UploadCall) -> Response:
    store = store_of(call)
    upload = store.upload_new(call.body.name, call.author)
    await store_upload(call, upload, Reload.LATER)
    return json_response(201, file_row(upload.path, store.created, upload.size))


async def replace(call: UploadCall) -> Response:
    upload = store_of(call).upload_existing(call.path.name, call.author)
    outcome = await store_upload(call, upload, call.reload)
    return outcome_response(outcome, 204 if call.query.skip_reload or call.query.force_reload else 200)


async def delete(call: JsonCall) -> Response:
    return outcome_response(await store_of(call).delete(call.services.engine.context, call.path.name, call.author), 204)


async def store_upload(call: Call, upload: Upload, reload: Reload) -> Outcome:
    """Receive the body of a call and commit it as the content of the file."""
    try:
        await _receive(call, upload)
        return await upload.commit(call.services.engine.context, reload)
    finally:
        upload.discard()


async def _receive(call: Call, upload: Upload) -> None:
    body: File = call.body
    upload.admit(call.services.engine.context)
    async for piece in body.pieces():
        await upload.append(piece)


def outcome_response(outcome: Outcome, done: int) -> Response:
    """Return a response without a body. The status is `done` if the change is in effect, or 202 if it waits for a reload."""
    return answer_outcome(outcome, empty(done), empty(202))


def file_row(path: Path, description: str, size: int | None = None) -> dict[str, Any]:
    """Return a file as a row of the list of files; with its size in bytes, if given."""
    about = {"description": description, "file": str(path), "storage_name": path.name}
    return about if size is None else about | {"size": size}


def answer_outcome(outcome: Outcome, done: Response, scheduled: Response) -> Response:
    """Return `done` if the change is in effect, or else `scheduled` with the id of the reload that applies it."""
    if outcome.live or not outcome.reload_id:
        return done
    scheduled.raw_headers += reload_headers(outcome.reload_id)
    return scheduled


async def check_upload(call: Call) -> None:
    """Check that a new file of that name and content may be stored. The running HAProxy determines whether the file needs a reload."""
    await _check_upload(call, store_of(call).upload_new(call.body.name, call.author))


async def check_new(call: Call) -> bool:
    """Check that a new file of that name may be stored. Return False, because a new file in this store needs no reload."""
    await check_upload(call)
    return False


async def check_replacement(call: Call) -> None:
    """Check that the caller may replace the file by that content. The commit decides whether that needs a reload or further permissions."""
    await _check_upload(call, store_of(call).upload_existing(call.path.name, call.author))


async def _check_upload(call: Call, upload: Upload) -> None:
    try:
        await _receive(call, upload)
        await upload.operation()
    finally:
        upload.discard()


async def check_deletion(call: Call) -> None:
    store_of(call).check_deletion(call.path.name, call.author)


CHECKS = {"create": check_new, "replace": check_replacement, "delete": check_deletion}
