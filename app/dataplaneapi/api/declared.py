"""Declarations as bodies: objects of the API in JSON or YAML, by their collections, or a part of a configuration."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Request

from dataplaneapi.api import bodies, ignored
from dataplaneapi.api.call import Call, header, read_call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.negotiation import check_content_encoding, check_content_type
from dataplaneapi.api.validation import validated
from dataplaneapi.did_you_mean import nearest
from dataplaneapi.server import connection
from haproxy_native.apply.fragment import collections, of_objects, of_text
from haproxy_native.apply.planner import Section
from haproxy_native.beside import beside
from haproxy_native.text.section import Section as TextSection

UNOWNED = "unowned"
YAML_TYPE, TEXT = "application/yaml", "text/plain"
# Values in one declaration; aliases of YAML count each time.
MOST = 2_000_000
_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class Declared:
    """`sections`: whole objects; `unowned`: members that the body leaves to others; `texts`: sections that were sent as text.

    `data` is the body, of the media type `kind`.
    """

    sections: Mapping[Section, dict[str, Any]]
    unowned: frozenset[str]
    texts: Mapping[Section, TextSection]
    kind: str
    data: bytes = field(repr=False)


async def declared_call(request: Request) -> Call:
    """A call whose body is Declared, None where it names a plan. Raises ApiError, and BadRequest for what cannot be owned."""
    call, headers = await read_call(request), request.scope["headers"]
    assert call.operation.body is not None
    limit = call.services.settings.max_body_size
    patience = connection.of(request.scope).endpoint.read_timeout
    data = await bodies.read(request.receive, headers, bodies.WHOLE_BYTES if limit is None else limit, patience)
    if call.get("plan") is not None:
        if data:
            raise ApiError(400, "plan in query stands for the body that it was made of; send one of the two")
        return call
    kind = header(headers, b"content-type")
    check_content_encoding(header(headers, b"content-encoding"))
    check_content_type(kind, call.operation.body.media_types)
    call.body = await beside(declared, call, data, kind.partition(";")[0].strip().lower())
    return call


DeclaredCall = Annotated[Call, Depends(declared_call)]


def declared(call: Call, data: bytes, kind: str) -> Declared:
    """Raises ApiError and BadRequest."""
    editor = call.services.editor
    if kind == TEXT:
        sections, texts = of_text(editor, data)
        return Declared(sections, frozenset(), texts, kind, data)
    value = _of_yaml(data) if kind == YAML_TYPE else bodies.decode(data)
    if not isinstance(value, dict):
        raise ApiError(422, "a declaration is an object of collections, as in {backends: [{name: shop}]}")
    unowned = value.pop(UNOWNED, [])
    if not isinstance(unowned, list) or not all(isinstance(each, str) for each in unowned):
        raise ApiError(422, f"{UNOWNED} in body is a list of members, as in [weight, maintenance]")
    known = collections(editor)
    for name in value:
        if name not in known:
            likely = nearest(str(name), known)
            hint = f'did you mean "{likely}"?' if likely else f"they are {', '.join(known)}"
            raise ApiError(422, f"{str(name)[:64]} in body is no collection; {hint}")
    objects = [(known[name], _validated(call, name, body)) for name in value for body in _bodies(known[name].kind, name, value[name])]
    return Declared(of_objects(editor, objects), frozenset(unowned), {}, kind, data)


def _bodies(kind: str, name: str, value: Any) -> Iterator[Any]:
    if kind == "singleton":
        yield value
        return
    if not isinstance(value, list):
        raise ApiError(422, f"{name} in body is a list of objects, as in {name}: [{{name: one}}]")
    yield from value


def _validated(call: Call, collection: str, body: Any) -> Any:
    """What no member of the API is, is an error here: it would silently not be declared."""
    if not isinstance(body, dict):
        raise ApiError(422, f"{collection} in body holds objects, not {str(body)[:64]!r}")
    schema = {"$ref": f"#/components/schemas/{call.services.editor.resources[collection].schema}"}
    try:
        return validated(body, schema, call.services.schemas, unknown=partial(ignored.members, embedded=(), strict=True, headers=[]))
    except ApiError as error:
        raise ApiError(422, f"{collection}, {str(body.get('name', ''))[:64]!r}: {error.message}") from None


def _of_yaml(data: bytes) -> Any:
    """YAML 1.2. Raises ApiError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        value = YAML(typ="safe", pure=True).load(data.decode())
    except (YAMLError, ValueError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        where = f"line {place.line + 1}: " if place else ""
        raise ApiError(400, f"the YAML cannot be read: {where}{getattr(error, 'problem', None) or error}") from None
    return _plain(value, [0], 0)


def _plain(value: Any, counted: list[int], depth: int) -> Any:
    """Raises ApiError for what JSON has no words for, and for aliases that would fill the memory."""
    counted[0] += 1
    if counted[0] > MOST or depth > bodies.DEEPEST:
        raise ApiError(422, f"the YAML has more than {MOST} values, or more than {bodies.DEEPEST} levels")
    if isinstance(value, dict):
        return {str(name): _plain(each, counted, depth + 1) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, counted, depth + 1) for each in value]
    if not isinstance(value, _PLAIN):
        raise ApiError(422, f"{str(value)[:64]!r} in body is a {type(value).__name__}; put it in quotes")
    return value
