"""The one part of a form that counts."""

import asyncio

import pytest

from app.errors import ApiError
from app.upload import Upload, uploaded

BOUNDARY = "boundary"
TYPE = f"multipart/form-data; boundary={BOUNDARY}"


def form(*parts: tuple[str, bytes]) -> bytes:
    told = (f"--{BOUNDARY}\r\nContent-Disposition: form-data; {about}\r\n\r\n".encode() + data + b"\r\n" for about, data in parts)
    return b"".join(told) + f"--{BOUNDARY}--\r\n".encode()


def test_the_file_among_others() -> None:
    data = form(('name="note"', b"x"), ('name="file_upload"; filename="a/b.cfg"', b"[x]\r\n\xff\0"))
    assert asyncio.run(uploaded(data, TYPE)) == Upload("a/b.cfg", b"[x]\r\n\xff\0")


def test_a_large_one() -> None:
    data = b"# line\n" * 500_000
    assert asyncio.run(uploaded(form(('name="file_upload"; filename="b"', data)), TYPE)).data == data


@pytest.mark.parametrize(
    ("data", "type_", "said"),
    [
        (form(('name="other"; filename="a"', b"x")), TYPE, "http: no such file"),
        (form(('name="file_upload"', b"x")), TYPE, "http: no such file"),
        (form(('name="file_upload"; filename=""', b"x")), TYPE, "http: no such file"),
        (form(), TYPE, "http: no such file"),
        (b"no form", TYPE, "failed to decode request body: "),
        (form(), "multipart/form-data", "failed to decode request body: "),
    ],
)
def test_what_is_none(data: bytes, type_: str, said: str) -> None:
    with pytest.raises(ApiError) as refused:
        asyncio.run(uploaded(data, type_))
    assert refused.value.status == 400
    assert refused.value.message.startswith(said)
