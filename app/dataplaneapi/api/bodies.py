"""Receive request bodies within limits of size and time, check their media type and encoding, and decode JSON or YAML."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import suppress
from datetime import date
from functools import cache, partial
from json.scanner import c_make_scanner  # type: ignore[attr-defined]
from math import isfinite
from typing import Any

from starlette.types import Receive

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Header, HeaderName
from haproxy_native.abandonment import check
from haproxy_native.check.run import memory
from haproxy_native.shares import Holding

DEEPEST = 64
# The limits in bytes if `max_body_size` is not set: of one object, of a list or section with its children or text, and of a file.
OBJECT_BYTES, WHOLE_BYTES, FILE_BYTES = 1_000_000, 50_000_000, 1_000_000_000
_memory = cache(memory)


async def pieces(receive: Receive, limit: int, seconds: float) -> AsyncIterator[bytes]:
    """Yield the pieces of a body as they arrive. `limit` is in bytes. 0 as `limit` or `seconds` means no limit.

    Raises ApiError: 413 if the body is too large, as soon as this is known; 408 if the body does not arrive in time; 400 if the client
    disconnects.
    """
    deadline = asyncio.get_running_loop().time() + seconds if seconds else None
    size, is_complete = 0, False
    while not is_complete:
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise ApiError(408, f"request body did not arrive within {seconds:g} seconds") from None
        if message["type"] == "http.disconnect":
            raise ApiError(400, "the client disconnected before its request was complete")
        piece, is_complete = message.get("body", b""), not message.get("more_body")
        size += len(piece)
        if limit and size > limit:
            raise too_large(limit)
        yield piece


async def read(receive: Receive, headers: Iterable[Header], limit: int, seconds: float, share: Holding | None = None) -> bytes:
    """Wait for the whole body and return it. `share` counts the bytes for the caller.

    Raises what `pieces` raises, and ShareExceeded if the bodies of the caller's concurrent requests are together too large.
    """
    announced = next((value for name, value in headers if name == b"content-length"), b"")
    if limit and announced.isdigit() and int(announced) > limit:
        raise too_large(limit)
    received, total = [], max(_memory() // 16, 4 * (limit or WHOLE_BYTES))
    async for piece in pieces(receive, limit, seconds):
        if share:
            share.add(len(piece), total)
        received.append(piece)
    return b"".join(received)


def too_large(limit: int) -> ApiError:
    return ApiError(413, f"request body exceeds the maximum allowed size of {limit} bytes, which the setting max_body_size changes")


def decode(data: bytes) -> Any:
    """Return the first JSON value of a body. Raises ApiError (400) and, for a large body in a thread, Abandoned.

    As in the Data Plane API, anything after the value is ignored, and the last of duplicate members takes precedence.
    """
    try:
        text = data.decode("utf-8").lstrip(" \t\r\n")
        value = _scan(text, 0, {})[0] if len(text) > _LARGE else _DECODER.raw_decode(text)[0]
    except StopIteration as error:
        raise _undecodable(str(json.JSONDecodeError("Expecting value", text, error.value))) from None
    except RecursionError:
        raise _undecodable(f"nested deeper than {DEEPEST} levels") from None
    except ValueError as error:
        raise _undecodable(str(error)) from None
    if data.count(b"[") + data.count(b"{") > DEEPEST and _is_nested_deeper(value, DEEPEST):
        raise _undecodable(f"nested deeper than {DEEPEST} levels")
    return value


def _undecodable(reason: str) -> ApiError:
    return ApiError(400, f"failed to decode request body: {reason}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_SCAN: Callable[[str, int], tuple[Any, int]] = c_make_scanner(_DECODER)
_ARRAY: Callable[..., tuple[Any, int]] = json.decoder.JSONArray  # type: ignore[attr-defined]
_OBJECT: Callable[..., tuple[Any, int]] = json.decoder.JSONObject  # type: ignore[attr-defined]
# The decoder in C blocks the event loop, even if a thread calls it. One call decodes at most _SCANNED characters of a container in a text
# of more than _LARGE characters. A smaller text is decoded in one call.
_SCANNED, _LARGE = 1 << 12, 1 << 18


def _scan(text: str, at: int, keys: dict[str, str]) -> tuple[Any, int]:
    """Return the value at the index `at`, and the index after the value, like `JSONDecoder.scan_once`. Raises Abandoned.

    A list or object that is longer than _SCANNED characters is decoded element by element.
    """
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


def _is_nested_deeper(value: Any, depth: int) -> bool:
    """Return whether lists and objects are nested deeper than `depth` levels."""
    level = [value]
    for _ in range(depth + 1):
        level = [
            inner for child in level if isinstance(child, dict | list) for inner in (child.values() if isinstance(child, dict) else child)
        ]
        if not level:
            return False
    return True


ACCEPT_PATCH = HeaderName(b"Accept-Patch")


def check_accept(accept: str, available: Collection[str]) -> None:
    """Raise ApiError (406) if an `Accept` header covers none of the available types. Weights (`q=`) are ignored."""
    if not accept.strip():
        return
    for range_ in (part.partition(";")[0].strip().lower() for part in accept.split(",")):
        if range_ in ("*/*", "*", *available):
            return
        if range_.endswith("/*") and any(kind.startswith(range_[:-1]) for kind in available):
            return
    raise ApiError(406, f"unsupported media type requested, only [{' '.join(sorted(available))}] are available")


def check_content_type(sent: str, accepted: Collection[str], *, patch: bool = False) -> None:
    """Raise ApiError (415) unless the type of the body is accepted. The message names the header to send.

    With `patch`, the response lists the accepted types in `Accept-Patch`.
    """
    if sent.partition(";")[0].strip().lower() in accepted:
        return
    shown = sent.partition(";")[0] if any(kind.startswith("multipart/") for kind in accepted) else sent
    remedy = " or ".join(f"Content-Type: {kind}" for kind in sorted(accepted))
    headers = [(ACCEPT_PATCH, ", ".join(sorted(accepted)).encode())] if patch else []
    raise ApiError(415, f'header Content-Type has unexpected value "{shown}"; send {remedy}', headers=headers)


def check_content_encoding(sent: str) -> None:
    """Raise ApiError (415) for a compressed body, because the server does not decompress."""
    if sent.strip().lower() not in ("", "identity"):
        raise ApiError(415, f'header Content-Encoding has unexpected value "{sent}"; send the body uncompressed, without this header')


def preferred(accept: str, available: Collection[str]) -> str:
    """Return the first type in an `Accept` header that is in `available`. If there is none, return the first type in `available`."""
    ranges = (part.partition(";")[0].strip().lower() for part in accept.split(","))
    return next((range_ for range_ in ranges if range_ in available), next(iter(available)))


YAML_TYPE = "application/yaml"
MERGE = "tag:yaml.org,2002:merge"
# The largest YAML body in bytes. Parsing a megabyte takes up to 15 s and 300 MB of memory.
LARGEST = OBJECT_BYTES
# The most values in a YAML body, in which each use of an alias counts, and the most members that merge keys (`<<`) add to mappings.
MOST, MOST_MERGED = 2_000_000, 100_000
_INT64 = 1 << 63
# Exceptions, besides YAMLError, that ruamel raises for a value that does not match its explicit tag, such as `!!bool x`.
_TAG_ERRORS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def of_yaml(data: bytes) -> Any:
    """Decode a body of YAML 1.2 to JSON values. Raises ApiError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.composer import MaxDepthExceededError
    from ruamel.yaml.error import YAMLError

    if len(data) > LARGEST:
        raise ApiError(
            413, f"the YAML exceeds the maximum allowed size of {LARGEST} bytes; send JSON, whose limit is the setting max_body_size"
        )
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor, yaml.max_depth = _constructor(), DEEPEST
    try:
        value = yaml.load(data.decode())
    except MaxDepthExceededError:
        raise ApiError(400, f"the YAML cannot be read: nested deeper than {DEEPEST} levels") from None
    except (YAMLError, *_TAG_ERRORS) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise ApiError(400, f"the YAML cannot be read: {where}{getattr(error, 'problem', None) or error}") from None
    return _json_value(value, [0], 0)


