"""An uploaded file: the part `file_upload` of a form."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from app.errors import ApiError

PART = "file_upload"


@dataclass(frozen=True)
class Upload:
    name: str
    data: bytes


async def uploaded(data: bytes, content_type: str) -> Upload:
    """Raises ApiError where the part is missing or has no name."""

    async def stream() -> AsyncIterator[bytes]:
        yield data

    try:
        form = await MultiPartParser(Headers({"content-type": content_type}), stream()).parse()
    except (MultiPartException, KeyError) as error:
        raise ApiError(400, f"failed to decode request body: {error}") from None
    try:
        part = form.get(PART)
        if not isinstance(part, UploadFile) or not part.filename:
            raise ApiError(400, "http: no such file")
        return Upload(part.filename, await part.read())
    finally:
        await form.close()
