"""Request bodies: read with a limit on size and time, then from bytes to JSON values."""

import asyncio
import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from json.scanner import c_make_scanner  # type: ignore[attr-defined]
from typing import Any

from starlette.types import Receive

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Header
from haproxy_native.abandonment import check
from haproxy_native.check.run import memory
from haproxy_native.shares import Holding

DEEPEST = 64
# Largest bodies in bytes where the settings name no limit: of one object; of a list, a section or a text as a whole; of a file.
OBJECT_BYTES, WHOLE_BYTES, FILE_BYTES = 1_000_000, 50_000_000, 1_000_000_000
_memory = cache(memory)


async def read(receive: Receive, headers: Iterable[Header], limit: int, seconds: float, held: Holding | None = None) -> bytes:
    """The whole body; 413 as soon as it is known to be larger than the limit (0: none), 408 when it does not arrive in time.

    `held` counts its bytes. Raises ShareExceeded for a caller whose other requests hold too much already.
    """
    announced = next((value for name, value in headers if name == b"content-length"), b"")
    if limit and announced.isdigit() and int(announced) > limit:
        raise too_large(limit)
    try:
        async with asyncio.timeout(seconds or None):
            return await _collect(receive, limit, held)
    except TimeoutError:
        raise ApiError(408, f"request body did not arrive within {seconds:g} seconds") from None


async def _collect(receive: Receive, limit: int, held: Holding | None) -> bytes:
    chunks, size, total = [], 0, max(_memory() // 16, 4 * (limit or WHOLE_BYTES))
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ApiError(400, "the client went away before its request was complete")
        chunk = message.get("body", b"")
        size += len(chunk)
        if limit and size > limit:
            raise too_large(limit)
        if held:
            held.add(len(chunk), total)
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


def too_large(limit: int) -> ApiError:
    return ApiError(413, f"request body exceeds the maximum allowed size of {limit} bytes, which the setting max_body_size changes")


def decode(data: bytes) -> Any:
    """The first JSON value; what follows it is ignored, and of a member given twice the last counts, as with the reference."""
    try:
        text = data.decode("utf-8").lstrip(" \t\r\n")
        value = _raw_decode(text) if len(text) > _LARGE else _DECODER.raw_decode(text)[0]
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
_SCAN: Callable[[str, int], tuple[Any, int]] = c_make_scanner(_DECODER)
_ARRAY: Callable[..., tuple[Any, int]] = json.decoder.JSONArray  # type: ignore[attr-defined]
_OBJECT: Callable[..., tuple[Any, int]] = json.decoder.JSONObject  # type: ignore[attr-defined]
# What is scanned in one call of C code, in characters: the event loop waits for it.
_SCANNED, _LARGE = 1 << 12, 1 << 18


def _raw_decode(text: str) -> Any:
    """The first value of a large text. What is large in it is scanned piece by piece."""
    try:
        return _scan(text, 0, {})[0]
    except StopIteration as error:
        raise json.JSONDecodeError("Expecting value", text, error.value) from None


def _scan(text: str, at: int, keys: dict[str, str]) -> tuple[Any, int]:
    """(value, index behind it), as a decoder's `scan_once`. Raises Abandoned."""
    check()
    sign = text[at : at + 1]
    if sign not in ("{", "["):
        return _SCAN(text, at)
    with suppress(ValueError, StopIteration):
        value, size = _SCAN(text[at : at + _SCANNED], 0)
        return value, at + size
    inner = partial(_scan, keys=keys)
    if sign == "[":
        return _ARRAY((text, at + 1), inner)
    return _OBJECT((text, at + 1), _DECODER.strict, inner, None, None, keys)


def _deeper_than(value: Any, depth: int) -> bool:
    """Level by level, so that the check itself cannot run out of stack."""
    level = [value]
    for _ in range(depth + 1):
        level = [
            inner for child in level if isinstance(child, dict | list) for inner in (child.values() if isinstance(child, dict) else child)
        ]
        if not level:
            return False
    return True
