"""Stored files in declarations: maps with entries, other files with their content, and the parts of a form."""

from collections.abc import Mapping
from typing import Any

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.set_body import CONFIGURATION
from dataplaneapi.api.upload import Part, Parts, boundary
from dataplaneapi.open_engine import STORES
from haproxy_native.beside import LARGE
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BadValue, Exists, NativeError
from haproxy_native.features.apply.files import COLLECTIONS, MAP, entries_of
from haproxy_native.features.apply.rules import DeclaredFile
from haproxy_native.storage import names
from haproxy_native.storage.map_file import check_value
from haproxy_native.storage.store import Store
from haproxy_native.storage.stores import KINDS


def declared_file(stores: Mapping[str, Store], kind: str, body: Any) -> tuple[str, DeclaredFile]:
    """A file of a collection, with its object. Raises ApiError."""
    collection, member = COLLECTIONS[kind], "entries" if kind == MAP else "content"
    if not isinstance(body, dict) or not isinstance(body.get("name"), str):
        raise ApiError(422, f"{collection} in body holds objects with a name, as in {{name: one, {member}: ...}}")
    about = f"{collection}, {body['name'][:64]!r}"
    if unknown := [key for key in body if key not in ("name", member)]:
        raise ApiError(422, f"{about}: {str(unknown[0])[:64]} in body is unknown; it has name and {member}")
    object_ = _object(stores, kind, body["name"], about)
    if kind == MAP:
        return object_, DeclaredFile(entries=_entries(body.get(member), about))
    if not isinstance(content := body.get(member), str):
        raise ApiError(422, f"{about}: content in body is required, the file as text")
    return object_, DeclaredFile(content.encode("utf-8", "surrogateescape"))


def _entries(rows: Any, about: str) -> dict[str, str]:
    if not isinstance(rows, list):
        raise ApiError(422, f"{about}: entries in body is a list, as in [{{key: example.com, value: shop}}]")
    values_by_key: dict[str, str] = {}
    for row in rows:
        if not isinstance(row, dict) or set(row) != {"key", "value"} or not all(isinstance(value, str) for value in row.values()):
            raise ApiError(422, f"{about}: {str(row)[:64]} in entries is no entry: it has key and value, both texts")
        if row["key"] in values_by_key:
            raise ApiError(422, f"{about}: the key {row['key'][:64]!r} is declared twice")
        try:
            check_value(row["value"])
        except BadValue as error:
            raise ApiError(422, f"{about}: {error.detail}") from None
        values_by_key[row["key"]] = row["value"]
    return values_by_key


def _object(stores: Mapping[str, Store], kind: str, name: str, about: str) -> str:
    store = next((store for store in stores.values() if store.kind == kind), None)
    if store is None:
        setting = STORES[next(kind_ for kind_, made in KINDS.items() if made.kind == kind)]
        raise ApiError(422, f"{about}: there is no directory for these files: set dataplaneapi.resources.{setting}")
    if not names.is_element(name):
        raise ApiError(422, f"{about}: the name is no name of a file, send the last part of it")
    try:
        return spelled(kind, store.place(name).name)
    except Exists as error:
        raise ApiError(409, f"{about}: {error}") from None
    except NativeError as error:
        raise ApiError(422, f"{about}: {error}") from None


def form_parts(data: bytes, kind: str) -> list[tuple[Part, bytes]]:
    """The parts of a form that has arrived. Raises ApiError."""
    form, parts = Parts(_nothing, 0, 0, boundary(kind)), list[tuple[Part, list[bytes]]]()
    for start in range(0, len(data), LARGE):
        for each in form.parsed(data[start : start + LARGE]):
            if isinstance(each, Part):
                parts.append((each, []))
            else:
                parts[-1][1].append(each)
    form.check_ended()
    if not parts:
        raise ApiError(400, f"the form has no part; send {', '.join((CONFIGURATION, *STORES))}")
    return [(part, b"".join(pieces)) for part, pieces in parts]


async def _nothing() -> Any:
    """There is nothing more to receive."""
    return {"type": "http.disconnect"}


def sent_file(stores: Mapping[str, Store], part: Part, content: bytes) -> tuple[str, DeclaredFile]:
    """A file that is a part of a form, with its object. Raises ApiError."""
    about = f"part {part.name}" + (f", {part.file}" if part.file else "")
    if part.name not in STORES:
        raise ApiError(400, f"{about}: unknown, send {', '.join((CONFIGURATION, *STORES))}")
    if not part.file:
        raise ApiError(400, f"{about}: no file name: each of these parts needs one")
    kind = KINDS[part.name].kind
    return _object(stores, kind, part.file, about), DeclaredFile(content, entries_of(content) if kind == MAP else None)
