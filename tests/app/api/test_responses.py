"""Answers as they go over the wire."""

import asyncio
import json
import os
import threading
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.api import responses
from dataplaneapi.api.responses import (
    CONTENT_TYPE,
    PIECE,
    RELOAD_ID,
    FileResponse,
    HeaderName,
    Response,
    empty,
    json_pieces,
    json_response,
    to_json,
)
from dataplaneapi.server.connection import Channel
from haproxy_native.abandonment import Abandoned, Waiting, run_abandonable
from haproxy_native.shares import Account
from haproxy_native.threads import LARGE


def test_names_keep_their_capitals() -> None:
    assert HeaderName(b"Reload-Id").lower() == b"Reload-Id"
    assert b": ".join([RELOAD_ID, b"x"]) == b"Reload-Id: x"


def test_json_ends_with_a_newline() -> None:
    answer = asyncio.run(json_response(200, {"name": "grün", "n": 1}).complete())
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


DEEP = {"a": [{"b": [{"c": ["x" * 99] * 200} for _ in range(9)]} for _ in range(9)], "long": '\u20ac"' * LARGE}
MANY = {f"name {number}": {"values": list(range(20))} for number in range(5000)}
BEHIND = {"values": ["x" * 99] * 300, "long": DEEP["long"]}
ONE_LARGE = [1, "x" * 5 * LARGE, [list(range(100))] * 1000, {"a": None}]


@pytest.mark.parametrize(
    "data",
    [DEEP, MANY, BEHIND, ONE_LARGE, [DEEP] * 3, [], "x" * LARGE * 3],
    ids=["deep", "many", "behind", "one", "list", "none", "text"],
)
def test_no_piece_is_large_and_the_loop_encodes_the_first_alone(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    pieces, calls = list(json_pieces(data)), list[tuple[int, int]]()
    assert b"".join(pieces) == whole and max(map(len, pieces)) <= 4 * LARGE
    encode = responses._ENCODE

    def watched(value: Any) -> str:
        text = encode(value)
        calls.append((threading.get_ident(), len(text)))
        return text

    monkeypatch.setattr(responses, "_ENCODE", watched)

    async def answered() -> Response:
        answer = json_response(200, data)
        assert sum(size for _, size in calls) <= 3 * LARGE
        return await answer.complete()

    answer = asyncio.run(answered())
    assert answer.body == whole and dict(answer.raw_headers)[b"content-length"] == b"%d" % len(whole)
    assert sum(size for thread, size in calls if thread == threading.get_ident()) <= 3 * LARGE
    assert max(size for _, size in calls) <= 2 * LARGE


def test_encoding_ends_where_nobody_waits() -> None:
    caller = Waiting(Account(), threading.Event())
    pieces, context = json_pieces(MANY), copy_context()
    context.run(run_abandonable, caller, lambda: next(pieces))
    caller.left.set()
    with pytest.raises(Abandoned):
        context.run(next, pieces)


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

    await response.send_to(Channel(), send)
    return messages
