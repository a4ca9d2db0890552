"""Read and change certificates, CA files and CRL files in the memory of HAProxy, but not their files on disk."""

from collections.abc import Mapping
from dataclasses import dataclass

from dataplaneapi.api.call import Call, JsonCall, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Response, empty, json_response
from dataplaneapi.api.runtime_call import use_runtime
from dataplaneapi.api.upload import UploadCall
from dataplaneapi.handlers.runtime.live_change import change, permit_change
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


async def crl_files(call: ReadCall) -> Response:
    return json_response(200, _file_rows(ssl_files.parse_names(await _show_files(call, CRL_FILES))))


async def crl_file(call: ReadCall) -> Response:
    return json_response(200, ssl_files.parse_crl_entries(await _show_files(call, CRL_FILES, call.path.name, call.query.index)))


async def _show_files(call: Call, kind: TlsFileKind, name: str = "", index: int | None = None) -> str:
    async with use_runtime(call) as runtime:
        return await ssl_files.show(runtime, kind, name, index)


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


def _file_rows(names: list[str]) -> list[dict[str, str]]:
    return [{"description": name.rpartition("/")[2], "storage_name": name} for name in names]


@dataclass(frozen=True)
class TlsFileHandler:
    """A handler that changes a file of one kind."""

    kind: TlsFileKind

    def object(self, name: str) -> str:
        return spelled(KINDS[self.kind], name)

    async def check(self, call: Call) -> None:
        """Raise Forbidden unless the caller may change the file that the path or the upload names."""
        permit_change(call, self.object(call.values.get("name") or call.body.name.rpartition("/")[2]))


class TlsFileCreation(TlsFileHandler):
    async def __call__(self, call: UploadCall) -> Response:
        """Create a file in memory under the name of the upload, so that entries of crt-lists can refer to the file."""
        name, pem = call.body.name.rpartition("/")[2], await _receive_pem(call)
        if not name:
            raise ApiError(400, "no file name: the part file_upload needs one")
        await change(call, self.object(name), lambda runtime: ssl_files.create(runtime, self.kind, name, pem))
        return empty(201)


@dataclass(frozen=True)
class TlsFileReplacement(TlsFileHandler):
    # The status of the answer.
    done: int = 200

    async def __call__(self, call: UploadCall) -> Response:
        name, pem = call.path.name, await _receive_pem(call)
        await change(call, self.object(name), lambda runtime: ssl_files.replace(runtime, self.kind, name, pem))
        return empty(self.done)


class CaFileExtension(TlsFileHandler):
    async def __call__(self, call: UploadCall) -> Response:
        name, pem = call.path.name, await _receive_pem(call)
        await change(call, self.object(name), lambda runtime: ssl_files.extend(runtime, name, pem))
        return empty(201)


class TlsFileDeletion(TlsFileHandler):
    async def __call__(self, call: JsonCall) -> Response:
        name = call.path.name
        await change(call, self.object(name), lambda runtime: ssl_files.delete(runtime, self.kind, name))
        return empty(204)


create_certificate, replace_certificate = TlsFileCreation(CERTIFICATES), TlsFileReplacement(CERTIFICATES)
delete_certificate = TlsFileDeletion(CERTIFICATES)
create_ca_file, replace_ca_file = TlsFileCreation(CA_FILES), TlsFileReplacement(CA_FILES, 201)
add_ca_entries, delete_ca_file = CaFileExtension(CA_FILES), TlsFileDeletion(CA_FILES)
create_crl_file, replace_crl_file = TlsFileCreation(CRL_FILES), TlsFileReplacement(CRL_FILES)
delete_crl_file = TlsFileDeletion(CRL_FILES)
