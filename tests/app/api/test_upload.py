"""Files in requests: found in a form, whatever else it holds and however it arrives."""

import asyncio
from collections.abc import Iterable

import pytest

from dataplaneapi.api import upload
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.upload import File, Form, boundary
from tests.app.api.test_bodies import Sender

EDGE = b"edge"


def part(name: str, content: bytes, filename: str | None = None) -> bytes:
    about = f'; filename="{filename}"' if filename is not None else ""
    return b'--edge\r\ncontent-disposition: form-data; name="%s"%s\r\nContent-Type: text/x\r\n\r\n%s\r\n' % (
        name.encode(),
        about.encode(),
        content,
    )


def received(chunks: Iterable[bytes], limit: int = 0, seconds: float = 0) -> tuple[str, bytes]:
    async def receive() -> tuple[str, bytes]:
        form = Form(Sender(*chunks), limit, seconds, EDGE)
        await form.begin()
        return form.name, b"".join([piece async for piece in form.pieces()])

    return asyncio.run(receive())


CONTENT = b"line\r\n--edg\r\n\x00\xff--"
BODY = part("id", b"x") + part("file_upload", CONTENT, "höst.map") + part("file_upload", b"second", "b") + b"--edge--\r\n"


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_however_it_arrives(size: int) -> None:
    assert received([BODY[at : at + size] for at in range(0, len(BODY), size)]) == ("höst.map", CONTENT)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            part("id", b"1") + part("file", b"x", "a") + b"--edge--\r\n",
            "^http: no such file; send it in the field file_upload, not in 'file'$",
        ),
        (part("file_upload", b"x") + b"--edge--\r\n", "^http: no such file; the field file_upload has no filename$"),
        (part("file", b"x") + b"--edge--\r\n", "^http: no such file; send it in the field file_upload$"),
        (b"", "^http: no such file; send it in the field file_upload$"),
        (BODY[:-20], "the form ends before its closing boundary"),
        (b"no form at all", "the form cannot be read: "),
    ],
)
def test_what_is_no_file(body: bytes, message: str) -> None:
    with pytest.raises(ApiError, match=message) as error:
        received([body])
    assert error.value.status == 400


def test_a_boundary_is_short_and_parts_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ApiError, match="the boundary in Content-Type has 300 characters; at most 256 are allowed") as error:
        boundary(f"multipart/form-data; boundary={'b' * 300}")
    assert error.value.status == 400 and boundary("multipart/form-data; boundary=edge") == EDGE
    monkeypatch.setattr(upload, "MOST_PARTS", 3)
    assert received([BODY])[1] == CONTENT
    with pytest.raises(ApiError, match="maximum allowed number of 3 parts") as error:
        received([part("x", b"") + BODY])
    assert error.value.status == 413


def test_limits() -> None:
    with pytest.raises(ApiError) as error:
        received([BODY[:50], BODY[50:]], limit=len(BODY) - 1)
    assert error.value.status == 413
    with pytest.raises(ApiError) as error:
        asyncio.run(_slow())
    assert error.value.status == 408


async def _slow() -> None:
    async for _ in File(Sender(b"a", ends=False), 0, 0.01).pieces():
        pass


def test_a_client_that_goes_away() -> None:
    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def read() -> None:
        async for _ in File(receive, 0, 0).pieces():
            pass

    with pytest.raises(ApiError, match="the client disconnected"):
        asyncio.run(read())
