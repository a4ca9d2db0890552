"""Serve stored certificates. Responses contain properties of a certificate but not its text, which may include the private key."""

import asyncio
import logging
from pathlib import Path
from typing import Any

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.responses import Header, Response, json_response
from dataplaneapi.api.upload import UploadCall
from dataplaneapi.handlers.storage.files import (
    answer_outcome,
    check_deletion,
    check_replacement,
    check_upload,
    file_row,
    outcome_response,
    reload_of,
    store_of,
    store_upload,
)
from haproxy_native.errors import Missing
from haproxy_native.storage.certificate import CertificateFile
from haproxy_native.storage.certificate_store import CertificateStore
from haproxy_native.storage.store import Upload

logger = logging.getLogger(__name__)
WARNING = b"Warning"


def certificates_of(call: Call) -> CertificateStore:
    store = store_of(call)
    assert isinstance(store, CertificateStore)
    return store


async def read(call: ReadCall) -> Response:
    store = certificates_of(call)
    return json_response(200, _certificate_row(store, *await _read_certificates(store, store.find(call.path.name))))


async def create(call: UploadCall) -> Response:
    return await _store(call, certificates_of(call).upload_new(call.body.name, call.author), 201)


async def replace(call: UploadCall) -> Response:
    return await _store(call, certificates_of(call).upload_existing(call.path.name, call.author), 200)


async def delete(call: JsonCall) -> Response:
    """Delete a certificate or a list."""
    store, site = store_of(call), call.services.engine.context
    path = store.find(call.path.name)
    outcome = await store.delete(site, call.path.name, call.author, reload_of(call))
    if isinstance(store, CertificateStore) and outcome.live:
        await store.load_unreferenced(site, path)
    return outcome_response(outcome, 204)


async def _store(call: Call, upload: Upload, done: int) -> Response:
    """Store an upload, and answer with the status `done`, or with 202 if the certificate waits for a reload."""
    store = certificates_of(call)
    outcome = await store_upload(call, upload, reload_of(call))
    if outcome.live:
        await store.load_unreferenced(call.services.engine.context, upload.path)
    content, path, size = await _read_certificates(store, upload.path)
    headers: list[Header] = []
    if content.warning:
        logger.warning("%s: %s", path, content.warning)
        headers.append((WARNING, f'299 - "{content.warning}"'.encode("ascii", "replace")))
    about = _certificate_row(store, content, path, size)
    return answer_outcome(outcome, json_response(done, about, headers), json_response(202, about, headers))


async def _read_certificates(store: CertificateStore, path: Path) -> tuple[CertificateFile, Path, int]:
    """Return the certificates in a file, the path of the file, and the size of the file in bytes. Raises Missing if there is no file."""
    try:
        content, size = await asyncio.to_thread(store.read, path)
    except OSError:
        raise Missing(f"file {path.name} doesn't exist in dir: {path.parent}") from None
    return content, path, size


def _certificate_row(store: CertificateStore, content: CertificateFile, path: Path, size: int) -> dict[str, Any]:
    return file_row(path, store.description, size) | content.described()


CHECKS = {"create": check_upload, "replace": check_replacement, "delete": check_deletion}