@cache
def _constructor() -> Any:
    """Return ruamel's safe constructor with a limit on merged members.

    Without the limit, a few lines of nested merges would fill the memory.
    """
    from ruamel.yaml.constructor import ConstructorError, SafeConstructor
    from ruamel.yaml.nodes import MappingNode, ScalarNode

    class Constructor(SafeConstructor):
        def __init__(self, *arguments: Any, **keywords: Any) -> None:
            super().__init__(*arguments, **keywords)
            self._flat, self._merged = set[int](), 0

        def flatten_mapping(self, node: Any) -> None:
            if id(node) in self._flat:
                return
            self._flat.add(id(node))
            for key, value in list(node.value):
                if not isinstance(key, ScalarNode):
                    raise ConstructorError(None, None, "a key is a list or a mapping", key.start_mark)
                for merged in [value, *value.value] if key.tag == MERGE else ():
                    if isinstance(merged, MappingNode):
                        self.flatten_mapping(merged)
                        self._merged += len(merged.value)
                    if self._merged > MOST_MERGED:
                        raise ConstructorError(None, None, f"more than {MOST_MERGED} members are merged", merged.start_mark)
            super().flatten_mapping(node)

    return Constructor


def _json_value(value: Any, counted: list[int], depth: int) -> Any:
    """Return a YAML value as a JSON value. `counted` is a list of one element: the number of values so far, which is increased.

    Raises ApiError (422) for a value that JSON lacks, and if aliases expand to too many values.
    """
    counted[0] += 1
    if counted[0] > MOST or depth > DEEPEST:
        raise ApiError(422, f"the YAML has more than {MOST} values, or more than {DEEPEST} levels")
    if isinstance(value, dict):
        return {str(_scalar(name)): _json_value(each, counted, depth + 1) for name, each in value.items()}
    if isinstance(value, list):
        return [_json_value(element, counted, depth + 1) for element in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        raise ApiError(422, "an integer in body has more than 64 bits; put it in quotes")
    if isinstance(value, float) and not isfinite(value):
        raise ApiError(422, f"{value} in body is not a JSON number; put it in quotes")
    if not isinstance(value, str | int | float | None):
        shown = repr(str(value)) if isinstance(value, date) else "a value"
        raise ApiError(422, f"{shown} in body is a {type(value).__name__}; put it in quotes")
    return value
