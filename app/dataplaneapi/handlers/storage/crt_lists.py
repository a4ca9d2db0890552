"""Serve stored certificate lists and their entries."""

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.api.upload import UploadCall
from dataplaneapi.handlers.storage.files import (
    answer_outcome,
    check_replacement,
    check_upload,
    file_row,
    outcome_response,
    reload_of,
    store_of,
    store_upload,
)
from haproxy_native.storage import crt_list
from haproxy_native.storage.crt_list_store import CrtListStore
from haproxy_native.storage.store import Upload


def lists_of(call: Call) -> CrtListStore:
    store = store_of(call)
    assert isinstance(store, CrtListStore)
    return store


async def create(call: UploadCall) -> Response:
    return await _store(call, lists_of(call).upload_new(call.body.name, call.author), 201)


async def replace(call: UploadCall) -> Response:
    return await _store(call, lists_of(call).upload_existing(call.path.name, call.author), 200)


async def entries(call: ReadCall) -> Response:
    store = lists_of(call)
    path = store.readable(call.services.engine.context, call.path.name)
    rows = crt_list.entries(store.text(path))
    if not rows:
        raise ApiError(404, f"missing object: file {path.name} has no entries")
    return json_response(200, [entry.as_object() for entry in rows])


async def add_entry(call: JsonCall) -> Response:
    entry = crt_list.entry_of(call.body)
    if not entry.file:
        raise ApiError(400, "missing certificate file name")
    outcome = await lists_of(call).add_entry(call.services.engine.context, call.path.name, entry, call.author, reload_of(call))
    return answer_outcome(outcome, json_response(201, entry.as_object()), empty(202))


async def delete_entry(call: JsonCall) -> Response:
    outcome = await lists_of(call).delete_entry(
        call.services.engine.context,
        call.path.name,
        call.query.certificate,
        call.query.line_number or 0,
        call.author,
        reload_of(call),
    )
    return outcome_response(outcome, 204)


async def _store(call: Call, upload: Upload, done: int) -> Response:
    """Store an upload. The response has the size of the upload, although the stored file may have one more newline."""
    outcome = await store_upload(call, upload, reload_of(call))
    row = file_row(upload.path, lists_of(call).description, upload.size)
    return answer_outcome(outcome, json_response(done, row), json_response(202, row))


CHECKS = {"create": check_upload, "replace": check_replacement}
