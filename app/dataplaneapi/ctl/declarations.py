"""What is declared, from files, directories and standard input: one body with its media type."""

import hashlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from dataplaneapi.ctl import formats
from dataplaneapi.ctl.client import JSON, TEXT, YAML
from dataplaneapi.ctl.failures import Failure

KINDS = {".json": JSON, ".yaml": YAML, ".yml": YAML, ".cfg": TEXT}
# Directories of stored files, with the names that they have as parts of a form; elsewhere the end of a name says what a file is.
DIRECTORIES = {
    "maps": "maps",
    "certificates": "ssl_certificates",
    "crt_lists": "ssl_crt_lists",
    "general": "general",
    "acl_files": "acls",
}
ENDINGS = {".map": "maps", ".pem": "ssl_certificates"}
# Files that are something, and do not say what.
STORED = (".crt", ".key", ".lst", ".acl", ".http")
FORM = "multipart/form-data; boundary="


def read(names: list[str]) -> tuple[bytes, str]:
    """The body of all of them together and its media type. Raises Failure."""
    every = [piece for name in names for piece in _pieces(name)]
    stored = [(kind, os.path.basename(name), data) for name, data, kind in every if kind in DIRECTORIES.values()]
    body, kind = _declared([piece for piece in every if piece[2] in KINDS.values()])
    return _form(body, kind, stored) if stored else (body, kind)


def _declared(found: list[tuple[str, bytes, str]]) -> tuple[bytes, str]:
    if len(found) == 1:
        return found[0][1:]
    kinds = {kind for _, _, kind in found}
    if kinds == {TEXT}:
        return b"\n".join(data.rstrip(b"\n") + b"\n" for _, data, _ in found), TEXT
    if TEXT in kinds:
        raise Failure("parts of a configuration (.cfg) and objects (.yaml, .json) cannot be declared in one call; one owner each can")
    return formats.to_json(_merged(found)).encode(), JSON


def _form(body: bytes, kind: str, stored: list[tuple[str, str, bytes]]) -> tuple[bytes, str]:
    """The same for the same parts: the server and `ctl follow` know by it what has been applied."""
    ending = next(ending for ending, kind_ in KINDS.items() if kind_ == kind)
    parts = [*([("configuration", f"declared{ending}", body)] if body else []), *stored]
    boundary = hashlib.sha256(b"".join(data for _, _, data in parts)).hexdigest()[:32]
    lines = []
    for part, name, data in parts:
        # As browsers write it.
        quoted = name.replace("%", "%25").replace('"', "%22")
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{part}"; filename="{quoted}"\r\n\r\n'
        lines += [head.encode(), data, b"\r\n"]
    return b"".join([*lines, f"--{boundary}--\r\n".encode()]), f"{FORM}{boundary}"


def _pieces(name: str) -> Iterator[tuple[str, bytes, str]]:
    """Name, content, and media type, or the part of a form that a stored file is."""
    if name == "-":
        data = sys.stdin.buffer.read()
        yield "standard input", data, guessed(data)
    elif os.path.isdir(name):
        files = list(_declaring(name))
        if not files:
            raise Failure(f"{name} has no .yaml, .json or .cfg file, and no stored ones")
        for file, kind in files:
            yield file, _read(file), kind
    else:
        data = _read(name)
        yield name, data, _kind(name) or guessed(data)


def _declaring(directory: str) -> Iterator[tuple[str, str]]:
    """The files in it that declare something, by name, those of its directories with them; each with its kind."""
    for above, below, names in os.walk(directory):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            if name.startswith(".") or name.endswith("~"):
                continue
            if kind := _kind(os.path.join(above, name), "" if above == directory else os.path.basename(above)):
                yield os.path.join(above, name), kind


def _kind(file: str, above: str = "") -> str:
    """Its media type, or the part of a form; empty for what declares nothing. Raises Failure for a file of which it is not known.

    `above`: the name of its directory, within one that was named.
    """
    ending = os.path.splitext(file)[1]
    if ending in STORED and above not in DIRECTORIES:
        raise Failure(f"{file}: is a stored file, and its directory does not say of which kind; name that one of {', '.join(DIRECTORIES)}")
    return DIRECTORIES.get(above) or ENDINGS.get(ending) or KINDS.get(ending, "")


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
        parsed = formats.parse_json(data, name) if kind == JSON else formats.parse_yaml(data.decode("utf-8", "replace"), name)
        if not isinstance(parsed, dict):
            raise Failure(f"{name}: objects by their collections are expected, as in backends: [...]")
        for collection, value in parsed.items():
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
