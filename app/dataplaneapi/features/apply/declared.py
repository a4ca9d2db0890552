"""Declarations as bodies: objects of the API and stored files in JSON or YAML, by their collections; a part of a configuration; a form."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from typing import Annotated, Any

from fastapi import Depends

from dataplaneapi.api import bodies, ignored
from dataplaneapi.api.bodies import YAML_TYPE, check_content_encoding, check_content_type, of_yaml
from dataplaneapi.api.call import Arriving, Call, read_call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.set_body import CONFIGURATION
from dataplaneapi.api.upload import MULTIPART
from dataplaneapi.api.validation import validated
from dataplaneapi.did_you_mean import nearest
from dataplaneapi.features.apply.declared_files import declared_file, form_parts, sent_file
from haproxy_native.beside import beside
from haproxy_native.editing.resources import Resource
from haproxy_native.editing.secrets import refuse_masked, refuse_masked_text
from haproxy_native.errors import BadRequest, Missing
from haproxy_native.features.apply.files import COLLECTIONS
from haproxy_native.features.apply.fragment import collections, of_objects, of_text
from haproxy_native.features.apply.rules import DeclaredFile, Section
from haproxy_native.text.section import Section as TextSection

UNOWNED = "unowned"
JSON, TEXT = "application/json", "text/plain"
# Of a form's configuration, by the end of its file name.
_TYPES = {".json": JSON, ".yaml": YAML_TYPE, ".yml": YAML_TYPE}


@dataclass(frozen=True)
class Declared:
    """`sections`: whole objects; `unowned`: members that the body leaves to others; `texts`: sections as they will be written.

    `files` by their objects.
    """

    sections: Mapping[Section, dict[str, Any]]
    unowned: frozenset[str]
    texts: Mapping[Section, TextSection]
    files: Mapping[str, DeclaredFile] = field(default_factory=dict)


@dataclass(frozen=True)
class Sent:
    """A body as it was sent, of the media type `kind`."""

    kind: str
    data: bytes = field(repr=False)

    def digest(self, options: Mapping[str, Any]) -> str:
        """Returns a digest of the body and of the parameters that it was sent with."""
        known = json.dumps([self.kind, options], sort_keys=True).encode("utf-8", "backslashreplace")
        found = hashlib.sha256(known + b"\0")
        found.update(self.data)
        return found.hexdigest()


async def declared_call(incoming: Arriving) -> Call:
    """A call whose body is Sent, None where it names a plan. Raises ApiError."""
    call = await read_call(incoming)
    assert call.operation.body is not None
    limit = call.services.settings.max_body_size
    data = await incoming.body(bodies.WHOLE_BYTES if limit is None else limit)
    if call.query.plan:
        if data:
            raise ApiError(400, "plan in query stands for the body that it was made of; send one of the two")
        return call
    kind = incoming.header(b"content-type")
    check_content_encoding(incoming.header(b"content-encoding"))
    check_content_type(kind, call.operation.body.media_types)
    call.body = Sent(kind, data)
    return call


DeclaredCall = Annotated[Call, Depends(declared_call)]


def check_members(call: Call, names: Iterable[str], place: str) -> None:
    """Raises ApiError for what no object has: it would silently not be left to others."""
    unknown = [each for each in names if each not in (known := _members(call))]
    if unknown:
        likely = nearest(unknown[0], known)
        raise ApiError(422, f"{UNOWNED} in {place}: no object has {unknown[0][:64]!r}" + (f'; did you mean "{likely}"?' if likely else ""))


def _members(call: Call) -> set[str]:
    resources, schemas = call.services.editor.resources, call.services.schemas
    sections = collections(call.services.editor).values()
    children = (child for section in sections for _, child in resources.children(section.name))
    return {member for each in (*sections, *children) for member in schemas.resolve(_reference(each)).get("properties", ())}


def _reference(resource: Resource) -> Mapping[str, str]:
    return {"$ref": f"#/components/schemas/{resource.schema}"}


async def declared(call: Call, sent: Sent) -> Declared:
    """Raises ApiError, and BadRequest for what cannot be owned."""
    kind, data = sent.kind, sent.data
    media_type = kind.partition(";")[0].strip().lower()
    if media_type != MULTIPART:
        return await _declared(call, data, media_type)
    text, text_type, files, parts = b"{}", JSON, dict[str, DeclaredFile](), await beside(form_parts, data, kind)
    if sum(part.name == CONFIGURATION for part, _ in parts) > 1:
        raise ApiError(400, f"part {CONFIGURATION}: sent twice; it holds all that is declared")
    for part, content in parts:
        if part.name == CONFIGURATION:
            text, text_type = content, _TYPES.get(PurePath(part.file or "").suffix, TEXT)
        else:
            _add(files, *await beside(sent_file, call.services.engine.stores, part, content))
    declaration = await _declared(call, text, text_type)
    for object_, file in declaration.files.items():
        _add(files, object_, file)
    return replace(declaration, files=files)


def _add(files: dict[str, DeclaredFile], object_: str, file: DeclaredFile) -> None:
    if object_ in files:
        raise ApiError(422, f"{object_} is declared twice")
    files[object_] = file


async def _declared(call: Call, data: bytes, kind: str) -> Declared:
    try:
        return await beside(_understood, call, data, kind)
    except BadRequest as error:
        raise ApiError(422, str(error)) from None


def _understood(call: Call, data: bytes, kind: str) -> Declared:
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
    value = _by_collections(call, value)
    for kind_, collection in COLLECTIONS.items():
        for body in _bodies("section", collection, value.pop(collection, [])):
            _add(files, *declared_file(call.services.engine.stores, kind_, body))
    for name in value:
        if name not in known:
            every = [*known, *COLLECTIONS.values()]
            likely = nearest(str(name), every)
            hint = f'did you mean "{likely}"?' if likely else f"they are {', '.join(every)}"
            raise ApiError(422, f"{str(name)[:64]} in body is no collection; {hint}")
    if b"masked" in data:
        refuse_masked(value, {"properties": {name: {"type": "array", "items": _reference(known[name])} for name in value}})
    objects = [(known[name], _validated(call, name, body)) for name in value for body in _bodies(known[name].kind, name, value[name])]
    sections, texts = of_objects(editor, objects, call.services.engine.document)
    return Declared(sections, frozenset(unowned), texts, files)


def _by_collections(call: Call, value: dict[str, Any]) -> dict[str, Any]:
    """Where the path of a collection is another word, as peer_section is for peers, that is taken as well."""
    rows = call.services.bundle["x-resources"]
    names = {rows[name]["path"]: name for name in collections(call.services.editor) if "path" in rows[name]}
    if twice := [path for path, name in names.items() if path in value and name in value]:
        raise ApiError(422, f"{twice[0]} in body is {names[twice[0]]} once more; declare all of it under one of the two")
    return {names.get(each, each): found for each, found in value.items()}


def _bodies(kind: str, name: str, value: Any) -> Iterator[Any]:
    if kind == "singleton":
        yield value
        return
    if not isinstance(value, list):
        raise ApiError(422, f"{name} in body is a list of objects, as in {name}: [{{name: one}}]")
    yield from value


def _validated(call: Call, collection: str, body: Any) -> Any:
    """Raises ApiError for a member that the API does not have: it would silently not be declared."""
    if not isinstance(body, dict):
        raise ApiError(422, f"{collection} in body holds objects, not {str(body)[:64]!r}")
    resource = call.services.editor.resources[collection]
    try:
        unknown = partial(ignored.members, embedded=(), strict=True, headers=[])
        named, present = _named(call, resource, body), partial(_present, call, resource, body)
        return validated(named, _reference(resource), call.services.schemas, unknown=unknown, present=present)
    except ApiError as error:
        raise ApiError(422, f"{collection}, {str(body.get('name', ''))[:64]!r}: {error.message}") from None


def _present(call: Call, resource: Resource, body: Mapping[str, Any]) -> Any:
    editor, document = call.services.editor, call.services.engine.document
    try:
        return editor.get_object(document, resource, None, str(body.get(resource.key) or ""), full=True)
    except Missing:
        return None


def _named(call: Call, resource: Resource, body: dict[str, Any]) -> dict[str, Any]:
    """Returns the body with the names of its children set; raises ApiError where a child carries another name."""
    named = dict(body)
    for member, child in call.services.editor.resources.children(resource.name):
        rows = body.get(member)
        if child.kind != "named" or not isinstance(rows, dict):
            continue
        for name, row in rows.items():
            if isinstance(row, dict) and row.get(child.key, name) != name:
                raise ApiError(422, f"{member}.{name[:64]}: its {child.key} is {str(row[child.key])[:64]!r}; both have to be the same")
        named[member] = {name: {child.key: name, **row} if isinstance(row, dict) else row for name, row in rows.items()}
    return named
