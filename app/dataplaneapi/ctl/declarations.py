"""What is declared, from files, directories and standard input: one body with its media type."""

import os
import sys
from collections.abc import Iterator
from typing import Any

from dataplaneapi.ctl import formats
from dataplaneapi.ctl.client import JSON, TEXT, YAML
from dataplaneapi.ctl.failures import Failure

KINDS = {".json": JSON, ".yaml": YAML, ".yml": YAML, ".cfg": TEXT}
# Stored files, which a declaration cannot hold.
STORED = (".map", ".pem", ".crt", ".key", ".lst", ".acl")


def read(names: list[str]) -> tuple[bytes, str]:
    """The body of all of them together and its media type. Raises Failure."""
    found = [piece for name in names for piece in _pieces(name)]
    if len(found) == 1:
        return found[0][1:]
    kinds = {kind for _, _, kind in found}
    if kinds == {TEXT}:
        return b"\n".join(data.rstrip(b"\n") + b"\n" for _, data, _ in found), TEXT
    if TEXT in kinds:
        raise Failure("parts of a configuration (.cfg) and objects (.yaml, .json) cannot be declared in one call; one owner each can")
    return formats.to_json(_merged(found)).encode(), JSON


def _pieces(name: str) -> Iterator[tuple[str, bytes, str]]:
    if name == "-":
        data = sys.stdin.buffer.read()
        yield "standard input", data, guessed(data)
    elif os.path.isdir(name):
        files = list(_declaring(name))
        if not files:
            raise Failure(f"{name} has no .yaml, .json or .cfg file")
        for file in files:
            yield file, _read(file), KINDS[os.path.splitext(file)[1]]
    else:
        data = _read(name)
        yield name, data, KINDS.get(os.path.splitext(name)[1]) or guessed(data)


def _declaring(directory: str) -> Iterator[str]:
    """The files in it that declare something, by name, those of its directories with them."""
    for above, below, names in os.walk(directory):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            ending = os.path.splitext(name)[1]
            if name.startswith(".") or name.endswith("~"):
                continue
            if ending in STORED:
                raise Failure(f"{os.path.join(above, name)}: stored files cannot be applied; PUT .../storage/... takes them (ctl call)")
            if ending in KINDS:
                yield os.path.join(above, name)


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as error:
        raise Failure(f"{file}: {error.strerror}") from None


def guessed(data: bytes) -> str:
    """The media type of what has no name, by its first line."""
    for line in data.decode("utf-8", "replace").splitlines():
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("{"):
            return JSON
        return YAML if text == "---" or text.partition(" ")[0].endswith(":") else TEXT
    return TEXT


def _merged(pieces: list[tuple[str, bytes, str]]) -> dict[str, Any]:
    """Lists of one collection together. Raises Failure for what can stand in one file only."""
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for name, data, kind in pieces:
        found = formats.parse_json(data, name) if kind == JSON else formats.parse_yaml(data.decode("utf-8", "replace"), name)
        if not isinstance(found, dict):
            raise Failure(f"{name}: objects by their collections are expected, as in backends: [...]")
        for collection, value in found.items():
            if isinstance(value, list):
                if not isinstance(merged.setdefault(collection, []), list):
                    raise Failure(f"{name}: {collection} is a list, and none in {origin[collection]}")
                merged[collection] += value
            elif collection in merged:
                raise Failure(f"{name}: {collection} is in {origin[collection]}, too")
            else:
                merged[collection] = value
            origin.setdefault(collection, name)
    return merged
