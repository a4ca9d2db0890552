"""Parse a request body into a declaration.

The body is JSON or YAML with collections of objects and stored files, or sections in the syntax of `haproxy.cfg`, or a multipart form. A
form has a body in one of the other formats as one of its parts, and stored files as its other parts.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from typing import Annotated, Any

from fastapi import Depends

from dataplaneapi.api import bodies, ignored
from dataplaneapi.api.bodies import YAML_TYPE, check_content_encoding, check_content_type, of_yaml
from dataplaneapi.api.call import Arriving, Call, read_call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.upload import CONFIGURATION, MULTIPART, Part, Parts, boundary
from dataplaneapi.api.validation import validated
from dataplaneapi.did_you_mean import nearest
from dataplaneapi.open_engine import STORES
from haproxy_native.editing.object_names import spelled
from haproxy_native.editing.resources import Resource
from haproxy_native.editing.secrets import refuse_masked, refuse_masked_text
from haproxy_native.errors import BadRequest, BadValue, Exists, Missing, NativeError
from haproxy_native.features.apply.files import COLLECTIONS, MAP, entries_of
from haproxy_native.features.apply.rules import DeclaredFile, Section
from haproxy_native.features.apply.sections import collections, of_objects, of_text
from haproxy_native.storage.list_files import check_map_value
from haproxy_native.storage.store import Store, is_file_name
from haproxy_native.storage.stores import KINDS
from haproxy_native.text.section import Section as TextSection
from haproxy_native.threads import LARGE, run_in_thread

UNOWNED = "unowned"
JSON, TEXT = "application/json", "text/plain"
# The media type of the part `configuration` in a form, by its file extension.
_TYPES = {".json": JSON, ".yaml": YAML_TYPE, ".yml": YAML_TYPE}


@dataclass(frozen=True)
class Declared:
    """The sections and files that a request body declares."""

    sections: Mapping[Section, dict[str, Any]]
    # The names of members that the owner leaves to others.
    unowned: frozenset[str]
    # The declared sections as they will be written.
    texts: Mapping[Section, TextSection]
    # The files by object name, such as `map/hosts.map`.
    files: Mapping[str, DeclaredFile] = field(default_factory=dict)


@dataclass(frozen=True)
class Sent:
    """A request body that is not parsed yet. `kind`: its Content-Type."""

    kind: str
    data: bytes = field(repr=False)

    def digest(self, options: Mapping[str, Any]) -> str:
        """Return a digest of the body, its Content-Type, and the query parameters `options`."""
        head = json.dumps([self.kind, options], sort_keys=True).encode("utf-8", "backslashreplace")
        digest = hashlib.sha256(head + b"\0")
        digest.update(self.data)
        return digest.hexdigest()


async def declared_call(incoming: Arriving) -> Call:
    """Read the request and return its call. The body of the call is a `Sent`, or is missing if the call carries out a stored plan.

    Raises ApiError.
    """
    call = await read_call(incoming)
    assert call.operation.body is not None
    limit = call.services.settings.max_body_size
    data = await incoming.body(bodies.WHOLE_BYTES if limit is None else limit)
    if call.query.plan:
        if data:
            raise ApiError(400, "plan in query stands for the body of the planned call: send the plan or a body, not both")
        return call
    kind = incoming.header(b"content-type")
    check_content_encoding(incoming.header(b"content-encoding"))
    check_content_type(kind, call.operation.body.media_types)
    return replace(call, body=Sent(kind, data))


DeclaredCall = Annotated[Call, Depends(declared_call)]


def check_members(call: Call, names: Collection[str], source: str) -> None:
    """Raise ApiError if no object has a member with one of the names, for example because of a typing error.

    `names`: the members that the owner leaves to others. `source`: "body" or "query", where the client has listed them.
    """
    if not names:
        return
    resources, schemas = call.services.editor.resources, call.services.schemas
    sections = collections(call.services.editor).values()
    children = (child for section in sections for _, child in resources.children(section.name))
    known = {member for each in (*sections, *children) for member in schemas.resolve(_reference(each)).get("properties", ())}
    if unknown := [name for name in names if name not in known]:
        likely = nearest(unknown[0], known)
        raise ApiError(422, f"{UNOWNED} in {source}: no object has {unknown[0][:64]!r}" + (f'; did you mean "{likely}"?' if likely else ""))


def _reference(resource: Resource) -> Mapping[str, str]:
    return {"$ref": f"#/components/schemas/{resource.schema}"}


async def parse_body(call: Call, sent: Sent) -> Declared:
    """Parse a request body in a thread. Raises ApiError."""
    kind, data = sent.kind, sent.data
    media_type = kind.partition(";")[0].strip().lower()
    if media_type != MULTIPART:
        return await _parse_in_thread(call, data, media_type)
    text, text_type, files, parts = b"{}", JSON, dict[str, DeclaredFile](), await run_in_thread(form_parts, data, kind)
    if sum(part.name == CONFIGURATION for part, _ in parts) > 1:
        raise ApiError(400, f"part {CONFIGURATION}: sent twice; send all declared sections in one part")
    for part, content in parts:
        if part.name == CONFIGURATION:
            text, text_type = content, _TYPES.get(PurePath(part.file or "").suffix, TEXT)
        else:
            _add_file(files, *await run_in_thread(sent_file, call.services.engine.stores, part, content))
    declaration = await _parse_in_thread(call, text, text_type)
    for object_, file in declaration.files.items():
        _add_file(files, object_, file)
    return replace(declaration, files=files)


def _add_file(files: dict[str, DeclaredFile], object_: str, file: DeclaredFile) -> None:
    if object_ in files:
        raise ApiError(422, f"{object_} is declared twice")
    files[object_] = file


async def _parse_in_thread(call: Call, data: bytes, kind: str) -> Declared:
    try:
        return await run_in_thread(_parse, call, data, kind)
    except BadRequest as error:
        raise ApiError(422, str(error)) from None


def _parse(call: Call, data: bytes, kind: str) -> Declared:
    """Parse a body that is not a form. `kind`: its media type. Blocks. Raises ApiError and BadRequest."""
    editor = call.services.editor
    if kind == TEXT:
        refuse_masked_text(data)
        sections, texts = of_text(editor, data)
        return Declared(sections, frozenset(), texts)
    value = of_yaml(data) if kind == YAML_TYPE else bodies.decode(data)
    if not isinstance(value, dict):
        raise ApiError(422, "a declaration is an object of collections, as in {backends: [{name: shop}]}")
    unowned = value.pop(UNOWNED, [])
    if not isinstance(unowned, list) or not all(isinstance(each, str) for each in unowned):
        raise ApiError(422, f"{UNOWNED} in body is a list of members, as in [weight, maintenance]")
    check_members(call, unowned, "body")
    files, known = dict[str, DeclaredFile](), collections(editor)
    # A collection may also be named as in its path, such as `peer_section` for `peers`.
    resources = call.services.bundle["x-resources"]
    name_of_path = {resources[name]["path"]: name for name in known if "path" in resources[name]}
    if twice := [path for path, name in name_of_path.items() if path in value and name in value]:
        raise ApiError(422, f"{twice[0]} in body is another name of {name_of_path[twice[0]]}, which is in body too; use only one of them")
    value = {name_of_path.get(key, key): objects for key, objects in value.items()}
    for kind_, collection in COLLECTIONS.items():
        for body in _objects_in("section", collection, value.pop(collection, [])):
            _add_file(files, *declared_file(call.services.engine.stores, kind_, body))
    for name in value:
        if name not in known:
            every = [*known, *COLLECTIONS.values()]
            likely = nearest(str(name), every)
            hint = f'did you mean "{likely}"?' if likely else f"expected one of {', '.join(every)}"
            raise ApiError(422, f"{str(name)[:64]} in body is not a collection; {hint}")
    if b"masked" in data:
        refuse_masked(value, {"properties": {name: {"type": "array", "items": _reference(known[name])} for name in value}})
    objects = [(known[name], _validate(call, name, body)) for name in value for body in _objects_in(known[name].kind, name, value[name])]
    sections, texts = of_objects(editor, objects, call.services.engine.document)
    return Declared(sections, frozenset(unowned), texts, files)


def _objects_in(kind: str, name: str, value: Any) -> Iterator[Any]:
    """Yield the objects that a collection declares. `kind`: the kind of the collection. `name`: its name.

    Raises ApiError if `value` is not a list, unless `kind` is "singleton".
    """
    if kind == "singleton":
        yield value
        return
    if not isinstance(value, list):
        raise ApiError(422, f"{name} in body is a list of objects, as in {name}: [{{name: one}}]")
    yield from value


def _validate(call: Call, collection: str, body: Any) -> Any:
    """Validate an object of a collection and return the object. Raises ApiError if it is invalid or has unknown members."""
    if not isinstance(body, dict):
        raise ApiError(422, f"{collection} in body must contain objects, not {str(body)[:64]!r}")
    editor, document = call.services.editor, call.services.engine.document
    resource = editor.resources[collection]

    def existing_object() -> Any:
        try:
            return editor.get_object(document, resource, None, str(body.get(resource.key) or ""), full=True)
        except Missing:
            return None

    try:
        unknown = partial(ignored.members, embedded=(), strict=True, headers=[])
        named = _with_child_names(call, resource, body)
        return validated(named, _reference(resource), call.services.schemas, unknown=unknown, present=existing_object)
    except ApiError as error:
        raise ApiError(422, f"{collection}, {str(body.get('name', ''))[:64]!r}: {error.message}") from None


def _with_child_names(call: Call, resource: Resource, body: dict[str, Any]) -> dict[str, Any]:
    """Return the body with a name in each child: its key in the map of children. Raises ApiError if a child has another name."""
    named = dict(body)
    for member, child in call.services.editor.resources.children(resource.name):
        rows = body.get(member)
        if child.kind != "named" or not isinstance(rows, dict):
            continue
        for name, row in rows.items():
            if isinstance(row, dict) and row.get(child.key, name) != name:
                raise ApiError(422, f"{member}.{name[:64]}: its {child.key} is {str(row[child.key])[:64]!r}; both must be the same")
        named[member] = {name: {child.key: name, **row} if isinstance(row, dict) else row for name, row in rows.items()}
    return named


def declared_file(stores: Mapping[str, Store], kind: str, body: Any) -> tuple[str, DeclaredFile]:
    """Return (object name, content) of a stored file that is declared as an object of a collection. Raises ApiError."""
    collection, member = COLLECTIONS[kind], "entries" if kind == MAP else "content"
    if not isinstance(body, dict) or not isinstance(body.get("name"), str):
        raise ApiError(422, f"{collection} in body must contain objects with a name, as in {{name: one, {member}: ...}}")
    about = f"{collection}, {body['name'][:64]!r}"
    if unknown := [key for key in body if key not in ("name", member)]:
        raise ApiError(422, f"{about}: {str(unknown[0])[:64]} in body is unknown; expected name and {member}")
    object_ = _file_object(stores, kind, body["name"], about)
    if kind == MAP:
        return object_, DeclaredFile(entries=_parse_entries(body.get(member), about))
    if not isinstance(content := body.get(member), str):
        raise ApiError(422, f"{about}: content in body is required, the file as text")
    return object_, DeclaredFile(content.encode("utf-8", "surrogateescape"))


def _parse_entries(rows: Any, about: str) -> dict[str, str]:
    """Return the declared entries of a map, by key. `about`: the beginning of error messages. Raises ApiError."""
    if not isinstance(rows, list):
        raise ApiError(422, f"{about}: entries in body is a list, as in [{{key: example.com, value: shop}}]")
    values_by_key: dict[str, str] = {}
    for row in rows:
        if not isinstance(row, dict) or set(row) != {"key", "value"} or not all(isinstance(value, str) for value in row.values()):
            raise ApiError(422, f"{about}: {str(row)[:64]} in entries is not an entry, which has key and value, both texts")
        if row["key"] in values_by_key:
            raise ApiError(422, f"{about}: the key {row['key'][:64]!r} is declared twice")
        try:
            check_map_value(row["value"])
        except BadValue as error:
            raise ApiError(422, f"{about}: {error.detail}") from None
        values_by_key[row["key"]] = row["value"]
    return values_by_key


def _file_object(stores: Mapping[str, Store], kind: str, name: str, about: str) -> str:
    """Return the object name of the stored file `name`. `about`: the beginning of error messages. Raises ApiError."""
    store = next((store for store in stores.values() if store.kind == kind), None)
    if store is None:
        setting = STORES[next(kind_ for kind_, made in KINDS.items() if made.kind == kind)]
        raise ApiError(422, f"{about}: there is no directory for these files: set dataplaneapi.resources.{setting}")
    if not is_file_name(name):
        raise ApiError(422, f"{about}: the name is not a file name; send only its last part")
    try:
        return spelled(kind, store.path_for(name).name)
    except Exists as error:
        raise ApiError(409, f"{about}: {error}") from None
    except NativeError as error:
        raise ApiError(422, f"{about}: {error}") from None


def form_parts(data: bytes, kind: str) -> list[tuple[Part, bytes]]:
    """Return (part, content) of each part of a form. `kind`: the Content-Type of the form. Blocks. Raises ApiError."""

    async def receive() -> dict[str, str]:
        # The whole form is in `data`, so the parser has nothing to wait for.
        return {"type": "http.disconnect"}

    form, parts = Parts(receive, 0, 0, boundary(kind)), list[tuple[Part, list[bytes]]]()
    for start in range(0, len(data), LARGE):
        for each in form.parse(data[start : start + LARGE]):
            if isinstance(each, Part):
                parts.append((each, []))
            else:
                parts[-1][1].append(each)
    form.check_ended()
    if not parts:
        raise ApiError(400, f"the form has no part; send {', '.join((CONFIGURATION, *STORES))}")
    return [(part, b"".join(pieces)) for part, pieces in parts]


def sent_file(stores: Mapping[str, Store], part: Part, content: bytes) -> tuple[str, DeclaredFile]:
    """Return (object name, content) of a stored file that is sent as a part of a form. Raises ApiError."""
    about = f"part {part.name}" + (f", {part.file}" if part.file else "")
    if part.name not in STORES:
        raise ApiError(400, f"{about}: unknown, send {', '.join((CONFIGURATION, *STORES))}")
    if not part.file:
        raise ApiError(400, f"{about}: no file name: each of these parts needs one")
    kind = KINDS[part.name].kind
    return _file_object(stores, kind, part.file, about), DeclaredFile(content, entries_of(content) if kind == MAP else None)
