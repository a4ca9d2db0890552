"""Serve stored certificates and certificate lists.

The response for a certificate contains its properties but not its text, which may include the private key.
"""

import asyncio
import logging
from pathlib import Path
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Header, Response, empty, json_response
from dataplaneapi.api.upload import UploadCall
from dataplaneapi.handlers.storage.files import (
    answer_outcome,
    check_deletion,
    check_replacement,
    check_upload,
    file_row,
    outcome_response,
    store_of,
    store_upload,
)
from haproxy_native.errors import Missing
from haproxy_native.storage import crt_list
from haproxy_native.storage.certificate import CertificateFile
from haproxy_native.storage.certificate_store import CertificateStore
from haproxy_native.storage.crt_list_store import CrtListStore
from haproxy_native.storage.store import Upload

logger = logging.getLogger(__name__)
WARNING = b"Warning"


async def read_certificate(call: ReadCall) -> Response:
    store = store_of(call)
    assert isinstance(store, CertificateStore)
    path = store.find(call.path.name)
    content, size = await _read_certificates(store, path)
    return json_response(200, file_row(path, store.description, size) | content.described())


async def create(call: UploadCall) -> Response:
    return await _store(call, store_of(call).upload_new(call.body.name, call.author), 201)


async def replace(call: UploadCall) -> Response:
    return await _store(call, store_of(call).upload_existing(call.path.name, call.author), 200)


async def delete(call: JsonCall) -> Response:
    store, site = store_of(call), call.services.engine.context
    path = store.find(call.path.name)
    outcome = await store.delete(site, call.path.name, call.author, call.reload)
    if isinstance(store, CertificateStore) and outcome.live:
        await store.load_unreferenced(site, path)
    return outcome_response(outcome, 204)


async def _store(call: Call, upload: Upload, done: int) -> Response:
    """Store an upload, and answer with the status `done`, or with 202 if the file waits for a reload.

    The response for a list has the size of the upload, although the stored file may have one more newline.
    """
    store, headers = store_of(call), list[Header]()
    outcome = await store_upload(call, upload, call.reload)
    size, members = upload.size, dict[str, Any]()
    if isinstance(store, CertificateStore):
        if outcome.live:
            await store.load_unreferenced(call.services.engine.context, upload.path)
        content, size = await _read_certificates(store, upload.path)
        members = content.described()
        if content.warning:
            logger.warning("%s: %s", upload.path, content.warning)
            headers.append((WARNING, f'299 - "{content.warning}"'.encode("ascii", "replace")))
    row = file_row(upload.path, store.description, size) | members
    return answer_outcome(outcome, json_response(done, row, headers), json_response(202, row, headers))


async def _read_certificates(store: CertificateStore, path: Path) -> tuple[CertificateFile, int]:
    """Return the certificates in a file, and the size of the file in bytes. Raises Missing if there is no file."""
    try:
        return await asyncio.to_thread(store.read, path)
    except OSError:
        raise Missing(f"file {path.name} doesn't exist in dir: {path.parent}") from None


def _list_store(call: Call) -> CrtListStore:
    store = store_of(call)
    assert isinstance(store, CrtListStore)
    return store


async def entries(call: ReadCall) -> Response:
    store = _list_store(call)
    path = store.readable(call.services.engine.context, call.path.name)
    rows = crt_list.entries(store.text(path))
    if not rows:
        raise ApiError(404, f"missing object: file {path.name} has no entries")
    return json_response(200, [entry.as_object() for entry in rows])


async def add_entry(call: JsonCall) -> Response:
    entry = crt_list.entry_of(call.body)
    if not entry.file:
        raise ApiError(400, "missing certificate file name")
    outcome = await _list_store(call).add_entry(call.services.engine.context, call.path.name, entry, call.author, call.reload)
    return answer_outcome(outcome, json_response(201, entry.as_object()), empty(202))


async def delete_entry(call: JsonCall) -> Response:
    outcome = await _list_store(call).delete_entry(
        call.services.engine.context,
        call.path.name,
        call.query.certificate,
        call.query.line_number or 0,
        call.author,
        call.reload,
    )
    return outcome_response(outcome, 204)


CHECKS = {"create": check_upload, "replace": check_replacement, "delete": check_deletion}
