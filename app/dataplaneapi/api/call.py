"""Define `Call`, the argument of a handler: a request whose parameters, `Accept` header and body are checked and converted.

`read_call`, `json_call` and `strict_call` are FastAPI dependencies that create a `Call`. The type of a handler's parameter selects one of
them. They check in the order of the Data Plane API, so that a request with several mistakes gets the same error.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Depends, Request

from dataplaneapi.api import bodies, ignored, parameters
from dataplaneapi.api.bodies import YAML_TYPE, check_accept, check_content_encoding, check_content_type, of_yaml
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.etags import is_well_formed
from dataplaneapi.api.exchange import Exchange, exchange_of
from dataplaneapi.api.normalize import ResolvedSchemas
from dataplaneapi.api.operations import IF_MATCH, PATCH, Operation
from dataplaneapi.api.parameter_values import PathValues, QueryValues
from dataplaneapi.api.place import parent_in_query, parent_name, place_of, present_value
from dataplaneapi.api.validation import check_outermost, validated, validated_patch
from dataplaneapi.auth.caller import CallAuthor
from haproxy_native.access.rights import Rights
from haproxy_native.commit.change import Reload
from haproxy_native.editing.resources import Resource
from haproxy_native.editing.secrets import LINES, refuse_masked, refuse_masked_text
from haproxy_native.storage.store import Store
from haproxy_native.text.document import Document
from haproxy_native.threads import LARGE, run_in_thread_if
from haproxy_native.transactions.staged import Staged

if TYPE_CHECKING:
    from dataplaneapi.api.services import Services

JSON = "application/json"
AnyStore = TypeVar("AnyStore", bound=Store)
View = Callable[[Any, bytes], Any]


@dataclass(slots=True)
class Incoming:
    """A request for one operation, before its parameters and body are checked."""

    services: "Services"
    exchange: Exchange
    # Whether unknown parameters and members are an error. None: the parameter `strict` of the query decides, or else the settings.
    strict: bool | None = None
    # In a batch, the configuration and stored files that the request reads or changes, as in `Call`.
    base: Document | None = None
    staged: Staged | None = None

    async def body(self, limit: int) -> bytes:
        """Wait for the whole body and return it. `limit` is the most bytes that the body may have; 0 means no limit.

        Raises ApiError and ShareExceeded.
        """
        exchange = self.exchange
        return await bodies.read(
            exchange.receive, exchange.raw_headers, limit, exchange.connection.endpoint.read_timeout, exchange.body_share
        )

    def header(self, name: bytes) -> str:
        """Return all values of a header, joined by commas."""
        return self.exchange.values_of(name)


async def arriving(request: Request) -> Incoming:
    """Return the request that FastAPI passes on. Each function that creates a `Call` depends on this function."""
    return Incoming(request.app.services, exchange_of(request.scope))


Arriving = Annotated[Incoming, Depends(arriving)]


@dataclass(frozen=True, slots=True)
class Call:
    """A request for an operation, with its parameters and body."""

    services: "Services"
    operation: Operation
    # The converted values of the parameters that were sent, by name.
    values: dict[str, Any]
    # All values of the query, as sent.
    sent_query: Mapping[str, list[str]]
    # The author of the change. A write option such as `confirm` may replace it (api/write_options.py).
    author: CallAuthor
    # A handler that streams, or takes longer than `dataplaneapi.server.protocol.ANSWER_SECONDS`, calls `exchange.answer_within(seconds)`.
    exchange: Exchange = field(repr=False)
    # The validated body as plain data; bytes if it is not JSON.
    body: Any = None
    # The JSON value of the body, as sent.
    sent: Any = None
    # Whether unknown parameters and members are an error.
    strict: bool = False
    # `view(answer, media_type)` removes from a JSON value or a text what the caller may not see.
    view: View = field(default=lambda answer, kind: answer, repr=False)
    # In a batch, the configuration and stored files after the preceding calls. None: those of the transaction, or the current ones.
    base: Document | None = field(default=None, repr=False)
    staged: Staged | None = None

    @property
    def transaction_id(self) -> str | None:
        """The id of the transaction that the call reads or edits, if it names one."""
        return self.values.get("transaction_id")

    @property
    def is_part(self) -> bool:
        """Whether the call is part of a transaction or a batch, which commits it together with other calls."""
        return self.staged is not None or bool(self.transaction_id)

    @property
    def reload(self) -> Reload:
        """The reload that the query requests: NONE for `skip_reload`, which takes precedence, NOW for `force_reload`, otherwise AUTO."""
        return Reload.NONE if self.query.skip_reload else Reload.NOW if self.query.force_reload else Reload.AUTO

    def within(self, store: AnyStore) -> AnyStore:
        """Return the store with the files that the transaction or batch of the call has staged. Raises NoTransaction."""
        if self.staged is not None:
            return store.with_staged(self.staged, self.author)
        if not self.transaction_id:
            return store
        return store.within(self.services.engine.context.transactions, self.transaction_id, self.author)

    @property
    def document(self) -> Document:
        """The configuration that the call reads or changes. Raises NoTransaction."""
        return self.services.engine.read(self.transaction_id) if self.base is None else self.base

    @property
    def path(self) -> PathValues:
        """The parameters of the path, as typed attributes."""
        return PathValues(self.values)

    @property
    def query(self) -> QueryValues:
        """The parameters of the query, as typed attributes."""
        return QueryValues(self.values)


async def read_call(incoming: Arriving) -> Call:
    """Check parameters, `Accept` and conditional headers, and return the call without its body. Raises ApiError."""
    services, exchange = incoming.services, incoming.exchange
    operation, author = exchange.operation, exchange.author
    assert operation is not None
    assert author is not None
    parameters.check_number(exchange.query)
    query = parameters.query_values(exchange.query)
    strict = ignored.is_strict(query, services.settings.strict) if incoming.strict is None else incoming.strict
    if query:
        exchange.ignored += ignored.parameters(operation, query, strict=strict)
    values = parameters.convert(operation.parameters, exchange.path_values or {}, query, exchange.raw_headers)
    values |= parent_in_query(operation, exchange.query, services.editor)
    check_accept(incoming.header(b"accept"), operation.media_types)
    call = Call(
        services,
        operation,
        values,
        query,
        author,
        exchange,
        strict=strict,
        base=incoming.base,
        staged=incoming.staged,
    )
    parameters.check(operation.parameters, values, partial(_names_parent, call))
    _check_conditions(operation, values, exchange.raw_headers)
    return call


def _check_conditions(operation: Operation, values: Mapping[str, Any], headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse a write with a conditional header that the operation does not support. Raises ApiError (400)."""
    if operation.method == "GET":
        return
    sent = {name for name, _ in headers}
    if b"if-match" in sent and IF_MATCH not in values:
        raise ApiError(400, f"{IF_MATCH} in header is not supported by this operation")
    if IF_MATCH in values and not is_well_formed(values[IF_MATCH]):
        raise ApiError(400, f'{IF_MATCH} in header must be * or a list of ETags with their quotes, such as "0123abcd"')
    if b"if-none-match" in sent:
        raise ApiError(
            400, f"If-None-Match in header is supported by GET only: a POST never replaces an object; for other writes send {IF_MATCH}"
        )


