"""Request bodies: read with a limit on size and time, then from bytes to JSON values."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any

from starlette.types import Receive

from app.errors import ApiError

DEEPEST = 64


async def read(receive: Receive, headers: Iterable[tuple[bytes, bytes]], limit: int, seconds: float) -> bytes:
    """The whole body; 413 as soon as it is known to be larger than the limit (0: none), 408 when it does not arrive in time."""
    announced = next((value for name, value in headers if name == b"content-length"), b"")
    if limit and announced.isdigit() and int(announced) > limit:
        raise too_large(limit)
    try:
        async with asyncio.timeout(seconds or None):
            return await _collect(receive, limit)
    except TimeoutError:
        raise ApiError(408, f"request body did not arrive within {seconds:g} seconds") from None


async def _collect(receive: Receive, limit: int) -> bytes:
    chunks, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ApiError(400, "the client went away before its request was complete")
        chunk = message.get("body", b"")
        size += len(chunk)
        if limit and size > limit:
            raise too_large(limit)
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


def too_large(limit: int) -> ApiError:
    return ApiError(413, f"request body exceeds the maximum allowed size of {limit} bytes")


def decode(data: bytes) -> Any:
    """The first JSON value; what follows it is ignored, and of a member given twice the last counts, as with the reference."""
    try:
        text = data.decode("utf-8").lstrip(" \t\r\n")
        value, _ = _DECODER.raw_decode(text)
    except RecursionError:
        raise _undecodable(f"nested deeper than {DEEPEST} levels") from None
    except ValueError as error:
        raise _undecodable(str(error)) from None
    if data.count(b"[") + data.count(b"{") > DEEPEST and _deeper_than(value, DEEPEST):
        raise _undecodable(f"nested deeper than {DEEPEST} levels")
    return value


def _undecodable(reason: str) -> ApiError:
    return ApiError(400, f"failed to decode request body: {reason}")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _deeper_than(value: Any, depth: int) -> bool:
    """Level by level, so that the check itself cannot run out of stack."""
    level = [value]
    for _ in range(depth + 1):
        level = [inner for each in level if isinstance(each, dict | list) for inner in (each.values() if isinstance(each, dict) else each)]
        if not level:
            return False
    return True
