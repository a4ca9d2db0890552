"""Bodies of JSON or YAML whose members must all be known: one that is not would be left out, and nothing would show it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import Depends

from dataplaneapi.api import bodies, ignored
from dataplaneapi.api.bodies import YAML_TYPE, check_content_encoding, check_content_type, of_yaml
from dataplaneapi.api.call import Arriving, Call, read_call
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.normalize import ResolvedSchemas
from dataplaneapi.api.validation import check_outermost, validated
from haproxy_native.beside import LARGE, beside_if
from haproxy_native.editing.secrets import refuse_masked


async def strict_call(incoming: Arriving) -> Call:
    """A call with such a body, None where it has none and needs none. Raises ApiError."""
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
    body = await beside_if(len(data) > LARGE, strict, data, declared.schema, call.services.schemas, is_yaml=is_yaml)
    return replace(call, body=body)


def strict(data: bytes, schema: Mapping[str, Any], schemas: ResolvedSchemas, *, is_yaml: bool) -> Any:
    """The value. Raises ApiError."""
    value = of_yaml(data) if is_yaml else bodies.decode(data)
    if b"masked" in data:
        refuse_masked(value, schema)
    check_outermost(value, schema, schemas)
    return validated(value, schema, schemas, unknown=partial(ignored.members, embedded=(), strict=True, headers=[]))


# What a handler takes whose body is to be known in all its members.
StrictCall = Annotated[Call, Depends(strict_call)]