async def json_call(incoming: Arriving) -> Call:
    """Return a call with its validated body. If the operation declares no body, the call has none. Raises ApiError."""
    call, services = await read_call(incoming), incoming.services
    declared = call.operation.body
    if declared is None:
        _check_force(call)
        return call
    data = await incoming.body(_largest_body(call))
    if not data:
        if declared.required:
            raise ApiError(400, "value is required but missing")
        _check_force(call)
        return call
    check_content_encoding(incoming.header(b"content-encoding"))
    check_content_type(incoming.header(b"content-type"), declared.media_types, patch=call.operation.action == PATCH)
    if JSON not in declared.media_types:
        if declared.schema.get("x-secret") == LINES:
            refuse_masked_text(data)
        return replace(call, body=data)
    large = len(data) > LARGE
    sent = await run_in_thread_if(large, bodies.decode, data)
    if b"masked" in data and not (call.operation.asks or call.operation.calls):
        refuse_masked(sent, declared.schema)
    value: Any = [sent] if isinstance(sent, dict) and declared.takes_one else sent
    check_outermost(value, declared.schema, services.schemas)
    _check_force(call)
    _check_parent(call)
    unwritable = call.operation.unwritable
    unknown = partial(ignored.members, embedded=_embedded(call), strict=call.strict, headers=call.exchange.ignored)

    def replaced() -> Any:
        is_put = call.operation.method == "PUT"
        return present_value(call.operation, call.values, services, call.base) if is_put else None

    validate_whole = partial(validated, present=replaced, optional=partial(_is_optional, call))
    validate_body = validated_patch if call.operation.action == PATCH else validate_whole
    body = await run_in_thread_if(large, validate_body, value, declared.schema, services.schemas, unwritable=unwritable, unknown=unknown)
    return replace(call, body=body, sent=sent)


