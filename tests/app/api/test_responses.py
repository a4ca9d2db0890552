"""Answers as they go over the wire."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.api.responses import CONTENT_TYPE, PIECE, RELOAD_ID, FileResponse, HeaderName, Response, empty, json_response, to_json


def test_names_keep_their_capitals() -> None:
    assert HeaderName(b"Reload-Id").lower() == b"Reload-Id"
    assert b": ".join([RELOAD_ID, b"x"]) == b"Reload-Id: x"


def test_json_ends_with_a_newline() -> None:
    answer = json_response(200, {"name": "grün", "n": 1})
    assert answer.body == '{"name":"grün","n":1}\n'.encode()
    assert dict(answer.raw_headers) == {CONTENT_TYPE: b"application/json", b"content-length": b"%d" % len(answer.body)}


def test_bytes_that_are_no_text_come_out_as_escapes() -> None:
    assert to_json(b"a\xff".decode("utf-8", "surrogateescape")) == b'"a\\udcff"\n'


def test_no_body_no_content_type() -> None:
    assert empty(204).raw_headers == []
    assert empty(202).raw_headers == [(b"content-length", b"0")]


def test_pieces_make_the_same_text() -> None:
    for data in (
        {"a": {str(i): {"n": i} for i in range(1000)}, "b": [], "c": "x"},
        [{"n": i} for i in range(1000)],
        [],
        {},
        [[1] * 300] * 3,
    ):
        assert json.loads(to_json(data)) == data
        assert to_json(data) == json.dumps(data, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize("size", [0, 1, PIECE, 2 * PIECE + 1])
def test_a_file_is_sent_whole(tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    (tmp_path / "file").write_bytes(content)
    start, *rest = asyncio.run(sent(FileResponse((tmp_path / "file").open("rb"))))
    assert dict(start["headers"])[b"content-length"] == b"%d" % size
    assert b"".join(each["body"] for each in rest) == content
    assert [each.get("more_body", False) for each in rest] == [*[True] * (len(rest) - 1), False]


def test_a_file_that_becomes_shorter_is_no_complete_response(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 10)
    response = FileResponse((tmp_path / "file").open("rb", buffering=0))
    (tmp_path / "file").write_bytes(b"x" * 5)
    with pytest.raises(OSError, match="shorter"):
        asyncio.run(sent(response))


async def sent(response: Response) -> list[Any]:
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    await response({"type": "http"}, asyncio.Event().wait, send)
    return messages
