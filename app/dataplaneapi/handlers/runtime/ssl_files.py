"""Read and change certificates, CA files and CRL files in the memory of HAProxy, but not their files on disk."""

from collections.abc import Awaitable, Callable, Mapping

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.api.runtime_call import asking
from dataplaneapi.api.upload import UploadCall
from dataplaneapi.handlers.runtime.live_change import Work, change, permit_change
from haproxy_native.editing.object_names import spelled
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.ssl_files import CA_FILES, CERTIFICATES, CRL_FILES, TlsFileKind

# The largest upload in bytes. HAProxy accepts much less in one command.
MOST_BYTES = 1 << 20
KINDS: Mapping[TlsFileKind, str] = {CERTIFICATES: "certificate", CA_FILES: "ca_file", CRL_FILES: "crl_file"}


async def certificates(call: ReadCall) -> Response:
    return json_response(200, _file_rows(ssl_files.parse_names(await _show_files(call, CERTIFICATES))))


async def certificate(call: ReadCall) -> Response:
    """Return a certificate without its member `file`. The name in the answer is the requested one, which may be an alias."""
    shown = ssl_files.parse_certificate(await _show_files(call, CERTIFICATES, call.path.name))
    return json_response(200, {name: value for name, value in shown.items() if name != "file"})


async def create_certificate(call: UploadCall) -> Response:
    return await _create_file(call, CERTIFICATES)


async def replace_certificate(call: UploadCall) -> Response:
    return await _replace_file(call, CERTIFICATES, 200)


async def delete_certificate(call: JsonCall) -> Response:
    return await _delete_file(call, CERTIFICATES)


async def ca_files(call: ReadCall) -> Response:
    return json_response(200, ssl_files.parse_ca_files(await _show_files(call, CA_FILES)))


async def ca_file(call: ReadCall) -> Response:
    name = call.path.name
    row = next((row for row in ssl_files.parse_ca_files(await _show_files(call, CA_FILES)) if row["storage_name"] == name), None)
    if row is None:
        raise ApiError(404, f"{call.services.engine.runtime.address} {name} not found")
    return json_response(200, row)


async def ca_entry(call: ReadCall) -> Response:
    certificate = ssl_files.parse_certificate(await _show_files(call, CA_FILES, call.path.name, call.path.index))
    if not certificate:
        raise ApiError(404, f"{call.services.engine.runtime.address} not found")
    return json_response(200, certificate)


async def create_ca_file(call: UploadCall) -> Response:
    return await _create_file(call, CA_FILES)


async def replace_ca_file(call: UploadCall) -> Response:
    return await _replace_file(call, CA_FILES, 201)


async def add_ca_entries(call: UploadCall) -> Response:
    name, pem = call.path.name, await _receive_pem(call)
    await _change(call, CA_FILES, name, lambda runtime: ssl_files.extend(runtime, name, pem))
    return empty(201)


async def delete_ca_file(call: JsonCall) -> Response:
    return await _delete_file(call, CA_FILES)


async def crl_files(call: ReadCall) -> Response:
    return json_response(200, _file_rows(ssl_files.parse_names(await _show_files(call, CRL_FILES))))


async def crl_file(call: ReadCall) -> Response:
    return json_response(200, ssl_files.parse_crl_entries(await _show_files(call, CRL_FILES, call.path.name, call.query.index)))


async def create_crl_file(call: UploadCall) -> Response:
    return await _create_file(call, CRL_FILES)


async def replace_crl_file(call: UploadCall) -> Response:
    return await _replace_file(call, CRL_FILES, 200)


async def delete_crl_file(call: JsonCall) -> Response:
    return await _delete_file(call, CRL_FILES)


async def _show_files(call: Call, kind: TlsFileKind, name: str = "", index: int | None = None) -> str:
    async with asking(call) as runtime:
        return await ssl_files.show(runtime, kind, name, index)


async def _create_file(call: Call, kind: TlsFileKind) -> Response:
    """Create a file in memory under the name of the upload, so that entries of crt-lists can refer to it."""
    name, pem = call.body.name.rpartition("/")[2], await _receive_pem(call)
    if not name:
        raise ApiError(400, "no file name: the part file_upload needs one")
    await _change(call, kind, name, lambda runtime: ssl_files.create(runtime, kind, name, pem))
    return empty(201)


async def _replace_file(call: Call, kind: TlsFileKind, done: int) -> Response:
    name, pem = call.path.name, await _receive_pem(call)
    await _change(call, kind, name, lambda runtime: ssl_files.replace(runtime, kind, name, pem))
    return empty(done)


async def _receive_pem(call: Call) -> str:
    data = bytearray()
    async for piece in call.body.pieces():
        data += piece
        if len(data) > MOST_BYTES:
            raise ApiError(413, f"the upload exceeds the maximum of {MOST_BYTES} bytes for the memory of HAProxy")
    if not data.strip():
        raise ApiError(400, "the uploaded file is empty")
    if b"\0" in data:
        raise ApiError(400, "the uploaded file is not text")
    return data.decode("utf-8", "surrogateescape")


async def _delete_file(call: Call, kind: TlsFileKind) -> Response:
    name = call.path.name
    await _change(call, kind, name, lambda runtime: ssl_files.delete(runtime, kind, name))
    return empty(204)


async def _change(call: Call, kind: TlsFileKind, name: str, work: Work) -> None:
    await change(call, spelled(KINDS[kind], name), work)


def _file_rows(names: list[str]) -> list[dict[str, str]]:
    return [{"description": name.rpartition("/")[2], "storage_name": name} for name in names]


def check_of(kind: TlsFileKind) -> Callable[[Call], Awaitable[None]]:
    """Return a check that raises Forbidden unless the caller may change the file that the path or the upload names."""

    async def check(call: Call) -> None:
        permit_change(call, spelled(KINDS[kind], call.values.get("name") or call.body.name.rpartition("/")[2]))

    return check


CHECKS = {
    name: check_of(kind)
    for kind, names in {
        CERTIFICATES: ("create_certificate", "replace_certificate", "delete_certificate"),
        CA_FILES: ("create_ca_file", "replace_ca_file", "add_ca_entries", "delete_ca_file"),
        CRL_FILES: ("create_crl_file", "replace_crl_file", "delete_crl_file"),
    }.items()
    for name in names
}