def _is_optional(call: Call, path: tuple[Any, ...]) -> bool:
    """Return whether the member at a path in the body may be missing although its schema requires the member (`Resource.optional`)."""
    resources, operation = call.services.editor.resources, call.operation
    resource = resources.by_name.get(operation.resource or "")
    if resource is None or not path:
        return False
    if operation.parent:
        return operation.parent in resource.optional.get(str(path[-1]), ())
    children = dict(resources.children(resource.name))
    return path[0] in children and resource.name in children[path[0]].optional.get(str(path[-1]), ())


def _embedded(call: Call) -> list[str]:
    """Return the members of a section that contain its children, if the call reads the section without them, or else an empty list."""
    resources, name = call.services.editor.resources, call.operation.resource or ""
    if name not in resources.by_name or call.operation.parent or call.query.full_section:
        return []
    return [member for member, _ in resources.children(name)]


def _largest_body(call: Call) -> int:
    """Return the size limit of the body in bytes, or 0 for no limit."""
    setting, declared = call.services.settings.max_body_size, call.operation.body
    if setting is not None or declared is None:
        return setting or 0
    whole = JSON not in declared.media_types or call.services.schemas.kind(declared.schema) == "array" or call.query.full_section
    return bodies.WHOLE_BYTES if whole else bodies.OBJECT_BYTES


def _check_force(call: Call) -> None:
    if call.query.force_reload and call.query.transaction_id:
        raise ApiError(400, "Both force_reload and transaction specified, specify only one")


def _check_parent(call: Call) -> None:
    """Raise an error for a call whose parent is missing, if the resource declares that this is checked first (`existence_first`)."""
    operation, editor = call.operation, call.services.editor
    resource = editor.resources.by_name.get(operation.resource or "")
    if operation.action == "create" and resource and "create" in resource.existence_first and (parent := _parent(call)):
        editor.check_parent(call.document, resource, parent)


def _names_parent(call: Call, parameter: parameters.Parameter) -> bool:
    """Return whether a path parameter names an existing section.

    HAProxy has loaded such a section, so its name does not have to match the pattern for new names.
    """
    names = call.operation.names
    if parameter.location != "path" or names[:1] != (parameter.name,) or not (parent := _parent(call)):
        return False
    return call.services.editor.section(call.document, *parent) is not None


def _parent(call: Call) -> tuple[Resource, str] | None:
    """Return the section that contains the object of the call. Return None for a top-level object, or if the caller may not read the
    section.
    """
    if call.operation.parent is None:
        return None
    place, rights = place_of(call.operation, call.values, call.services.editor, one=False), call.author.rights
    return None if isinstance(rights, Rights) and not rights.reaches(parent_name(place)) else place.parent


async def strict_call(incoming: Arriving) -> Call:
    """Return a call with a JSON or YAML body, in which unknown members are an error. Raises ApiError.

    The body is None if the client sent none. Use this for operations where an ignored misspelling would go unnoticed.
    """
    call = await read_call(incoming)
    declared, limit = call.operation.body, call.services.settings.max_body_size
    assert declared is not None
    data = await incoming.body(bodies.WHOLE_BYTES if limit is None else limit)
    if not data:
        if declared.required:
            raise ApiError(400, "value is required but missing")
        return call
    kind = incoming.header(b"content-type")
    check_content_encoding(incoming.header(b"content-encoding"))
    check_content_type(kind, declared.media_types)
    is_yaml = kind.partition(";")[0].strip().lower() == YAML_TYPE
    body = await run_in_thread_if(len(data) > LARGE, decoded_strictly, data, declared.schema, call.services.schemas, is_yaml=is_yaml)
    return replace(call, body=body)


def decoded_strictly(data: bytes, schema: Mapping[str, Any], schemas: ResolvedSchemas, *, is_yaml: bool) -> Any:
    """Return the validated value of a body, in which unknown members are an error. Raises ApiError."""
    value = of_yaml(data) if is_yaml else bodies.decode(data)
    if b"masked" in data:
        refuse_masked(value, schema)
    check_outermost(value, schema, schemas)
    return validated(value, schema, schemas, unknown=partial(ignored.members, embedded=(), strict=True, headers=[]))


# The types of a handler's parameter: a call without a body, with a body of JSON or text, and with a body whose members must all be known.
# `api/upload.py` has the types for files and forms.
ReadCall = Annotated[Call, Depends(read_call)]
JsonCall = Annotated[Call, Depends(json_call)]
StrictCall = Annotated[Call, Depends(strict_call)]
